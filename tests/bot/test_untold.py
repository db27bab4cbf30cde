"""Keys without a shape or a name of their own: by their maker, their call, their checksum, in many tongues."""

import pytest

from bot import keys

MIXED = "NUEod6jgW58J" + "iy6O2LtOXPMH"
HEX = "4b16a13a1feb5f7d" + "5e8d1355c0870712"
PASSWORD = "Nebel-" + "blue-2094%"
TOTP = "3BQ2FUSFUA7QLE3I" + "AVBQMFAFV24QQK4N"
# of the number one, which everybody knows
WALLET = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZ" + "i3qYjgd9M7rFU73sVHnoWn"


def _found(text: str) -> list[str]:
    return [key.value for key in keys.find(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("can you use {} for Cloudflare and run it again?", MIXED),
        ("Vercel → {}", MIXED),
        ("{} (Vercel)", MIXED),
        ("sorry, wrong one earlier, Plaid: {}", HEX),
        ("hier is de sleutel voor Vercel: {}, zet hem even neer", MIXED),
        ("новый токен Plaid — {}, старый отозвал", HEX),
        ("J'ai régénéré le jeton, c'est {} maintenant", HEX),
        ("WordPress 的密码是 {}", PASSWORD),
        ("Grafanaのパスワードは「{}」です", PASSWORD),
        ("비밀번호는 {} 입니다", PASSWORD),
        ("le mot de passe de l'admin c'est {}", PASSWORD),
        ("login for Grafana: admin / {}", PASSWORD),
        ('smtp.login("bot@example.com", "{}")', PASSWORD),
        ("$client = new Client('{}');", HEX),
        ("totp = pyotp.TOTP('{}')", TOTP),
        ("oathtool --totp -b {}", TOTP),
        ("here: {}", WALLET),
        ("headers = {{'Authorization': 'Basic {}'}}", "ZGVwbG95OkFt" + "MXFDZDRnd3FlQjlx"),
    ],
)
def test_a_key_is_found_by_its_maker_its_call_or_its_checksum_in_many_tongues(
    text: str, value: str
) -> None:
    assert _found(text.format(value)) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "commit " + HEX + "a1b2c3d4 deployed to Vercel",
        "Sentry event " + HEX,
        "Cache restored from key: pip-" + HEX + "a1b2c3d4",
        "React key: item-" + HEX,
        "clé de cache : Linux-node-" + HEX + HEX,
        '{"password": "required|min:12|confirmed"}',
        "access_token=ACCESS_TOKEN&refresh_token=REFRESH_TOKEN",
        "https://USERNAME:ACCESS_TOKEN@github.com/a/b",
        "AKIAIOSFODNN7" + "EXAMPLE",
        "STRIPE_KEY=pk_" + "live_" + MIXED,
        "sk_" + "live_xxxxxxxxxxxxxxxxxxxxxxxx",
        "密码长度至少8位",
        WALLET[:-1] + "m",
    ],
)
def test_what_only_looks_like_a_key_is_left(text: str) -> None:
    assert _found(text) == []
