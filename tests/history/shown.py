"""What the bot's file and the chat must show in the end: every card and line, once, with no live button.

What Telegram took and we did not live to note is looked for by the next start; only what nobody can look
for may be there once more (`Chat.copies`), and never with a button that decides anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot import buttons, text
from bot.cards import ASKS
from bot.delivery import keyboard
from bot.emulator import Message
from bot.taps import KEPT, NOTED
from engine import board
from engine.views import AnyCard, Note
from tests.history.scene import Chat, Expected, Scene, rows_of

NO_DECISION = ("", NOTED, KEPT)  # what a tap is told that may still come to nothing


def of_chat(scene: Scene, expected: Expected) -> Iterator[str]:
    if scene.bot_db is not None:
        yield from _file(scene.bot_db)
    if scene.chat is None:
        return
    yield from _said(scene.chat, expected)
    if scene.bot_db is None:
        return
    yield from _heard(scene.chat, scene.bot_db)
    yield from _copies(scene.chat, scene.bot_db)
    if scene.ledger is not None:
        yield from _cards(scene, scene.chat, scene.bot_db)
        yield from _notes(scene, scene.chat)
        yield from _taps(scene, scene.chat)


def _file(bot_db: Path) -> Iterator[str]:
    """Nothing waits in the bot's file to be said, done or looked for."""
    for (word,) in rows_of(bot_db, "PRAGMA integrity_check"):
        if word != "ok":
            yield f"the bot's file is damaged: {word}"
    for line, body in rows_of(bot_db, "SELECT id, body FROM outbox"):
        yield f"line {line} was never said: {bytes(body)[:200]!r}"
    for (update,) in rows_of(bot_db, "SELECT update_id FROM inbox"):
        yield f"update {update} was heard and never handled"
    for (name,) in rows_of(bot_db, "SELECT name FROM facts WHERE name LIKE 'sending %'"):
        yield f"nobody knows what became of it: {name}"


def _heard(chat: Chat, bot_db: Path) -> Iterator[str]:
    """All that the owner sent and pressed was handled."""
    handled = {update for (update,) in rows_of(bot_db, "SELECT update_id FROM handled")}
    yield from (f"update {one} was never heard" for one in chat.updates if one not in handled)


def _spoken(chat: Chat) -> list[Message]:
    return [said for said in chat.messages if said.from_bot and said.kind != "service"]


def _copies(chat: Chat, bot_db: Path) -> Iterator[str]:
    """Each message of ours is one that we know of, but for what was cut off."""
    known = {int(one) for (one,) in rows_of(bot_db, "SELECT message_id FROM messages")}
    unknown = [said for said in _spoken(chat) if said.id not in known]
    topics = {int(one) for (one,) in rows_of(bot_db, "SELECT thread FROM topics WHERE thread > 0")}
    strange = [topic for topic in chat.topics if topic.by_bot and topic.id not in topics]
    if len(asked := _asked_again(chat, bot_db)) > chat.copies:
        yield from (f"asked again: {_short(said)}" for said in asked)
    if len(unknown) + len(strange) > chat.unknown:
        yield from (f"nobody knows of message {_short(said)}" for said in unknown)
        yield from (f"nobody knows of topic {topic.id} “{topic.name}”" for topic in strange)
    for said in unknown:
        if verbs := _decide(said):
            yield f"message {_short(said)} is a copy that can be pressed: {verbs}"


def _asked_again(chat: Chat, bot_db: Path) -> list[Message]:
    """Return the prompts that stand there once more: either may be replied to."""
    rows = rows_of(bot_db, "SELECT message_id, card, prompt FROM messages WHERE prompt IS NOT NULL")
    prompts = {int(number): (card, bytes(prompt)) for number, card, prompt in rows}
    there = [said for said in _spoken(chat) if said.id in prompts]
    first = {prompts[said.id]: said.id for said in reversed(there)}
    return [said for said in there if said.id not in first.values()]


def _cards(scene: Scene, chat: Chat, bot_db: Path) -> Iterator[str]:
    """Each card stands in the chat as it is now, and no other message can be pressed."""
    shown = {
        card: (int(message), str(revision))
        for card, message, revision in rows_of(
            bot_db, "SELECT card, message_id, revision FROM cards"
        )
    }
    messages = {said.id: said for said in chat.messages}
    cards = {card.id: card for card in board.everything(scene.states, lambda _run: "")}
    for card in cards.values():
        if card.id in shown:
            yield from _stands(card, messages.get(shown[card.id][0]))
        elif not (card.decided and isinstance(card, ASKS)):  # settled before anybody saw it
            yield f"card {card.id} was never shown"
    alive = {number for name, (number, _) in shown.items() if name in cards}
    for said in _spoken(chat):
        if said.id not in alive and (verbs := _decide(said)):
            yield f"message {_short(said)} can be pressed, and is no card's: {verbs}"
    yield from _one_message_a_card(shown, messages, bot_db)


def _stands(card: AnyCard, said: Message | None) -> Iterator[str]:
    if said is None:
        yield f"card {card.id} is not in the chat any more"
        return
    words = text.card(card)
    lines = [line for line in words.rich.text.splitlines() if line.strip()]
    missing = [line for line in lines if line.strip() not in said.text]
    if missing:
        yield f"card {card.id} is not as it was shown last: {missing} is not in {_short(said)}"
    wanted = keyboard(words, card.id, card.revision)
    rows = wanted.inline_keyboard if wanted is not None else ()
    data = [str(button.callback_data) for row in rows for button in row]
    there = [button.value for button in said.buttons]
    if there != data:
        yield f"card {card.id} has the buttons {there}, not {data}"


def _one_message_a_card(
    shown: Mapping[str, tuple[int, str]], messages: Mapping[int, Message], bot_db: Path
) -> Iterator[str]:
    rows = rows_of(
        bot_db, "SELECT message_id, card FROM messages WHERE card != '' AND prompt IS NULL"
    )
    for number, card in rows:
        said = messages.get(int(number))
        if said is None or said.kind != "text" or card not in shown:
            continue
        if shown[card][0] != said.id:
            yield f"card {card} is in the chat twice: {_short(said)}"


def _notes(scene: Scene, chat: Chat) -> Iterator[str]:
    """Each line for the owner is in the chat, as often as it was noted."""
    corpus = [said.text for said in _spoken(chat)]
    columns = ("n", "goal", "kind", "text", "who")
    rows = scene.rows(f"SELECT {', '.join(columns)} FROM notes ORDER BY n")
    notes = [Note(**dict(zip(columns, row, strict=True))) for row in rows]
    wanted = Counter(
        paragraph
        for note in notes
        if not text.routine(note.text)
        for paragraph in _paragraphs(note)
    )
    for paragraph, times in wanted.items():
        found = sum(said.count(paragraph) for said in corpus)
        if found < times:
            yield f"a line was never said: {paragraph!r}"
        elif found > times + chat.unknown and len(paragraph) > LONG:
            yield f"a line was said {found} times, not {times}: {paragraph!r}"


LONG = 12  # what is shorter may well be a part of something else


def _paragraphs(note: Note) -> list[str]:
    """Return what is said of a note, without the speaker's name on top, which several may share."""
    parts = [line.strip() for words in text.note(note) for line in words.rich.text.splitlines()]
    kept = [part for part in parts if part]
    return kept[1:] if note.kind == "words" and len(kept) > 1 else kept


def _taps(scene: Scene, chat: Chat) -> Iterator[str]:
    """What a tap was told is done is in the ledger, once."""
    causes = Counter(cause.partition(".")[0] for cause in scene.told.causes)
    for tap in chat.taps:
        pressed = buttons.decode(tap.data)
        decides = pressed is not None and pressed.verb not in text.READING
        told = tap.answered and not tap.alert and tap.answer not in NO_DECISION
        if decides and told and not causes[f"telegram:{tap.update}"]:
            yield f"tap {tap.data} was told “{tap.answer}”, and nothing of it was stored"


def _said(chat: Chat, expected: Expected) -> Iterator[str]:
    """Each expected line stands in the chat once, but for copies."""
    there = Counter(said.text for said in _spoken(chat))
    left = chat.unknown
    for line in expected.said:
        if not there[line]:
            yield f"a line was never said: {line!r}"
        left -= max(0, there[line] - 1)
    if expected.said and left < 0:
        yield f"lines were said again: {[line for line in expected.said if there[line] > 1]}"


def _decide(said: Message) -> list[str]:
    """Return the buttons of a message that decide something."""
    pressed = [buttons.decode(button.value) for button in said.buttons]
    return [one.verb for one in pressed if one is not None and one.verb not in text.READING]


def _short(said: Message) -> str:
    words: Sequence[Any] = " ".join(said.text.split())
    return f"#{said.id} “{words[:80]}”"
