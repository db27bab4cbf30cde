"""Words about files: what could not be taken of what the owner sent, and what is there to be had.

Part of bot/text.py's wording. Neighbours: sent.py and file_back.py.
"""

from typing import Any

from bot.entities import one_line
from bot.text_said import document
from bot.text_sheet import Words
from engine.rules.unseen import in_quotes
from engine.views import Document, FoundFile

UNREAD = {
    "voice": "I cannot hear voice messages. Write it, please.",
    "video_note": "I cannot watch videos. Send a screenshot, or the video as a file.",
    "video": "I cannot watch videos. Send a screenshot, or the video as a file.",
    "audio": "I cannot hear audio. Write what matters, or send it as a file for the agent.",
    "sticker": "A sticker says nothing to an agent. Write what you mean.",
    "dice": "A dice says nothing to an agent. Write what you mean.",
    "location": "I cannot pass a location on. Write the address.",
    "venue": "I cannot pass a place on. Write its address.",
    "contact": "I cannot pass a contact on. Write what of it matters.",
    "poll": "I cannot pass a poll on. Write what you want decided.",
    "story": "I cannot pass a story on. Send a screenshot.",
    "game": "I cannot pass a game on.",
    "paid_media": "I cannot pass paid media on. Send the picture itself.",
    "checklist": "I cannot pass a checklist on. Write its lines as text.",
}


NOT_NEEDED = "What you sent along with that went nowhere: a command takes no file."


def unread(body: dict[str, Any]) -> list[str]:
    """Return what is said of a message that carries something no agent can be given."""
    found = next((kind for kind in UNREAD if body.get(kind)), "")
    return [UNREAD[found]] if found else []


def too_large(name: str, size: int) -> str:
    """Say that Telegram does not let a bot have so large a file."""
    about = f"{name} has {megabytes(size)}" if size else f"{name} is too large"
    return (
        f"{about}; Telegram gives a bot 20 MB at most. Send a smaller one, or put it where the box can "
        "reach it and name the place."
    )


def not_fetched(name: str, why: str) -> str:
    return f"{name} could not be fetched ({why}). Send it again."


def not_taken(sentences: tuple[str, ...], *, rest: bool) -> str:
    """Say what was left out, and what became of the rest of the message."""
    if not sentences:
        return ""
    return "\n".join([*sentences, "The rest went on." if rest else "Nothing was passed on."])


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{max(size, 1) / 1000:.1f} kB"


# ---------------------------------------------------------------- a file back

WHICH_GOAL = "Whose file? Send /file PATH in a session's topic, or as a reply to its card. Nothing was started."


def not_sent(name: str, why: str) -> str:
    return f"{one_line(name, 80)} could not be sent: {one_line(why, 120)}. Ask for it again."


def not_there(asked: str, found: FoundFile) -> str:
    """Say that there is no such file, and what was perhaps meant; nobody else was asked."""
    said = f"There is no {one_line(asked, 120)} in {found.where}."
    if not found.near:
        return f"{said} /file alone lists what is at its top."
    near = "\n".join(f"• {in_quotes(path, 200)}" for path in found.near)
    line = in_quotes(f"send {found.near[0]}", 200)
    return f"{said} Near it:\n{near}\nSay, for one of them: {line}"


def folder(found: FoundFile) -> list[Words]:
    """Return a folder's lines as a block, or as a file where they are too many."""
    name = f"{found.path}/" if found.path else "Its top folder"
    lines = "\n".join(found.folder) or "(nothing in it)"
    return document(Document(name="folder.txt", text=lines, caption=f"{name} · {found.where}"))
