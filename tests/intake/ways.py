"""The ways in which a key comes: each makes one message of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# {} is the key. None of them names its kind: the shape must do.
PLAIN: Final = {
    "alone": "{}",
    "first": "{} is what the deploy wants, please use it",
    "last": "please use this for the deploy: {}",
    "in prose": "The old one is revoked, take {} from now on and tell me when it works.",
    "before a full stop": "From now on it is {}. Thanks!",
    "in quotes": 'set it to "{}" and try again',
    "in single quotes": "set it to '{}', then restart",
    "in backticks": "use `{}` there",
    "in bold": "it is **{}** now",
    "in brackets": "try the new one ({})",
    "fenced": "here:\n```\n{}\n```\nthanks",
    "in JSON": '{{\n  "service": "shop",\n  "value": "{}",\n  "retries": 3\n}}',
    "in YAML": "deploy:\n  value: {}\n  retries: 3\n",
    "in .env": "PORT=8080\nSHOP_VALUE={}\nDEBUG=1\n",
    "exported": "export SHOP_VALUE='{}'",
    "in a header": 'curl -H "Authorization: Bearer {}" https://api.example.org/v1/orders',
    "in another header": "curl -H 'X-Auth: {}' https://api.example.org/v1/orders",
    "in Python": 'client = Client(value="{}", timeout=5)',
    "in JavaScript": "const client = new Client('{}');",
    "in TOML": '[deploy]\nvalue = "{}"\n',
    "in a list": "- one\n- {}\n- three",
    "quoted": "> {}\nthis one",
    "in an address": "open https://api.example.org/v1/orders?value={}&page=2 for it",
    "after Cyrillic": "вот он: {}",
}


def wrapped(key: str) -> str:
    """Break a key in the middle, as a narrow mail program does."""
    half = len(key) // 2
    return f"this is it:\n{key[:half]}\n{key[half:]}\nuse it well"


def indented(key: str) -> str:
    """Break a key in quotes over two lines of code."""
    third = max(10, len(key) // 3)
    return f'value = (\n    "{key[:third]}"\n    "{key[third:]}"\n)'


def all_ways() -> dict[str, Callable[[str], str]]:
    """Return every way by its name."""
    return {
        **{name: form.format for name, form in PLAIN.items()},
        "wrapped": wrapped,
        "in two strings": indented,
    }


# What has no shape: only the words beside it tell. A mould, see planted.py, for each way.
NEARBY: Final = (
    ("TWILIO_AUTH_TOKEN=<H32>", "<H32>"),
    ("DATADOG_API_KEY: <H32>", "<H32>"),
    ("aws_secret_access_key = <S40>", "<S40>"),
    ('"clientSecret": "<A32>"', "<A32>"),
    ("client_secret='<B40>'", "<B40>"),
    ("the api key for the shop is <A32>", "<A32>"),
    ("my password is <A12>", "<A12>"),
    ("password: <A10>!", "<A10>!"),
    ("DB_PASSWORD=<A16>", "<A16>"),
    ("DB_PASS=<A16>", "<A16>"),
    ("HEROKU_API_KEY=<G>", "<G>"),
    ("postgres://shop:<A16>@db.example.org:5432/shop", "<A16>"),
    ("redis://:<A20>@cache.example.org:6379/0", "<A20>"),
    ("amqp://shop:<A14>@mq.example.org/", "<A14>"),
    ("mongodb+srv://shop:<A18>@cluster.example.org/shop", "<A18>"),
    ("curl -u shop:<A16> https://example.org/x", "<A16>"),
    ("curl -H 'Authorization: Basic <S40>=' https://example.org", "<S40>="),
    ("mysql --user=shop --password=<A14> shop", "<A14>"),
    ("machine example.org login shop password <A16>", "<A16>"),
    ("//registry.example.org/:_authToken=<A36>", "<A36>"),
    ('{"auths": {"example.org": {"auth": "<S40>="}}}', "<S40>="),
    ("AccountName=shop;AccountKey=<S86>==;EndpointSuffix=core", "<S86>=="),
    ("SESSION_SECRET=<H64>", "<H64>"),
    ("here is the token:\n<A40>", "<A40>"),
    ("<A40> is the new token", "<A40>"),
    ("secret (staging): `<A32>`", "<A32>"),
    ("const apiKey = '<A32>';", "<A32>"),
    ('token := "<A40>"', "<A40>"),
    ("  webhookSecret: <A32>", "<A32>"),
    ("?sv=2024-01-01&sig=<S42>%3D", "<S42>%3D"),
)
