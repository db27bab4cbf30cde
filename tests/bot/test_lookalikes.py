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
        "P\u057dsh",
        "Push\u01c3",
        "A\u04cfways",
        "Al\u217cow",
        "\u13e2ush",
        "\ua4d1\ua4f4\ua4e2\ua4e7",
        "\U0001d5e3\U0001d602\U0001d600\U0001d5f5",
        "Start\u02d0",
        "Push\u3164",
        "P u s h",
        "Pu$h",
        "Push1",
        "Push now",
        "Push it later",
        "Allow once",
        "Always, in every project",
        "Yes, allow always",
        "\u2705 Yes",
        "Yes \U0001f7e2",
        "Stop all of them",
        "…",
        "✓",
    ],
)
def test_an_option_that_reads_like_a_button_of_ours_is_quoted(option: str) -> None:
    assert quoted(option, OURS) == f"“{option}”"


@pytest.mark.parametrize(
    "option",
    [
        *("Euro", "\u0414\u0430", "\u041d\u0435\u0442", "\u6771\u4eac", "3.12", "2", "Postgres 16"),
        *("Nowhere", "Allowance", "Not now", "Keep it as it is", "\U0001f34e Apples"),
    ],
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
