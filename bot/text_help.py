"""What can be said to the bot, and what it asks for a reply to.

Pure wording, as text.py's. Neighbour: commands.py, which does it.
"""

from __future__ import annotations

NOT_THERE = "That is not there any more. Look at it again."
ANSWER_NONE = "Nobody hears a reply to this. Tap a button there, or write without replying."
NO_COMMAND = "That is no command; /help lists them. Nothing was started."
LOCKED = "Locked. Unlock at the box: quarterdeck unlock"
ONLY_THERE = "Only the box unlocks: run quarterdeck unlock there."
AGAIN = "Reply to this message with another, or leave it."
AGAIN_FIELD = "Type it again"
KEY_IN_TOPIC = (
    "The name you gave this topic holds a key. I kept nothing of it; in the chat it still stands: "
    "rename the topic, and replace the key."
)
PROMPTS = {
    "correct": ("What should be different? Reply to this message.", "It goes to the lead"),
    "another": (
        "Which command checks it? Reply to this message.",
        "As you would type it in its folder",
    ),
    "answer": ("Your answer? Reply to this message.", "It goes to who asked"),
    "send_back": ("What should it do otherwise? Reply to this message.", "It goes to the worker"),
    "new": ("What is the goal? Reply to this message.", "A lead plans it first"),
}
HELP = """\
Give a goal: /new, or just write it here. A lead plans it and waits for your Start.

/status  what waits on you, runs, comes next
/asks  only what waits on you
/file  a file of this session: /file docs/plan.md
/projects  list; /projects add NAME PATH_OR_URL
/projects ports NAME 5432  which of its machine's ports a project's runs reach
/machines  list; /machines add NAME USER@HOST
/accounts  list; /accounts add NAME claude, then Log in on its card
/keys  what the vault keeps: add one by name, where it may be used, rename, forget
/stop  in a session, or which one is asked; /stop all
/resume  likewise; /resume all
/settings  yours; in a session: its mode, model, machines; or /settings PROJECT,
  where what you trust of it is taken back too
/settings, Owners  who commands beside you, and in which groups you are heard
/settings reserve 20  what of an account no new worker may use, in per cent
/settings backup MACHINE  where each night's backup goes too
/settings rules  what Always allows: take it back
/health  is all well?
/lock  nothing is decided until you unlock at the box

Reply to a card or write in its topic to speak to that session; photos and documents sent along reach \
its agent. It hears you after its turn, or at once with Now on its card. Interrupt ends a turn, Stop all \
of it until Resume. A key you paste is sealed and \
deleted from the chat before any agent sees it; a command that needs one is shown to you first."""
COMMANDS = (
    ("new", "Give a goal: /new [project] [goal]"),
    ("status", "What waits on you, what runs"),
    ("asks", "Only what waits on you"),
    ("projects", "List projects, or add one"),
    ("file", "A file of this session: /file docs/plan.md"),
    ("machines", "Computers agents run on, or add one"),
    ("accounts", "Who pays for agents, or add one"),
    ("keys", "What the vault keeps; add, rename or forget one"),
    ("stop", "Stop this session, or: /stop all"),
    ("resume", "Go on with it, or: /resume all"),
    ("settings", "Yours; in a session: its own; or of a project"),
    ("health", "Is all well?"),
    ("lock", "Decide nothing until unlocked at the box"),
    ("help", "What can be said here"),
)
