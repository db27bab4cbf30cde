"""Each kind in five surroundings, as people send them: chat in two languages, settings, code, a call.

forms.txt has them; a kind's own seed is its name, so that one more changes no other.
"""

from __future__ import annotations

from pathlib import Path

from tests.intake.second.forms import Planted
from tests.intake.third import blocks, tokens
from tests.intake.third.draw import Maker

HOSTS = (
    "api.example.com",
    "intern.example.net",
    "hooks.example.org",
    "10.0.4.17:8443",
    "build.example.com",
)


def _read() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    text = (Path(__file__).parent / "forms.txt").read_text(encoding="utf-8").rstrip("\n")
    for part in text.removeprefix("=== ").split("\n=== "):
        name, _, form = part.partition("\n")
        found.setdefault(name, []).append(form)
    return found


FORMS = _read()
_TONGUES = [name for name in FORMS if name.startswith("chat ") and name != "chat en"]


def _filled(form: str, m: Maker, value: str, token: tokens.Token) -> str:
    low = token.env.lower()
    first, *more = low.split("_")
    for mark, text in (
        ("@env@", token.env),
        ("@low@", low),
        ("@camel@", first + "".join(part.title() for part in more)),
        ("@whose@", token.whose),
        ("@host@", m.luck.choice(HOSTS)),
        ("@word@", "".join(c for c in token.whose.lower() if c.isalnum()) or "main"),
        ("@v@", value),
    ):
        form = form.replace(mark, text)
    return form


def _of_token(token: tokens.Token) -> list[Planted]:
    m = Maker(token.kind)
    names = ["chat en", m.luck.choice(_TONGUES), "settings", "code", "call or trace"]
    pick = m.luck.choice
    forms = [pick(FORMS["chat en"]), pick(FORMS[names[1]]), pick(FORMS["settings"])]
    forms += [pick(FORMS["code"]), pick([*FORMS["call"], *FORMS["trace"]])]
    if token.kind in tokens.KEPT:
        sample = m.luck.sample(FORMS["code"], 12)
        named = [form for form in sample if "@camel@" in form or "@env@" in form]
        forms[3:], names[4] = named[:2], "code"
    return [_planted(token, m, name, form) for name, form in zip(names, forms, strict=False)]


def _planted(token: tokens.Token, m: Maker, name: str, form: str) -> Planted:
    value = token.made(m)
    if value.startswith("https://"):  # the whole address is the secret: it stands in no header
        whole = [*FORMS["chat en"], *FORMS["chat de"], *FORMS["chat es"], *FORMS["settings"][:6]]
        name, form = "as an address", m.luck.choice(whole)
    secret = value.rpartition(" ")[2]  # Fly's begins with a word and a space
    return Planted(token.kind, name, _filled(form, m, value, token), (secret,))


def _of_password(kind: tokens.Password) -> list[Planted]:
    m = Maker(kind.token.kind)
    name = f"password {kind.form}"
    forms = m.luck.sample(FORMS[name][kind.first : kind.last], 5)
    return [_planted(kind.token, m, name, form) for form in forms]


def _of_block(kind: str, made: blocks.Own) -> list[Planted]:
    cases = made(Maker(kind))
    return [Planted(kind, f"way {n}", text, secrets) for n, (text, secrets) in enumerate(cases, 1)]


def planted() -> list[Planted]:
    """Return every kind in its forms, the same ones every time."""
    found = [one for token in tokens.ALL for one in _of_token(token)]
    found += [one for kind in tokens.PASSWORDS for one in _of_password(kind)]
    return found + [one for kind, made in blocks.OWN.items() for one in _of_block(kind, made)]
