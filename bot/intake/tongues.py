"""Passwords and keys told in tongues that put no space between words: "Grafanaのパスワードは … です".

A word for one, what says "is", and the value; or the value first and the word behind it. Pure. Neighbours:
tied.py (tongues with spaces), judge.py (what a value looks like).
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import made, password
from bot.intake.nearby import Near

_PASS: Final = (
    r"密码|密碼|口令|パスワード|パスフレーズ|暗証番号|合言葉|비밀번호|암호|패스워드|รหัสผ่าน|पासवर्ड|"
    r"סיסמה|סיסמא|הסיסמה|كلمة (?:السر|المرور)|κωδικ(?:ός|ό)"
)
_KEY: Final = (
    r"密钥|密鑰|秘钥|金鑰|私钥|私鑰|令牌|凭证|憑證|授权码|(?:API|api|Api)\s?(?:キー|키|key)|アクセスキー|秘密鍵|シークレット|"
    r"トークン|認証情報|キー|鍵|토큰|시크릿|비밀\s?키|액세스\s?키|인증\s?키|โทเค็น|คีย์|टोकन|कुंजी|מפתח|טוקן|"
    r"مفتاح|رمز|κλειδί"
)
_VALUE: Final = r"(?P<value>[A-Za-z0-9+/_.~=!@#$%^&*:?|;-]{8,})"
_NOUN: Final = rf"(?:(?P<pass>{_PASS})|(?P<key>{_KEY}))"
_SIGN: Final = r"[:\uff1a=]?\s{0,3}[\"'`*「『“\uff08(]{0,3}"
_BEHIND: Final = (
    re.compile(rf"{_NOUN}[^\n:\uff1a=\x21-\x7e]{{0,12}}{_SIGN}{_VALUE}"),
    re.compile(
        rf"{_NOUN}[^\n:\uff1a=\x21-\x7e]{{0,12}}[A-Za-z][\w.-]{{1,20}}?[^\n\x21-\x7e]{{1,8}}{_SIGN}{_VALUE}"
    ),
)
_AHEAD: Final = re.compile(
    rf"(?<![\w/@.]){_VALUE}[\"'`*」』”\uff09)]{{0,3}}[ \t]?(?:是|就是|为|が|は|を|이|가|은|는)[^\n,\uff0c。]{{0,20}}?"
    rf"(?:(?P<pass>{_PASS})|(?P<key>{_KEY}))"
)


def in_tongues(text: str) -> Iterator[Near]:
    """Return what is told to be a password or a key there."""
    if text.isascii():
        return
    for form in (*_BEHIND, _AHEAD):
        for found in form.finditer(text):
            value = found["value"].rstrip(".,;:")
            taken = password(value, said=True) if found["pass"] else made(value, 16)
            if taken:
                name = "PASSWORD" if found["pass"] else ""
                start = found.start("value")
                yield Near(name, value, start, start + len(value))
