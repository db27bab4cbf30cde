"""A key that broke off: what stands at a text's end may be the first half of one.

    … use ghp_4tQ9      STRIPE_KEY=      the password is:      -----BEGIN … PRIVATE KEY----- MIIE…

`begun` tells a provider's shape that is not whole yet, `announced` a name whose value is still to come.
Where the first of it is told from a word by its own look, few characters will do; where it is not, more
are asked for. Pure. Neighbours: shapes.py, lines.py, and bot/two_goes.py, which puts halves together.
"""

import re
from typing import Final

from msgspec import Struct

from bot.intake.lines import made_up
from bot.intake.shapes import SHAPES

ENOUGH: Final = 16  # so many characters behind a known beginning are a secret by themselves
LOOKED_AT: Final = 300  # characters of a text's end

# Beginnings that stand in ordinary words as well: what follows must look made by a machine.
_LOOSE: Final = re.compile(
    r"sk-|sk_|rk_|re_|fw_|fc-|key-|api-|API-|sdk-|pat-|pat|npm_|access-|secret_|pypi-|jina_"
    r"|duffel_|shippo_|snyk_|NR|SK|EZ|EAA|EAAA|shp|sq|pn|gl|dp\.|sl\.|cio|oy2|SCW|SG\.|pul-"
    r"|ico-|4b1d|KEY0|ASIA|xox|lin_|rnd_|api_org_|pdl_|dt0|hooks\.slack\.com/|rzp_"
    r"|live_|md-|xprv|nsec1|v1\.0-|webhook\.office\.com/|AccountKey=|access_token\$"
)
# Beginnings longer than the word a shape is looked for by: with them it is told from a word.
_MORE: Final = (
    ("STRIPE_API_KEY", "sk_live_ sk_test_ rk_live_ rk_test_"),
    ("OPENAI_API_KEY", "sk-proj- sk-svcacct-"),
    ("LINEAR_API_KEY", "lin_api_ lin_oauth_"),
    ("SLACK_TOKEN", "xoxb- xoxp- xoxa- xoxe- xoxs-"),
    ("SLACK_WEBHOOK", "hooks.slack.com/services/ hooks.slack.com/workflows/"),
    ("RAZORPAY_KEY", "rzp_live_ rzp_test_"),
    ("SHOPIFY_TOKEN", "shpat_ shpss_ shpca_ shppa_"),
    ("SHIPPO_TOKEN", "shippo_live_ shippo_test_"),
    ("DUFFEL_TOKEN", "duffel_live_ duffel_test_"),
    ("SNYK_TOKEN", "snyk_uat. snyk_sat."),
    ("GITLAB_TOKEN", "gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-"),
    ("DOPPLER_TOKEN", "dp.pt. dp.st. dp.ct. dp.sa."),
    ("PLAID_TOKEN", "access-sandbox- access-production- access-development-"),
    ("NEW_RELIC_API_KEY", "NRAK- NRAA- NRRA- NRII-"),
    ("SONAR_TOKEN", "squ_ sqp_ sqa_"),
    ("SQUARE_ACCESS_TOKEN", "sq0atp- sq0csp- sq0idp-"),
    ("HUBSPOT_TOKEN", "pat-na1- pat-eu1-"),
    ("EASYPOST_API_KEY", "EZAK EZTK"),
    ("DYNATRACE_TOKEN", "dt0c01. dt0s01."),
    ("PREFECT_API_KEY", "pnu_ pnb_"),
    ("PADDLE_API_KEY", "pdl_live_ pdl_sdbx_"),
    ("BRAINTREE_TOKEN", "access_token$production$ access_token$sandbox$"),
)
# How long they are made, where a shape fits shorter ones as well.
_MADE: Final = (
    *((word, 40) for word in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    *((word, 108) for word in ("sk-ant-api03-", "sk-ant-oat01-")),
    *((word, 71) for word in ("dop_v1_", "doo_v1_", "dor_v1_")),
    ("github_pat_", 93),
    ("sk-or-v1-", 73),
    ("xai-", 84),
    ("gsk_", 56),
    ("pplx-", 53),
    ("hf_", 37),
    ("SG.", 69),
)
_SEVERAL: Final = ("sk-proj-", (56, 156, 164))
_LEAST: Final = (*_MADE, (_SEVERAL[0], _SEVERAL[1][0]))
# Shapes that have no word, as far as their beginning is like nothing else.
_FORMS: Final = tuple(
    (name, re.compile(rf"(?<![A-Za-z0-9]){form}\Z"))
    for name, form in (
        ("TELEGRAM_BOT_TOKEN", "[0-9]{8,12}:[A-Za-z0-9_-]{2,34}"),
        ("DISCORD_BOT_TOKEN", r"[MNO][A-Za-z0-9]{22,27}\.[A-Za-z0-9_.-]*"),
        ("TERRAFORM_TOKEN", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]*"),
        ("AZURE_CLIENT_SECRET", "[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]*"),
    )
)
_BEGINNINGS: Final = tuple(
    sorted(
        {
            *((name, word) for name, words in _MORE for word in words.split()),
            *((shape.name, shape.word) for shape in SHAPES if shape.word),
        },
        key=lambda one: (-len(one[1]), one),
    )
)
_REST: Final = re.compile(r"[A-Za-z0-9_+/=.~$-]*")
_NAMED: Final = re.compile(
    r"(?:^|[\s\"'])(?:export\s+)?[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|PAT|CREDENTIALS?)"
    r"[\"']?\s*[=:]\s*[\"'`]?(?P<value>\S{0,15})\Z"
)
_SAID: Final = re.compile(
    r"\b(?:api[ _-]?key|token|secret|password|passphrase|passwort|pwd|credentials?)\b"
    r"[^\n.?!:=(){}\[\]]{0,30}[:=]\s*\Z",
    re.IGNORECASE,
)
_OPEN_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?![ \t]+[a-z]+[ \t])(?!.*-----END )|PuTTY-User-Key-File-\d:(?!.*Private-MAC: [0-9a-f])",
    re.DOTALL,
)


class Begun(Struct, frozen=True):
    """A shape that broke off; `enough`: so much of it is there that it is a secret already."""

    name: str
    start: int
    enough: bool


def begun(text: str) -> Begun | None:
    """Return the beginning of a known key on which a text ends; None for a whole one, or none."""
    end = text[-LOOKED_AT:]
    last = end.rfind(max(end.split()[-1:], default=""))
    for name, word in _BEGINNINGS:
        at = end.rfind(word) if " " in word else end.find(word, last)
        if at < 0 or end[at - 1 : at].isalnum() or end[at - 1 : at] in ("_", "-"):
            continue
        rest = end[at + len(word) :]
        if not _REST.fullmatch(rest) or _is_whole(end, at, word):
            continue
        loose = _LOOSE.fullmatch(word) is not None
        if not (_made_up(rest) if loose else _plausible(rest)):
            continue
        enough = len(rest) >= ENOUGH and (_mixed(rest) if loose else made_up(rest))
        if word == "eyJ":  # any JSON in base64 begins so
            enough = ".eyJ" in rest
        return Begun(name, len(text) - len(end) + at, enough)
    for name, form in _FORMS:
        found = form.search(end)
        if found is not None and not _is_whole(end, found.start(), ""):
            enough = len(found[0]) >= 2 * ENOUGH
            return Begun(name, len(text) - len(end) + found.start(), enough)
    return None


def full(value: str) -> bool:
    """Return whether a key is as long as those of its kind are made: nothing goes on with it."""
    word, lengths = _SEVERAL
    if value.startswith(word):
        return len(value) in lengths
    return any(value.startswith(word) and len(value) >= made for word, made in _MADE)


def is_short(value: str) -> bool:
    """Return whether a key's shape says for certain that some of it is still to come."""
    made = next((made for word, made in _LEAST if value.startswith(word)), 0)
    return len(value) < made or begun(value) is not None


def announced(text: str) -> bool:
    """Return whether a text ends where the value of a secret's name would begin, or has begun."""
    end = text.rstrip()[-LOOKED_AT:]
    named = _NAMED.search(end)
    if named is not None and (not named["value"] or made_up(named["value"])):
        return True
    return _SAID.search(end) is not None


def block_open(text: str) -> bool:
    """Return whether a private key's block begins and does not end."""
    return _OPEN_BLOCK.search(text) is not None


def _plausible(rest: str) -> bool:
    """Return whether this may stand behind a beginning that is no word: no name, no ellipsis."""
    if re.fullmatch(r"[.…]+|[xX*]{3,}", rest):
        return False
    return len(rest) < 4 or not re.fullmatch(r"[a-z]+(?:_[a-z]+)*[.]?", rest)


def _made_up(rest: str) -> bool:
    return len(rest) >= 4 and made_up(rest)


def _is_whole(text: str, at: int, word: str) -> bool:
    return any(
        shape.form.match(text, at) is not None
        for shape in SHAPES
        if shape.word[:2] == word[:2] or not (shape.word and word)
    )


def _mixed(rest: str) -> bool:
    """Return whether digits stand all through it, as in no name."""
    return len(re.findall(r"[A-Za-z][0-9]|[0-9][A-Za-z]", rest)) * 6 >= len(rest)
