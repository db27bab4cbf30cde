"""What agents write where our words could stand."""

import pytest

from bot import text
from bot.lookalikes import quoted
from engine.rules.words import Question
from engine.views import QuestionCard

OURS = tuple(text.LABELS.values())


@pytest.mark.parametrize(
    "option",
    [
        "Push",
        "push",
        "✓ Push",
        "PUSH…",
        "\u0420\u03c5\u0455\u04bb",
        "Al\u200blow",
        "\uff21\uff4c\uff4c\uff4f\uff57",
        "Not this",
        "\u0410lways",
        "…",
        "✓",
    ],
)
def test_an_option_that_reads_like_a_button_of_ours_is_quoted(option: str) -> None:
    assert quoted(option, OURS) == f"“{option}”"


@pytest.mark.parametrize(
    "option", ["Euro", "Push it later", "\u0414\u0430", "\u6771\u4eac", "3.12"]
)
def test_any_other_option_stands_as_it_is(option: str) -> None:
    assert quoted(option, OURS) == option


def test_a_question_s_buttons_tell_an_agent_s_words_from_ours() -> None:
    questions = (Question("What now?", options=("Push", "Wait")),)
    card = QuestionCard(
        id="a-1",
        who="The lead",
        questions=questions,
        asks=True,
        buttons=("option-0", "option-1", "answer"),
    )
    labels = [button.label for row in text.card(card).buttons for button in row]
    assert labels == ["“Push”", "Wait", "Answer…"]
