"""Finds keys in what the owner pastes, so that none of them goes any further.

Only what is plainly a key: a provider's own prefix, a private key block, a password in an address, a
value assigned to a name that says so. inbox.py and messages.py take them out before anything else is
done with a text; each is sealed, and `{{NAME}}` stands in its place. Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

STEP = 32 * 1024  # characters of a long text looked through at a time
REACH = 16 * 1024  # and beyond: the longest key there is lies whole in one look

_KINDS = {
    "ANTHROPIC_API_KEY": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "OPENROUTER_API_KEY": r"sk-or-v1-[A-Za-z0-9]{20,}",
    "OPENAI_API_KEY": r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "GITHUB_TOKEN": r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}",
    "GITLAB_TOKEN": r"glpat-[A-Za-z0-9_.-]{20,}",
    "AWS_ACCESS_KEY_ID": r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    "GOOGLE_API_KEY": r"AIza[A-Za-z0-9_-]{35}",
    "GOOGLE_OAUTH_SECRET": r"GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}",
    "SLACK_TOKEN": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
    "STRIPE_API_KEY": r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "STRIPE_WEBHOOK_SECRET": r"whsec_[A-Za-z0-9+/=]{16,}",
    "TELEGRAM_BOT_TOKEN": r"[0-9]{6,12}:[A-Za-z0-9_-]{35}",
    "HF_TOKEN": r"hf_[A-Za-z0-9]{30,}",
    "NPM_TOKEN": r"npm_[A-Za-z0-9]{36,}",
    "PYPI_TOKEN": r"pypi-[A-Za-z0-9_-]{50,}",
    "DIGITALOCEAN_TOKEN": r"do[opr]_v1_[a-f0-9]{40,}",
    "SENDGRID_API_KEY": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "JWT": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
}
_PREFIXED = re.compile(
    "|".join(f"(?P<{name}>(?<![A-Za-z0-9])(?:{shape}))" for name, shape in _KINDS.items())
)
# Without its end, everything behind the beginning counts: the rest may be in the next message.
_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.S
)
_ASSIGNED = re.compile(
    r"\b(?P<name>[A-Za-z][A-Za-z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|key|token|secret|password))"
    r"[\"']?\s*[=:]\s*[\"'`]?(?P<value>[A-Za-z0-9+/_.~=!@#$%^&*-]{16,})"
)
_ADDRESS = re.compile(r"://[^/\s:@]*:(?P<value>[^/\s@]{6,})@")
_NAMED_BEFORE = re.compile(r"\b([A-Za-z][A-Za-z0-9_]{1,60})[\"']?\s*[=:]\s*[\"'`]?\Z")
# Names that say what a sentence is about, not what the key is for.
_NO_NAMES = frozenset({"key", "token", "secret", "password", "is", "here", "use", "this", "it"})


class Key(Struct, frozen=True):
    """One found: the name it would go by, and where it stands in the text."""

    name: str
    value: str
    start: int
    end: int


def find(text: str) -> list[Key]:
    """Return all keys in a text, in order, none overlapping another."""
    found = [Key("PRIVATE_KEY", m.group(), *m.span()) for m in _BLOCK.finditer(text)]
    found += [
        Key(_named(text, m.start()) or str(m.lastgroup), m.group(), *m.span())
        for m in _PREFIXED.finditer(text)
    ]
    found += [
        Key(_tidy(m["name"]), m["value"], *m.span("value"))
        for m in _ASSIGNED.finditer(text)
        if _random(m["value"])
    ]
    found += [Key("PASSWORD", m["value"], *m.span("value")) for m in _ADDRESS.finditer(text)]
    kept: list[Key] = []
    for key in sorted(found, key=lambda key: (key.start, -key.end)):
        if not kept or key.start >= kept[-1].end:
            kept.append(key)
    return kept


def by_parts(text: str) -> Iterator[list[Key]]:
    """Yield what `find` gives, part by part of a long text: each part takes some milliseconds.

    Each key belongs to the part it begins in; what is looked at reaches past that part's end.
    """
    if len(text) <= STEP + REACH:
        yield find(text)
        return
    done = 0
    for start in range(0, len(text), STEP):
        last = start + STEP + REACH >= len(text)
        found = find(text[start : start + STEP + REACH])
        kept = [
            Key(key.name, key.value, start + key.start, start + key.end)
            for key in found
            if start + key.start >= done and (last or key.start < STEP)
        ]
        done = max((key.end for key in kept), default=done)
        yield kept
        if last:
            return


def replaced(text: str, keys: Sequence[Key], name_of: Callable[[Key], str]) -> str:
    """Return the text with `{{NAME}}` in the place of each key."""
    parts, at = [], 0
    for key in keys:
        parts += [text[at : key.start], "{{", name_of(key), "}}"]
        at = key.end
    return "".join([*parts, text[at:]])


def masked(text: str) -> str:
    """Return a short text as it may be said and kept where nothing is to be stored of it."""
    return replaced(text, find(text), lambda key: key.name)


def only_keys(text: str) -> bool:
    """Return whether nothing but names and `{{NAME}}`s is left: then it says nothing to anybody."""
    rest = re.sub(
        r"(?:export\s+)?(?:[A-Za-z][A-Za-z0-9_]*[\"']?\s*[=:]\s*)?[\"'`]?\{\{\w+\}\}", "", text
    )
    return "{{" in text and not re.search(r"\w", rest)


def _named(text: str, start: int) -> str:
    before = _NAMED_BEFORE.search(text, max(0, start - 80), start)
    return _tidy(before[1]) if before and before[1].lower() not in _NO_NAMES else ""


def _tidy(name: str) -> str:
    return re.sub(r"[^A-Z0-9_]", "_", name.upper())[:60]


def _random(value: str) -> bool:
    """Return whether a value looks made by a machine: letters and digits mixed, few repeats."""
    mixed = re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value)
    return bool(mixed) and len(set(value)) >= 8
