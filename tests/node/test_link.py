"""Messages over byte streams: frames, parts taking turns, and what is no message at all."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.node.link import MAX_FRAME, MAX_MESSAGE, Channel, Garbled, Joiner, frames

texts = st.text(st.characters(exclude_categories=()), max_size=200)  # half characters too


def joined(data: bytes, step: int) -> list[dict[str, Any]]:
    joiner = Joiner()
    return [
        message
        for start in range(0, len(data), step)
        for message in joiner.feed(data[start : start + step])
    ]


@given(st.lists(texts, max_size=5), st.integers(1, 300))
def test_what_is_sent_arrives_however_it_is_cut(words: list[str], step: int) -> None:
    messages = [{"id": number, "op": word} for number, word in enumerate(words)]
    data = b"".join(frame for n, m in enumerate(messages) for frame in frames(m, n))
    assert joined(data, step) == messages


@pytest.mark.parametrize("text", ["x", '"\\', "é", "😀", "\udc80", "\n\0"])
def test_no_frame_is_longer_than_agreed_whatever_it_holds(text: str) -> None:
    message = {"id": 1, "ok": {"text": text * 300_000}}
    made = list(frames(message, 1))
    assert max(map(len, made)) <= MAX_FRAME
    assert all(frame.count(b"\n") == 1 and isinstance(json.loads(frame), dict) for frame in made)
    assert joined(b"".join(made), 100_000) == [message]


def test_parts_of_two_messages_may_take_turns() -> None:
    one, two = ({"id": n, "ok": str(n) * 100_000} for n in (1, 2))
    turns = zip(frames(one, 1), frames(two, 2), strict=True)
    assert joined(b"".join(a + b for a, b in turns), 5_000) == [one, two]


def test_a_message_too_long_is_refused_before_any_of_it_is_sent() -> None:
    with pytest.raises(ValueError, match="longer than"):
        next(frames({"ok": "x" * MAX_MESSAGE}, 1))


@pytest.mark.parametrize(
    "junk",
    [
        b"not json\n",
        b"[1]\n",
        b"\xff\xfe\n",
        b"\0\0\0\n",
        b"x" * (MAX_FRAME + 1),
        b'{"part": "a", "text": "b"}\n',
        b'{"part": 1, "text": 2}\n',
        b'{"part": 1, "last": true, "text": "no json"}\n',
    ],
)
def test_what_is_no_message_is_called_so(junk: bytes) -> None:
    with pytest.raises(Garbled):
        list(Joiner().feed(junk))


def test_parts_without_end_are_not_hoarded() -> None:
    parts = (b'{"part": %d, "last": false, "text": "x"}\n' % number for number in range(1000))
    with pytest.raises(Garbled):
        list(Joiner().feed(b"".join(parts)))


class Pipe:
    """The writing end of a link whose other end is a StreamReader here."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()

    def write(self, data: bytes, /) -> None:
        self.reader.feed_data(data)

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        self.reader.feed_eof()


async def test_a_small_message_overtakes_a_large_one() -> None:
    pipe = Pipe()
    sender = Channel(asyncio.StreamReader(), pipe)
    receiver = Channel(pipe.reader, Pipe())
    large = asyncio.create_task(sender.send({"id": 1, "ok": "x" * 3_000_000}))
    await asyncio.sleep(0)
    await sender.send({"id": 2, "ok": "small"})
    assert not large.done()
    await large
    sender.close()
    order: list[int] = []
    while (messages := await receiver.receive()) is not None:
        order += [message["id"] for message in messages]
    assert order == [2, 1]


async def test_whoever_sends_on_a_closed_link_is_told() -> None:
    channel = Channel(asyncio.StreamReader(), Pipe())
    sending = asyncio.create_task(channel.send({"id": 1, "ok": "x" * 3_000_000}))
    await asyncio.sleep(0)
    channel.close("gone for lunch")
    with pytest.raises(ConnectionError, match="gone for lunch"):
        await sending
    with pytest.raises(ConnectionError, match="gone for lunch"):
        await channel.send({"id": 2})
