"""What exists: people, chats, topics, messages, files. Data only; cloud.py changes it.

Messages are frozen and replaced when they change, so that a test may keep one and
compare. The whole world is one msgspec value, which is how it is saved and read back.
"""

from typing import Any

from msgspec import Struct, field

from bot.emulator.keyboards import Button, rows

GENERAL = 1  # the General topic's id, which must not be sent
SERVICE = "service"


# What people send and a bot of ours cannot read: content by its Bot API field.
OTHERS: dict[str, dict[str, Any]] = {
    "location": {"latitude": 52.52, "longitude": 13.405},
    "sticker": {
        "file_id": "S1",
        "file_unique_id": "uS1",
        "type": "regular",
        "width": 512,
        "height": 512,
        "is_animated": False,
        "is_video": False,
        "emoji": "👍",
    },
    "video": {
        "file_id": "V1",
        "file_unique_id": "uV1",
        "width": 640,
        "height": 360,
        "duration": 3,
        "mime_type": "video/mp4",
        "file_size": 1_000_000,
    },
    "voice": {
        "file_id": "O1",
        "file_unique_id": "uO1",
        "duration": 3,
        "mime_type": "audio/ogg",
        "file_size": 10_000,
    },
}


class User(Struct, frozen=True):
    """Somebody, or the bot."""

    id: int
    first_name: str
    username: str = ""
    is_bot: bool = False


class File(Struct, frozen=True):
    """What is said of a file Telegram keeps; `id` is its file_id."""

    id: str
    kind: str
    name: str
    mime: str
    size: int
    width: int = 0
    height: int = 0


class Stored(Struct, frozen=True):
    """A file with its bytes."""

    file: File
    data: bytes


class Message(Struct, frozen=True, kw_only=True):
    """One message as it stands now.

    text        the text, or the caption of a document or photo
    kind        "text", "document", "photo", "service", or a kind of OTHERS
    thread      message_thread_id; `in_topic` tells a topic from a reply thread
    markup      the keyboard as the bot sent it, of whatever sort
    service     what a service line says, by its Bot API field
    silent      it made no sound on the phone
    protected   the app will neither forward nor save it
    """

    id: int
    chat_id: int
    sender: int
    from_bot: bool
    date: int
    kind: str = "text"
    text: str = ""
    entities: list[dict[str, Any]] = field(default_factory=list)
    markup: dict[str, Any] | None = None
    thread: int | None = None
    in_topic: bool = False
    silent: bool = False
    protected: bool = False
    edited_at: int | None = None
    reply_to: int | None = None
    quote: str = ""
    file: File | None = None
    album: str = ""
    forwarded_from: str = ""
    anonymous: bool = False
    service: dict[str, Any] = field(default_factory=dict)
    preview: dict[str, Any] | None = None
    reactions: dict[int, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[list[Button]]:
        """Return the inline keyboard, row by row."""
        return rows(self.markup)

    @property
    def buttons(self) -> list[Button]:
        """Return the inline keyboard's buttons in one list."""
        return [button for row in self.rows for button in row]

    @property
    def labels(self) -> list[str]:
        """Return what stands on the buttons."""
        return [button.label for button in self.buttons]

    @property
    def edited(self) -> bool:
        """Return whether the phone shows it as edited."""
        return self.edited_at is not None

    @property
    def asks_for_reply(self) -> bool:
        """Return whether the reply field opened for it."""
        return bool((self.markup or {}).get("force_reply"))


class Topic(Struct):
    """A thread with a name; its id is the id of the line that says it was created."""

    id: int
    name: str
    icon_color: int = 0x6FB9F0
    icon: str = ""
    closed: bool = False
    by_bot: bool = True


class Chat(Struct):
    """A private chat, a basic group or a supergroup."""

    id: int
    kind: str
    title: str = ""
    forum: bool = False
    bot_status: str = "member"
    members: list[int] = field(default_factory=list)
    topics: dict[int, Topic] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    pinned: list[int] = field(default_factory=list)
    next_message: int = 2  # the first one says that the group was made
    migrated_to: int = 0

    @property
    def private(self) -> bool:
        return self.kind == "private"

    @property
    def bot_is_admin(self) -> bool:
        return self.bot_status == "administrator"


class CommandSet(Struct):
    """What setMyCommands left for one scope and language."""

    scope: dict[str, Any]
    language: str
    commands: list[dict[str, str]]


class Tap(Struct):
    """A button pressed, and the bot's answer to it once there is one; `update` brought it."""

    id: str
    user: int
    chat_id: int
    message_id: int
    data: str
    at: float
    answered: bool = False
    answer: str = ""
    alert: bool = False
    update: int = 0


class Waiting(Struct):
    """An update that waits to be fetched."""

    id: int
    kind: str
    body: dict[str, Any]
    until: float


class World(Struct):
    """Everything, as it is saved."""

    bot: User
    users: dict[int, User] = field(default_factory=dict)
    chats: dict[int, Chat] = field(default_factory=dict)
    files: dict[str, Stored] = field(default_factory=dict)
    links: dict[str, float] = field(default_factory=dict)
    commands: list[CommandSet] = field(default_factory=list)
    taps: dict[str, Tap] = field(default_factory=dict)
    updates: list[Waiting] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    next_update: int = 700_000_001
    # Private chats and basic groups count their messages together. Not from 1: a topic's id is
    # a message's, and 1 is General's.
    next_private: int = 11
    next_group: int = 1
    next_file: int = 1
    next_tap: int = 1
