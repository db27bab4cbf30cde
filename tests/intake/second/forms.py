"""Every kind of secret in everyday forms: in a sentence, quoted, in code, with a picture's caption."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.intake.second import blocks, tokens

FORMS_EACH = 14  # of the forms there are, for each kind that is one word
_SEED = "second hand: forms"
_NOUNS = {
    "key": ("Schlüssel", "klucz", "ключ", "clave"),
    "token": ("Token", "token", "токен", "token"),
    "authtoken": ("Token", "token", "токен", "token"),
    "JWT": ("Token", "token", "токен", "token"),
    "password": ("Passwort", "hasło", "пароль", "contraseña"),
    "passphrase": ("Passphrase", "hasło", "пароль", "contraseña"),
    "secret": ("Secret", "sekret", "секрет", "secreto"),
    "base": ("Schlüssel", "klucz", "ключ", "clave"),
}
_AROUND = (
    ("as it is", "{}"),
    ("after a sentence", "this is what is on the server now:\n\n{}"),
    ("fenced", "```\n{}\n```"),
    ("before a wish", "{}\n\nplease move this out of the repository and rotate it"),
    ("german", "schau mal, so steht es gerade drin 🙈\n{}"),
    ("in a goal", "/new infra clean this up:\n{}"),
)


class Planted(NamedTuple):
    """One message with something in it that must be found."""

    kind: str
    form: str
    text: str
    secrets: tuple[str, ...]

    def left(self, cleaned: str) -> str:
        """Return a piece of a secret that is still in the text, or an empty text."""
        for secret in self.secrets:
            width = min(10, len(secret))
            for i in range(len(secret) - width + 1):
                if (piece := secret[i : i + width]) in cleaned:
                    return piece
        return ""


def _forms() -> list[tuple[str, bool, str]]:
    parts = (Path(__file__).parent / "forms.txt").read_text(encoding="utf-8").split("\n=== ")[1:]
    forms = []
    for part in parts:
        head, _, text = part.partition("\n")
        name, _, needs = head.rpartition(" ")
        forms.append((name, needs == "shape", text.rstrip("\n")))
    return forms


def _write(token: tokens.Token, value: str, form: str) -> str:
    german, polish, russian, spanish = _NOUNS[token.what.split()[-1]]
    for mark, text in (
        ("@name@", token.name),
        ("@env@", token.env),
        ("@json@", token.env.lower()),
        ("@brand@", token.brand),
        ("@de@", german),
        ("@pl@", polish),
        ("@ru@", russian),
        ("@es@", spanish),
        ("@v@", value),
    ):
        form = form.replace(mark, text)
    return form


def _of_tokens() -> Iterator[Planted]:
    forms = _forms()
    for token in tokens.ALL:
        rng = Random(f"{_SEED}/{token.name}/{token.env}")
        fitting = [form for form in forms if token.own_shape or not form[1]]
        for name, _, form in rng.sample(fitting, FORMS_EACH):
            value = token.value(rng)
            yield Planted(token.name, name, _write(token, value, form), (value,))


def _of_blocks() -> Iterator[Planted]:
    for name, make in blocks.ALL.items():
        rng = Random(f"{_SEED}/{name}")
        for around, form in _AROUND:
            block = make(rng)
            yield Planted(name, around, form.replace("{}", block.text), block.secrets)
        block = make(rng)
        quoted = "\n".join(f"> {line}" for line in block.text.split("\n"))
        yield Planted(name, "quoted", f"{quoted}\n\nis that still right?", block.secrets)


def planted() -> list[Planted]:
    """Return every kind in its forms, the same ones every time."""
    return [*_of_tokens(), *_of_blocks()]
