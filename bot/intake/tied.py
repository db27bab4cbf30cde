"""Values tied to a word for keys: `STRIPE_KEY=…`, "the database's password is …", a name and a line with it.

    API_TOKEN=…   ENV API_TOKEN …   | API_TOKEN | … |   "apiToken": "…"      set
    API token: …   der Token für X ist …   пароль от базы: …                  told
    here is the new token, valid from today:                                  beneath
    …

The closer the tie, the less a value must look like a key to be taken for one. Pure. Neighbours: judge.py
(what a value looks like), nearby.py (values that only stand in the same sentence), bot/keys.py (the door).
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import made, only_words, password, tidy
from bot.intake.nearby import IN_ADDRESS, NAMED_HASH, NEXT_FIELD, Near, names_no_secret

_PASS: Final = (
    r"passwords?|passwd|passphrases?|passcode|passwort|kennwort|has[lł]o|hasła|contrase[nñ]a|"
    r"mots? de passe|mdp|code d['’]acc[eè]s|senha|palavra-passe|wachtwoord|lösenord(?:et)?|heslo|hesla|"
    r"пароль|пароля|паролем|паролю|adgangskoden?|passord(?:et)?|salasana|jelsz[óo]|parola(?:s[\u0131i])?|"
    r"[şs]ifre(?:s[i\u0131](?:ni)?)?|m[ậa]t kh[ẩa]u|kata sandi|лозинка|geslo|psk|pwd|pass|pw"
)
_KEY: Final = (
    r"(?:api|access|secret|private|auth|signing|encryption|account|app|application|admin|server|"
    r"service|master|root|client|licen[sc]e|shared|session|bot|deploy|sdk|write|storage|user|"
    r"webhook|unseal|global|restricted|preshared)[_ .-]?keys?(?:[_ ]base(?![a-z0-9]))?|"
    r"schlüssel|klucz(?:a|em)?|ключа|ключом|ключу|ключ|clave|chave|cl[ée]s?(?= )|sleutel|anahtar(?:[\u0131i](?:n[\u0131i])?)?|"
    r"nyckeln?|nøgle(?:n)?|nøkkel(?:en)?|avain|chiave|cheie|cheia|kulcs|kl[íúi]č|ključ|kunci|llave"
)
_TOKEN: Final = (
    r"(?:auth|access|api|id|bot)?tokens?|токена|токеном|токен|jet(?:on|ón)|secreto|secrets?|segreto|segredo|sekret|секрета|секрет|credentials?|"
    r"geheimnis|(?:erlang|session|auth)_?cookie|_auth(?![a-z])|_pat(?![a-z])"
)
_NOUN: Final = re.compile(rf"(?P<key>{_KEY})|(?P<pass>{_PASS})|(?P<token>{_TOKEN})|(?P<bare>keys?)")
# What still belongs to the name: SECRET_KEY_PROD, password1. TOKEN_URL names no key.
_TAIL: Final = re.compile(
    r"(?:_(?:base|b64|base64|prod|live|test|dev|staging|new|old|main|private|default|value))?\d?"
    r"(?![^\W_]|[_-][^\W_])",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"[\w.$-]{0,60}\Z")
_NO_SECRET: Final = re.compile(
    r"(?:public|cache|primary|foreign|sort|partition|page|cursor|csrf|xsrf|idempotency|lock|routing|row|"
    r"translation|i18n|max|next|prev|ssh|host|gpg|search|object|index|row|group|etag|pub|surrogate)"
    r"[ _.-]?\Z",
    re.IGNORECASE,
)
_WIRELESS: Final = re.compile(r"w(?:lan|i-?fi)", re.IGNORECASE)  # its key is a password
_BRAND: Final = re.compile(
    r"(?:\A|\s)(?!(?:The|This|That|A|My|Our|Its|Each|Any|New|Old|Cache|Sort|Row) \Z)[A-Z][\w.&+-]* \Z"
)

_VALUE: Final = r"(?P<value>[A-Za-z0-9+/_.~=!@#$%^&*:?|;-]{6,}(?:,[A-Za-z0-9+/_=-]{16,}(?=[,\s\"']|\Z))*)(?P<after>[(\[{]?)"
_SHUT: Final = r"(?:[\"'`*\])]|</?\w{1,10}>){0,5}"
_OPEN: Final = r"(?:[\"'`*(\[]|\[\]byte\(|</?\w{1,10}>){0,4}(?:(?:Bearer|Basic)[ \t]+)?"
_SIGN: Final = r"(?:=>|:=|->|[:=|→—–👉]|(?<=[ \t])-(?=[ \t])){1,2}"
_TYPE: Final = r"(?::[ \t]*[&\w<>\[\].? ]{1,30}(?==))?"
_NOTE: Final = r"[ \t]*(?:\([^()\n]{1,30}\)[ \t]*)?"
_ARE: Final = (
    r"[ \t](?:is|ist|lautet|heißt|es|é|est|jest|to|are|was|now|equals|это|è|là|son|sono|wird|wurde|теперь|er|är|nu|(?:ora|ahora|agora) (?:è|es|é)|"
    r"changed to|set to)(?=[ :])|,?[ \t]c['’]est(?=[ :])"
)

_SET: Final = (
    re.compile(rf"{_SHUT}{_NOTE}{_TYPE}{_SIGN}[\"'`*]{{0,3}}[ \t]*{_OPEN}{_VALUE}"),
    re.compile(rf"[\"'],[ \t]*[\"']{_VALUE}"),
    re.compile(rf"{_SHUT},?[ \t]*\n?[ \t]*(?:value|default)[ \t]*[:=][ \t]*{_OPEN}{_VALUE}"),
    re.compile(rf"{_SHUT}[ \t]*\{{[^{{}}]{{0,120}}?default[ \t]*=[ \t]*{_OPEN}{_VALUE}"),
)
_TOLD: Final = (
    re.compile(rf"[ \t]+(?:[^\w\s]{{1,2}}[ \t]+)?{_OPEN}{_VALUE}"),
    re.compile(
        rf"(?:[ \t]+[^\s:=\"'`]{{1,30}}(?:['’][^\s:=\"'`]{{1,20}})?){{0,6}}?"
        rf"(?:[ \t]*[:=]|[ \t][—–→](?=[ \t])|(?:{_ARE}):?)[ \t]*{_OPEN}{_VALUE}"
    ),
)
_BENEATH: Final = re.compile(
    rf"(?P<rest>[^\n]{{0,80}})\n(?:[> \t]*\n)?[> \t]*{_OPEN}{_VALUE}[\"'`*.!]{{0,3}}[ \t]*(?=\n|\Z)"
)
_ENDS: Final = re.compile(r"[\"'`*_)]*(?:[?!.,;]|[ \t]*\Z)")
_ABOVE: Final = re.compile(
    rf"(?<!\S)[\"'`*]*{_VALUE.replace('{6,}', '{12,}')}[\"'`*]*,? (?:is|as|for|=|ist|als|es|como) "
    rf"(?:(?:the|my|our|an?|its|der|das|la|el) )?(?:[\w&.-]+ ){{0,3}}?(?:{_KEY}|{_PASS}|{_TOKEN}|key)\b",
    re.IGNORECASE,
)
LONG: Final = 200  # characters of a value within which no further names are looked for


def tied(text: str) -> Iterator[Near]:
    """Return the values that belong to a word for keys by how the two stand to each other."""
    small = text.lower()  # a fixed case is looked for several times faster
    done = 0
    for noun in _NOUN.finditer(small if len(small) == len(text) else text):
        if noun.start() < done:
            continue  # in a value that was looked at already
        name = _name(text, noun)
        if name is None:
            continue
        end = noun.end() + len(tail[0]) if (tail := _TAIL.match(text, noun.end())) else noun.end()
        for found, taken in _behind(text, end, name, noun):
            done = found.end if len(found.value) > LONG else done
            if taken:
                yield found
                break
    for found_ in _ABOVE.finditer(text):
        value = tidy(found_["value"])
        if made(value, 14):
            start = found_.start("value")
            yield Near("", value, start, start + len(value))


def _name(text: str, noun: re.Match[str]) -> str | None:
    """Return the whole name a word is of; None where it names no key."""
    if _TAIL.match(text, noun.end()) is None:
        return None
    before = _BEFORE.search(text, max(0, noun.start() - 60), noun.start())
    prefix = before[0] if before else ""
    if names_no_secret(text, noun.start(), noun.end()):
        return None
    if _NO_SECRET.search(text[max(0, noun.start() - 14) : noun.start()]):
        return None
    if IN_ADDRESS.search(text, max(0, noun.start() - 120), noun.start()):
        return None
    word = text[noun.start() : noun.end()]
    camel = word[0] == "_" or (prefix[-1:].islower() and word[0].isupper() and word[1:].islower())
    if prefix[-1:].isalpha() and len(word) < 6 and not camel:
        return None  # compass, monkey
    if len(prefix) > 40:
        return None  # within base64
    return prefix + word


def _behind(text: str, end: int, name: str, noun: re.Match[str]) -> Iterator[tuple[Near, bool]]:
    """Return what stands where a name's value does, each with whether it is one."""
    for forms, judge in ((_SET, _set), (_TOLD, _told)):
        for form in forms:
            found = form.match(text, end)
            if found is None or found["after"].strip():
                continue
            value = _cut(text, found, told=judge is _told)
            if (taken := judge(text, name, noun, value)) or judge is _set:
                yield _near(found, name, value), taken
    found = _BENEATH.match(text, end)
    if found is not None and _speaks_of_what_follows(found["rest"]):
        value = _cut(text, found, told=True)
        if _told(text, name, noun, value):
            yield _near(found, name, value), True


def _speaks_of_what_follows(rest: str) -> bool:
    """Return whether the name ends its clause ("the API key?"), or the line ends in a colon."""
    return rest.rstrip().endswith(":") or _ENDS.match(rest) is not None


def _set(text: str, name: str, noun: re.Match[str], value: str) -> bool:
    settings = bool(re.fullmatch(r"\$?[A-Z][A-Z0-9_]*", name)) and "_" in name
    if noun["pass"] or _WIRELESS.search(name):
        return password(value) or (settings and len(value) >= 8 and only_words(value))
    if noun["bare"] and not settings and NAMED_HASH.fullmatch(value):
        return False
    if noun["bare"] and not settings:
        plain_hex = re.fullmatch(r"[0-9a-f-]+", value)
        return made(value, 20) and (not plain_hex or _branded(text, noun))
    return all(map(made, value.split(",")))


def _told(text: str, name: str, noun: re.Match[str], value: str) -> bool:
    if noun["pass"] or _WIRELESS.search(name):
        return password(value, said=True)
    if noun["bare"] and name.lower() == noun[0]:
        return _branded(text, noun) and made(value, 16) and not NAMED_HASH.fullmatch(value)
    return made(value)


def _branded(text: str, noun: re.Match[str]) -> bool:
    """Return whether a bare "key" is somebody's: "the Datadog key"."""
    return _BRAND.search(text[max(0, noun.start() - 30) : noun.start()]) is not None


def _cut(text: str, found: re.Match[str], *, told: bool) -> str:
    """Return a value without what only follows it: the next field, or a sentence's end."""
    value = NEXT_FIELD.sub("", found["value"])
    if text[found.end("value") : found.end("value") + 1] in ("'", '"', "`"):
        return value
    return value.rstrip(".,;:" if told else ",;")


def _near(found: re.Match[str], name: str, value: str) -> Near:
    start = found.start("value")
    return Near(name.strip(".-$"), value, start, start + len(value))
