"""What the phone page shows and does, in a real browser against the emulator alone."""

import struct
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from bot.emulator import Emulator, Message
from tests.bot.emulator.conftest import OWNER, TOKEN, Raw, buttons
from tests.browser.chromium import Browser
from tests.browser.screen import Screen, screen

ROCKET = "\N{ROCKET}"


@pytest.fixture
async def emulator() -> AsyncIterator[Emulator]:
    """An emulator with topics and on real time, as in the demo."""
    async with Emulator(token=TOKEN, owner_id=OWNER, threaded=True, flood=False) as running:
        yield running


@pytest.fixture
async def bot(emulator: Emulator) -> AsyncIterator[Raw]:
    async with httpx.AsyncClient(timeout=10) as client:
        yield Raw(client, emulator.url)


@pytest.fixture
async def page(phone: Screen, emulator: Emulator) -> Screen:
    await phone.open(emulator.page_url)
    return phone


async def say(bot: Raw, text: str, **more: Any) -> int:
    """Let the bot send a text; return the message's id."""
    sent = await bot.call("sendMessage", chat_id=OWNER, text=text, **more)
    return int(sent["message_id"])


async def topic(bot: Raw, name: str) -> int:
    made = await bot.call("createForumTopic", chat_id=OWNER, name=name)
    return int(made["message_thread_id"])


async def heard(emulator: Emulator) -> Message:
    """Return the owner's newest message, once there is one."""
    said = await emulator.phone.until(
        lambda: [m for m in emulator.phone.messages() if not m.from_bot]
    )
    return said[-1]


def shows(selector: str, words: str) -> str:
    """Return a look for an element that shows these words."""
    return f"""[...document.querySelectorAll({selector!r})]
        .some((one) => one.checkVisibility() && one.innerText.includes({words!r}))"""


def png(width: int, height: int) -> bytes:
    """Return a whole picture in one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = zlib.compress((b"\0" + b"\x2f\x6f\x8f" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


# ---------------------------------------------------------------- texts


async def test_formatting_stands_where_its_utf16_offsets_say(page: Screen, bot: Raw) -> None:
    """BR-04"""
    text = f"{ROCKET} bold {ROCKET} code both"
    entities = [
        {"type": "bold", "offset": 3, "length": 4},
        {"type": "code", "offset": 11, "length": 4},
        {"type": "italic", "offset": 16, "length": 4},
        {"type": "underline", "offset": 18, "length": 2},
    ]
    number = await say(bot, text, entities=entities)
    await page.until(f"document.querySelector('#m-{number}') && [1]")
    for tag, words in (("strong", "bold"), ("code", "code"), ("u", "th")):
        assert await page.text(f"#m-{number} {tag}") == words
    italics = f"[...document.querySelectorAll('#m-{number} em')].map((one) => one.innerText)"
    assert "".join(await page.look(italics)) == "both"
    assert await page.text(f"#m-{number} .text") == text


async def test_what_was_written_is_never_taken_for_markup(page: Screen, bot: Raw) -> None:
    """BR-124"""
    evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    number = await say(
        bot, evil, entities=[{"type": "blockquote", "offset": 0, "length": len(evil)}]
    )
    other = await bot.call("createForumTopic", chat_id=OWNER, name="<b>evil</b>")
    await page.until(shows(".tab", "<b>evil</b>"))
    assert await page.text(f"#m-{number} blockquote") == evil
    assert await page.look(f"document.querySelectorAll('#m-{number} :is(img, script)').length") == 0
    assert other["name"] == "<b>evil</b>"


async def test_a_long_quote_is_folded_until_it_is_touched(page: Screen, bot: Raw) -> None:
    text = "a line of many\n" * 12 + "the end"
    quote = [{"type": "expandable_blockquote", "offset": 0, "length": len(text)}]
    number = await say(bot, text, entities=quote)
    height = f"document.querySelector('#m-{number} .quoted').clientHeight"
    await page.until(f"document.querySelector('#m-{number}') && [1]")
    folded = await page.look(height)
    await page.tap(f"#m-{number} .unfold", "Show all")
    await page.until(shows(".unfold", "Show less"))
    assert await page.look(height) > 3 * folded
    # An edit of the message leaves it as the reader had it.
    await bot.call(
        "editMessageText", chat_id=OWNER, message_id=number, text=f"{text}!", entities=quote
    )
    await page.until(shows(".meta", "edited"))
    assert await page.look(height) > 3 * folded


async def test_a_code_block_names_its_language_and_is_wrapped_so_that_all_of_it_shows(
    page: Screen, bot: Raw
) -> None:
    text = "+" + "x" * 200
    pre = {"type": "pre", "offset": 0, "length": len(text), "language": "diff"}
    number = await say(bot, text, entities=[pre])
    assert await page.text(f"#m-{number} figcaption") == "diff"
    assert await page.look(
        f"(({{scrollWidth, clientWidth}}) => scrollWidth <= clientWidth)"
        f"(document.querySelector('#m-{number} pre'))"
    )
    assert await page.look("document.documentElement.scrollWidth <= innerWidth")


async def test_no_address_is_opened(page: Screen, bot: Raw) -> None:
    await say(bot, "see https://example.com/x now")
    await page.tap(".link", "https://example.com/x")
    await page.until(shows("#toast", "opens no address: https://example.com/x"))
    assert await page.look("document.querySelectorAll('#messages a').length") == 0


# ---------------------------------------------------------------- buttons


async def test_a_tap_turns_until_the_bot_answers_it(
    page: Screen, bot: Raw, emulator: Emulator
) -> None:
    await say(bot, "A plan", reply_markup=buttons("Start", "Discard"))
    await page.tap(".key", "Start")
    await page.until("document.querySelector('.key[aria-busy]')?.innerText === 'Start' && [1]")
    (update,) = await bot.call("getUpdates", timeout=10)
    query = update["callback_query"]
    assert query["data"] == "c:1:1:start"
    await bot.call("answerCallbackQuery", callback_query_id=query["id"], text="Started")
    await page.until(shows("#toast", "Started"))
    assert await page.look("document.querySelector('.key[aria-busy]')") is None


async def test_an_alert_waits_to_be_read(page: Screen, bot: Raw) -> None:
    await say(bot, "A plan", reply_markup=buttons("Start"))
    await page.tap(".key", "Start")
    (update,) = await bot.call("getUpdates", timeout=10)
    query = update["callback_query"]["id"]
    said = "The plan changed meanwhile."
    await bot.call("answerCallbackQuery", callback_query_id=query, text=said, show_alert=True)
    await page.until(shows("#alert", said))
    await page.tap("#alert button", "OK")
    await page.until("!document.querySelector('#alert').open")


async def test_a_copy_button_copies_and_tells_nobody(
    page: Screen, bot: Raw, browser: Browser
) -> None:
    await page.call("Page.bringToFront")
    key = {"text": "Branch", "copy_text": {"text": "quarterdeck/g-1"}}
    await say(bot, "Merge it", reply_markup={"inline_keyboard": [[key]]})
    await page.tap(".key", "Branch")
    await page.until(shows("#toast", "Copied"))
    assert await bot.call("getUpdates", timeout=0) == []


# ---------------------------------------------------------------- live


async def test_an_edit_takes_the_message_s_place_and_a_deleted_one_goes(
    page: Screen, bot: Raw
) -> None:
    first = await say(bot, "Working", reply_markup=buttons("Stop"))
    second = await say(bot, "Below")
    await page.until(f"document.querySelector('#m-{second}') && [1]")
    await bot.call("editMessageText", chat_id=OWNER, message_id=first, text="Done")
    await page.until(shows(f"#m-{first} .text", "Done"))
    assert await page.look(f"document.querySelector('#m-{first}').nextSibling.id") == f"m-{second}"
    assert await page.look(f"document.querySelectorAll('#m-{first} .key').length") == 0
    await bot.call("deleteMessage", chat_id=OWNER, message_id=first)
    await page.until(f"!document.querySelector('#m-{first}')")


async def test_typing_shows_until_the_words_come(page: Screen, bot: Raw) -> None:
    await bot.call("sendChatAction", chat_id=OWNER, action="typing")
    await page.until("document.querySelector('#typing') && [1]")
    assert await page.text("#status") == "typing"
    await say(bot, "Here they are")
    await page.until("!document.querySelector('#typing')")
    await page.until(shows(".text", "Here they are"))


async def test_what_sounds_is_marked_and_counted(page: Screen, bot: Raw) -> None:
    quiet = await say(bot, "progress", disable_notification=True)
    loud = await say(bot, "decide")
    await page.until(f"document.querySelector('#m-{loud} .bell') && [1]")
    assert await page.look(f"document.querySelector('#m-{quiet} .bell')") is None
    assert await page.text("#sounded") == "1"
    assert "1 sounded" in await page.text("#status")


async def test_a_new_message_redraws_no_other(page: Screen, bot: Raw, emulator: Emulator) -> None:
    for number in range(500):
        emulator.phone.send(f"message {number}")
    await page.until("document.querySelectorAll('#messages .own').length === 500")
    await page.look("document.querySelectorAll('#messages .own').forEach((one) => one.mine = 1)")
    await say(bot, "one more")
    await page.until(shows(".text", "one more"))
    kept = "[...document.querySelectorAll('#messages .own')].every((one) => one.mine)"
    assert await page.look(kept)
    at_end = "messages.scrollHeight - messages.scrollTop - messages.clientHeight < 2"
    assert await page.look(at_end)


async def test_a_reader_further_up_is_left_there(
    page: Screen, bot: Raw, emulator: Emulator
) -> None:
    for number in range(60):
        emulator.phone.send(f"message {number}")
    await page.until(shows(".text", "message 59"))
    await page.look("messages.scrollTop = 100")
    await page.until("!document.querySelector('#down').hidden")
    await say(bot, "below the edge")
    await page.until(shows("#down b", "1"))
    await page.until(shows("#banner", "below the edge"))
    assert await page.look("messages.scrollTop") == 100
    await page.tap("#down")
    await page.until("document.querySelector('#down').hidden")


async def test_it_finds_its_place_again_when_the_emulator_was_away(
    phone: Screen, bot: Raw, emulator: Emulator
) -> None:
    port = int(emulator.url.rpartition(":")[2])
    await phone.open(emulator.page_url)
    emulator.phone.send("before")
    await phone.until(shows(".text", "before"))
    secret = emulator.control_url.rpartition("/")[2]
    await emulator.stop()
    await phone.until(shows("#lost", "No answer"))
    again = Emulator(token=TOKEN, owner_id=OWNER, secret=secret)
    await again.start(port)
    try:
        again.phone.send("after")
        await phone.until(shows(".text", "after"))
        await phone.until("document.querySelector('#lost').hidden")
        assert not await phone.look(shows(".text", "before"))
    finally:
        await again.stop()
    phone.complaints.clear()  # that nobody answered for a while is the point here


# ---------------------------------------------------------------- topics


async def test_topics_count_what_is_unread_and_keep_apart(
    page: Screen, bot: Raw, emulator: Emulator
) -> None:
    cart = await topic(bot, "Cart")
    await say(bot, "in general", disable_notification=True)
    await say(bot, "in the cart", message_thread_id=cart)
    await page.until(shows(".tab b", "1"))
    await page.until(shows("#banner", "in the cart"))
    assert not await page.look(shows(".text", "in the cart"))
    await page.tap("#banner")
    await page.until(shows(".text", "in the cart"))
    assert await page.text("#title") == "Cart"
    assert await page.look("document.querySelectorAll('.tab b').length") == 0
    await page.write("for the cart")
    assert (await heard(emulator)).thread == cart
    await page.tap(".tab", "General")
    await page.until(shows(".text", "in general"))
    assert not await page.look(shows(".text", "for the cart"))


async def test_the_list_shows_every_topic_and_leads_into_it(page: Screen, bot: Raw) -> None:
    for name in ("Cart", "Orders"):
        thread = await topic(bot, name)
        await say(bot, f"about {name}", message_thread_id=thread, disable_notification=True)
    await page.until(shows("#elsewhere", "2"))
    await page.tap("#back")
    await page.until(shows("#topics button", "about Orders"))
    await page.tap("#topics button[data-where]:has(.topic b)")
    await page.until("document.body.dataset.screen === 'chat'")


async def test_a_topic_that_is_deleted_leads_back_to_general(
    page: Screen, bot: Raw, emulator: Emulator
) -> None:
    thread = await topic(bot, "Cart")
    await page.tap(".tab", "Cart")
    await page.until(shows("#title", "Cart"))
    emulator.phone.delete_topic(thread)
    await page.until(shows("#title", "General"))


# ---------------------------------------------------------------- speaking


async def test_a_question_opens_the_reply_field(page: Screen, bot: Raw, emulator: Emulator) -> None:
    prompt = {"force_reply": True, "input_field_placeholder": "It goes to the lead"}
    asked = await say(bot, "What should be different?", reply_markup=prompt)
    await page.until(shows("#about", "What should be different?"))
    assert await page.look("document.activeElement.placeholder") == "It goes to the lead"
    await page.type("Sort it by price")
    await page.tap("#send")
    said = await heard(emulator)
    assert (said.text, said.reply_to) == ("Sort it by price", asked)
    await page.until("document.querySelector('#about').hidden")
    await page.until(shows(".answered", "What should be different?"))


async def test_a_question_in_another_topic_waits_there(page: Screen, bot: Raw) -> None:
    thread = await topic(bot, "Cart")
    await page.tap("#words")
    await page.type("half a goal")
    await say(bot, "Your answer?", message_thread_id=thread, reply_markup={"force_reply": True})
    await page.until(shows("#banner", "Your answer?"))
    assert await page.look("document.querySelector('#about').hidden")
    await page.tap(".tab:last-child")
    await page.until(shows("#about", "Your answer?"))
    assert await page.look("document.querySelector('#words').value") == ""
    await page.tap(".tab", "General")
    await page.until("document.querySelector('#words').value === 'half a goal'")


async def test_a_slash_lists_the_bot_s_commands(page: Screen, bot: Raw, emulator: Emulator) -> None:
    commands = [
        {"command": "status", "description": "What waits on you"},
        {"command": "stop", "description": "Stop this session"},
        {"command": "help", "description": "What can be said"},
    ]
    await bot.call("setMyCommands", commands=commands)
    await page.tap("#words")
    await page.type("/st")
    await page.until("document.querySelectorAll('#commands li').length === 2")
    await page.key("ArrowDown")
    await page.key("Enter")
    assert (await heard(emulator)).text == "/stop"
    await page.type("/")
    await page.tap("#commands li:first-child")
    await emulator.phone.until(lambda: "/status" in emulator.phone.transcript())


async def test_a_command_in_a_text_can_be_touched(
    page: Screen, bot: Raw, emulator: Emulator
) -> None:
    await say(bot, "Try /status now")
    await page.tap(".link", "/status")
    assert (await heard(emulator)).text == "/status"


async def test_one_s_own_words_can_be_edited_and_deleted(
    page: Screen, bot: Raw, emulator: Emulator
) -> None:
    await page.write("a gaol")
    said = await heard(emulator)
    await page.tap(f"#m-{said.id} .text")
    await page.tap("#menu button", "Edit")
    await page.look("document.querySelector('#words').select()")
    await page.type("a goal")
    await page.tap("#send")
    await page.until(shows(f"#m-{said.id} .text", "a goal"))
    kinds = [next(k for k in u if k != "update_id") for u in await bot.call("getUpdates")]
    assert kinds == ["message", "edited_message"]
    await page.tap(f"#m-{said.id} .text")
    await page.tap("#menu button", "Delete")
    await page.until(f"!document.querySelector('#m-{said.id}')")


async def test_a_refused_message_stays_in_the_line(page: Screen, emulator: Emulator) -> None:
    thread = emulator.phone.create_topic("Cart")
    await page.tap(".tab", "Cart")
    await page.tap("#words")
    await page.type("words nobody shall lose")
    await page.look("""(() => {
        const real = fetch;
        window.fetch = () => { window.fetch = real; return Promise.reject(new TypeError()); };
    })()""")
    await page.tap("#send")
    await page.until(shows("#toast", "Not sent"))
    assert await page.look("document.querySelector('#words').value") == "words nobody shall lose"
    await page.tap("#send")
    assert (await heard(emulator)).thread == thread


async def test_keys_alone_are_enough(page: Screen, bot: Raw, emulator: Emulator) -> None:
    await say(bot, "A plan", reply_markup=buttons("Start"))
    await page.until("document.querySelector('.key') && [1]")
    await page.look("document.querySelector('#messages').focus()")
    for _ in range(4):
        await page.key("Tab")
        if await page.look("document.activeElement.innerText") == "Start":
            break
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert await page.look(outline) != "none"
    await page.key("Enter")
    (update,) = await bot.call("getUpdates", timeout=10)
    assert update["callback_query"]["data"] == "c:1:1:start"
    # The edit that follows must not throw the person out of the chat.
    await bot.call(
        "editMessageText",
        chat_id=OWNER,
        message_id=update["callback_query"]["message"]["message_id"],
        text="Started",
        reply_markup=buttons("Stop"),
    )
    await page.until("document.activeElement.innerText === 'Stop' && [1]")


# ---------------------------------------------------------------- files


async def test_a_document_opens_as_text_and_can_be_kept(page: Screen, bot: Raw) -> None:
    diff = b"--- a/x\n+++ b/x\n-<b>old</b>\n+new\n"
    await bot.client.post(
        f"{bot.url}/sendDocument",
        data={"chat_id": str(OWNER), "caption": "The whole diff"},
        files={"document": ("all.diff", diff)},
    )
    await page.tap(".document")
    await page.until(shows("#viewer-body .removed", "-<b>old</b>"))
    assert await page.look("document.querySelectorAll('#viewer-body b').length") == 0
    saved = "(({download, href}) => [download, href.includes('/phone/file/')])"
    assert await page.look(f"{saved}(document.querySelector('#viewer-save'))") == ["all.diff", True]
    await page.key("Escape")
    await page.until("!document.querySelector('#viewer').open")


async def test_what_is_no_text_is_not_shown_as_one(page: Screen, bot: Raw) -> None:
    await bot.client.post(
        f"{bot.url}/sendDocument",
        data={"chat_id": str(OWNER)},
        files={"document": ("x.bin", b"\xff\x00\xfe")},
    )
    await page.tap(".document")
    await page.until(shows("#viewer-body", "This is no text"))


async def test_a_picture_is_shown(page: Screen, bot: Raw) -> None:
    await bot.client.post(
        f"{bot.url}/sendPhoto",
        data={"chat_id": str(OWNER), "caption": "The page now"},
        files={"photo": ("page.png", png(64, 48))},
    )
    drawn = "(({complete, naturalWidth}) => complete && naturalWidth)"
    await page.until("document.querySelector('.photo img') && [1]")
    await page.look("document.querySelector('.photo img').decode()")
    assert await page.look(f"{drawn}(document.querySelector('.photo img'))") == 64
    await page.tap(".photo")
    await page.until("document.querySelector('#viewer-body img') && [1]")


async def test_a_file_can_be_sent(page: Screen, emulator: Emulator, tmp_path: Any) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("buy oats", encoding="utf-8")
    await page.tap("#words")
    await page.type("my notes")
    root = (await page.call("DOM.getDocument"))["root"]["nodeId"]
    chooser = await page.call("DOM.querySelector", nodeId=root, selector="#file")
    await page.call("DOM.setFileInputFiles", nodeId=chooser["nodeId"], files=[str(notes)])
    said = await heard(emulator)
    assert (said.kind, said.text) == ("document", "my notes")
    assert emulator.phone.file(said) == b"buy oats"
    shown = "[...document.querySelectorAll('.own .document b')].at(-1)?.innerText === 'notes.txt'"
    await page.until(shown)


async def test_a_picture_can_be_sent_as_an_answer_and_is_shown(
    page: Screen, emulator: Emulator, bot: Raw, tmp_path: Any
) -> None:
    sketch = tmp_path / "sketch.png"
    sketch.write_bytes(png(64, 48))
    await say(bot, "What should be different?", reply_markup={"force_reply": True})
    await page.until("!document.querySelector('#about').hidden")
    await page.tap("#words")
    await page.type("like this")
    root = (await page.call("DOM.getDocument"))["root"]["nodeId"]
    chooser = await page.call("DOM.querySelector", nodeId=root, selector="#file")
    await page.call("DOM.setFileInputFiles", nodeId=chooser["nodeId"], files=[str(sketch)])
    said = await heard(emulator)
    assert (said.kind, said.text, said.file and said.file.width) == ("photo", "like this", 64)
    assert said.reply_to == emulator.phone.from_bot()[-1].id
    assert emulator.phone.file(said) == png(64, 48)
    await page.until("document.querySelector('.own .photo img') && [1]")
    await page.look("document.querySelector('.own .photo img').decode()")


async def test_pictures_sent_together_are_an_album(
    page: Screen, emulator: Emulator, tmp_path: Any
) -> None:
    paths = []
    for width in (64, 65):
        (tmp_path / f"{width}.png").write_bytes(png(width, 48))
        paths.append(str(tmp_path / f"{width}.png"))
    await page.tap("#words")
    await page.type("these")
    root = (await page.call("DOM.getDocument"))["root"]["nodeId"]
    chooser = await page.call("DOM.querySelector", nodeId=root, selector="#file")
    await page.call("DOM.setFileInputFiles", nodeId=chooser["nodeId"], files=paths)
    await page.until("document.querySelectorAll('.own .photo img').length === 2")
    first, second = [m for m in emulator.phone.messages() if not m.from_bot]
    assert first.album == second.album != ""
    assert (first.text, second.text) == ("these", "")
    assert (first.kind, second.kind) == ("photo", "photo")


# ---------------------------------------------------------------- looks


@pytest.mark.parametrize(("dark", "width"), [(True, 390), (False, 390), (True, 1200)])
async def test_its_words_can_be_read(
    browser: Browser, emulator: Emulator, bot: Raw, dark: bool, width: int
) -> None:
    """Every kind of text stands out from what is behind it, by the measure of WCAG AA (4.5)."""
    thread = await topic(bot, "Cart")
    await say(bot, "plain /status and code", message_thread_id=thread, entities=[
        {"type": "code", "offset": 18, "length": 4},
    ], reply_markup=buttons("Go"))  # fmt: skip
    emulator.phone.send("mine", thread=thread)
    async with screen(browser, dark=dark, width=width) as page:
        await page.open(emulator.page_url)
        await page.tap(".tab:last-child" if width < 760 else "#topics li:first-child button")
        await page.until("document.querySelector('.key') && [1]")
        pale = await page.look(CONTRAST)
        assert pale == []
        assert page.complaints == []


CONTRAST = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const behind = (one) => {
    if (!one) return [255, 255, 255];
    const color = rgba(getComputedStyle(one).backgroundColor);
    return color[3] === 1 ? color.slice(0, 3) : over(color, behind(one.parentElement));
  };
  const light = (rgb) => rgb
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const pale = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !one.checkVisibility()) continue;
    const ground = behind(one);
    const [a, b] = [light(over(rgba(getComputedStyle(one).color), ground)), light(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)} ${one.tagName}.${one.className} ${one.innerText}`);
  }
  return pale;
})()"""
