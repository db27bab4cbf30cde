"""What is said and printed all day with no secret in it, made by lot: sentences, ids, sums, locks, logs.

Each family makes some messages of one build (words.txt has what sentences are put together of); much in
them looks as if drawn by lot, and is a name or a sum of something.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.intake.third.draw import DIGITS, LOWER, UPPER, Maker


def _read() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").rstrip("\n")
    parts = (part.split("\n") for part in text.removeprefix("=== ").split("\n=== "))
    return {name: lines for name, *lines in parts}


_WORDS = _read()


def messages(seed: str) -> Iterator[tuple[int, str]]:
    """Yield the number of a family, and a message of it."""
    m = Maker(seed)
    r = m.luck
    family = 0

    def many(count: int, made: Callable[[], str]) -> Iterator[tuple[int, str]]:
        nonlocal family
        family += 1
        for _ in range(count):
            yield family, made()

    def of(kind: str) -> str:
        return r.choice(_WORDS[kind])

    def b(count: int) -> str:
        return base64.b64encode(m.raw(count)).decode()

    def word() -> str:
        return of("words")

    yield from many(150, lambda: f"The {of('things')} {of('doings')}. {of('asks')}")
    yield from many(
        60, lambda: f"{of('people')} says the {of('things')} {of('doings')}, is that true?"
    )
    yield from many(60, lambda: f"{of('german things')} {of('german doings')}. {of('german asks')}")
    yield from many(
        45, lambda: f"{of('spanish things')} {of('spanish doings')}. {of('spanish asks')}"
    )
    yield from many(40, lambda: f"{of('french things')} {of('french doings')}. {of('french asks')}")
    yield from many(
        30, lambda: f"{of('chinese things')}{of('chinese doings')}\uff0c{of('chinese asks')}\u3002"
    )
    # git
    yield from many(20, lambda: f"revert {m.hex(40)}")
    yield from many(15, lambda: f"it broke between {m.hex(7)} and {m.hex(8)}, bisect please")
    yield from many(
        15,
        lambda: (
            f"commit {m.hex(40)}\nAuthor: {of('people')} <dev@example.com>\nDate:   Mon Mar 2 10:11:12 2026 +0100\n\n    auth: {of('things')}"
        ),
    )
    yield from many(
        12,
        lambda: (
            f"diff --git a/src/{word()}.py b/src/{word()}.py\nindex {m.hex(7)}..{m.hex(7)} 100644\n-    return key\n+    return token"
        ),
    )
    yield from many(10, lambda: f"https://github.com/example/shop/commit/{m.hex(40)}")
    yield from many(8, lambda: f"git cherry-pick {m.hex(10)}..{m.hex(10)}")
    yield from many(8, lambda: f"HEAD is now at {m.hex(7)} {word()}: fix the {of('things')}")
    # ids
    yield from many(20, lambda: f"order {m.uuid()} is stuck in pending")
    yield from many(12, lambda: f"request_id={m.uuid()} status=500 path=/api/orders took=1241ms")
    yield from many(10, lambda: f"https://app.example.com/orders/{m.uuid()}/items/{m.uuid()}")
    yield from many(10, lambda: f'{{"id": "{m.uuid()}", "tenant": "{m.uuid()}", "state": "open"}}')
    yield from many(10, lambda: f"traceparent: 00-{m.hex(32)}-{m.hex(16)}-01")
    yield from many(10, lambda: f"trace {m.hex(32)} has a gap of 4 s in span {m.hex(16)}")
    yield from many(
        8,
        lambda: (
            f"customer cus_{m.alnum(14)} has two open invoices, in_1{m.alnum(23)} is the wrong one"
        ),
    )
    yield from many(8, lambda: f'ObjectId("{m.hex(24)}") has no items')
    yield from many(
        8,
        lambda: (
            f"pod shop-api-{m.of(LOWER + DIGITS, 10)}-{m.of('bcdfghjklmnpqrstvwxz2456789', 5)} was OOMKilled"
        ),
    )
    yield from many(8, lambda: f"arn:aws:iam::{m.of(DIGITS, 12)}:role/shop-{word()}-deploy")
    yield from many(8, lambda: f"i-0{m.hex(16)} in eu-central-1 does not answer")
    yield from many(
        6, lambda: f"sg-0{m.hex(16)} and subnet-0{m.hex(16)} belong to vpc-0{m.hex(16)}"
    )
    yield from many(6, lambda: f"AZURE_TENANT_ID={m.uuid()}\nAZURE_SUBSCRIPTION_ID={m.uuid()}")
    yield from many(6, lambda: f"client_id: {m.uuid()}")
    yield from many(
        6,
        lambda: (
            f"GOOGLE_CLIENT_ID={m.of(DIGITS, 12)}-{m.of(LOWER + DIGITS, 32)}.apps.googleusercontent.com"
        ),
    )
    yield from many(
        6, lambda: f"the session row with id {r.randrange(10**9)} has key_id {r.randrange(10**6)}"
    )
    yield from many(6, lambda: f"STRIPE_PUBLISHABLE_KEY=pk_live_51{m.alnum(97)}")
    yield from many(5, lambda: f"price_1{m.alnum(23)} is archived, use prod_{m.alnum(14)}")
    yield from many(5, lambda: f"chat -100{m.of(DIGITS, 10)} message {r.randrange(99999)}")
    yield from many(5, lambda: f"https://docs.google.com/document/d/1{m.urlsafe(43)}/edit")
    yield from many(5, lambda: f"https://www.figma.com/file/{m.alnum(22)}/Shop?node-id=12%3A345")
    yield from many(5, lambda: f"https://drive.google.com/file/d/1{m.urlsafe(32)}/view?usp=sharing")
    yield from many(5, lambda: f"https://example.notion.site/Roadmap-{m.hex(32)}")
    yield from many(5, lambda: f"https://open.spotify.com/track/{m.alnum(22)}")
    yield from many(5, lambda: f"https://www.youtube.com/watch?v={m.urlsafe(11)}&t=42s")
    yield from many(
        5,
        lambda: (
            f"https://sentry.example.com/organizations/shop/issues/{m.of(DIGITS, 8)}/events/{m.hex(32)}/"
        ),
    )
    yield from many(
        5,
        lambda: (
            f"https://cdn.example.com/assets/index-{m.alnum(8)}.js and /assets/vendor.{m.hex(20)}.css are 404"
        ),
    )
    yield from many(
        5,
        lambda: (
            f"https://storage.example.com/{word()}/{word()}/{m.hex(2)}/{m.hex(2)}/{m.hex(32)}.webp"
        ),
    )
    yield from many(
        4,
        lambda: (
            f"https://shop.example.com/p/{word()}-{word()}-{word()}?utm_source=newsletter&utm_campaign={word()}_2026&gclid={m.urlsafe(60)}"
        ),
    )
    # sums and locks
    yield from many(12, lambda: f"sha256:{m.hex(64)}")
    yield from many(10, lambda: f"FROM python:3.12-slim@sha256:{m.hex(64)}")
    yield from many(8, lambda: f"{m.hex(64)}  shop-1.{r.randrange(40)}.0.tar.gz")
    yield from many(6, lambda: f"{m.hex(32)}  backup-2026-03-{r.randrange(10, 29)}.sql.gz")
    yield from many(
        10,
        lambda: (
            f'    "{of("javascript")}": {{\n      "version": "4.{r.randrange(30)}.1",\n      "resolved": "https://registry.npmjs.org/x/-/x-4.tgz",\n      "integrity": "sha512-{b(64)}"\n    }}'
        ),
    )
    yield from many(
        8,
        lambda: (
            f'{of("javascript")}@^5.0.0:\n  version "5.{r.randrange(20)}.2"\n  resolved "https://registry.yarnpkg.com/x/-/x.tgz#{m.hex(40)}"\n  integrity sha512-{b(64)}'
        ),
    )
    yield from many(
        8,
        lambda: (
            f"{of('python')}==2.{r.randrange(30)}.0 \\\n    --hash=sha256:{m.hex(64)} \\\n    --hash=sha256:{m.hex(64)}"
        ),
    )
    yield from many(
        8,
        lambda: (
            f'[[package]]\nname = "serde"\nversion = "1.0.{r.randrange(220)}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "{m.hex(64)}"'
        ),
    )
    yield from many(
        8,
        lambda: (
            f"github.com/example/{word()} v1.{r.randrange(20)}.0 h1:{b(32)}\ngithub.com/example/{word()} v1.2.0/go.mod h1:{b(32)}"
        ),
    )
    yield from many(
        5,
        lambda: (
            f'<script src="https://cdn.example.com/a.js" integrity="sha384-{b(48)}" crossorigin="anonymous"></script>'
        ),
    )
    yield from many(5, lambda: f'ETag: "{m.hex(32)}"')
    yield from many(
        5, lambda: f"Content-Security-Policy: script-src 'self' 'nonce-{b(16)}' 'sha256-{b(32)}'"
    )
    yield from many(5, lambda: f"SHA256:{b(32).rstrip('=')} is the fingerprint of the host key")
    yield from many(5, lambda: f"cache key: Linux-node-{m.hex(64)}")
    yield from many(5, lambda: f"Cache restored from key: pip-{m.hex(40)}")
    yield from many(
        5,
        lambda: (
            f"nix-store: /nix/store/{m.of('0123456789abcdfghijklmnpqrsvwxyz', 32)}-openssl-3.0.13"
        ),
    )
    # pictures and other base64
    yield from many(8, lambda: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAA" + b(150))
    yield from many(6, lambda: "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD" + b(120))
    yield from many(
        5,
        lambda: (
            f'<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" alt="{word()}">'
        ),
    )
    yield from many(5, lambda: "src: url(data:font/woff2;base64,d09GMgABAAAAA" + b(120) + ")")
    yield from many(
        5,
        lambda: (
            'd="M'
            + " ".join(f"{r.uniform(0, 24):.3f} {r.uniform(0, 24):.3f}" for _ in range(12))
            + 'z"'
        ),
    )
    yield from many(
        5,
        lambda: (
            f"cursor={base64.b64encode(f'order:{r.randrange(10**6)}'.encode()).decode()}&limit=50"
        ),
    )
    yield from many(
        4,
        lambda: (
            "-----BEGIN CERTIFICATE-----\nMIID"
            + b(44)
            + "\n"
            + b(48)
            + "\n-----END CERTIFICATE-----"
        ),
    )
    yield from many(
        4,
        lambda: (
            "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"
            + b(18)
            + "\n"
            + b(45)
            + "\n-----END PUBLIC KEY-----"
        ),
    )
    yield from many(
        5,
        lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m.alnum(43)} {of('people').lower()}@laptop",
    )
    yield from many(4, lambda: f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{b(180)} ci@build")
    yield from many(
        4, lambda: f"|1|{b(20)}|{b(20)} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m.alnum(43)}"
    )
    yield from many(
        4,
        lambda: (
            f"[Peer]\nPublicKey = {b(32)}\nAllowedIPs = 10.8.0.{r.randrange(2, 250)}/32\nEndpoint = vpn.example.com:51820"
        ),
    )
    yield from many(4, lambda: "age1" + m.bech32("age", 32)[4:] + " is the recipient's public key")
    yield from many(4, lambda: f"npub: {m.bech32('npub', 32)}")
    yield from many(5, lambda: f"send it to 0x{m.hex(40)}, that's the contract")
    yield from many(4, lambda: f"tx 0x{m.hex(64)} reverted")
    yield from many(4, lambda: f"bc1 address in the footer: {m.bech32('bc', 20)}")
    yield from many(
        4, lambda: f"https://{m.hex(32)}@o{m.of(DIGITS, 6)}.ingest.sentry.io/{m.of(DIGITS, 7)}"
    )
    # programs' talk
    yield from many(
        10,
        lambda: (
            f"CONTAINER ID   IMAGE          STATUS\n{m.hex(12)}   shop/api:1.4   Up 3 hours\n{m.hex(12)}   redis:7        Up 3 days"
        ),
    )
    yield from many(
        6, lambda: f"Successfully built {m.hex(12)}\nSuccessfully tagged shop/api:{m.hex(7)}"
    )
    yield from many(
        6,
        lambda: (
            f"Step 4/9 : RUN pip install -r requirements.txt\n ---> Using cache\n ---> {m.hex(12)}"
        ),
    )
    yield from many(
        8,
        lambda: (
            f"Mar {r.randrange(1, 29):2} 10:11:12 box sshd[{r.randrange(9999)}]: Accepted publickey for deploy from 10.0.0.{r.randrange(255)} port {r.randrange(65535)} ssh2: ED25519 SHA256:{b(32).rstrip('=')}"
        ),
    )
    yield from many(
        6,
        lambda: (
            f"Mar {r.randrange(1, 29):2} 03:14:15 box sshd[{r.randrange(9999)}]: Failed password for invalid user {word()} from 203.0.113.{r.randrange(255)} port {r.randrange(65535)} ssh2"
        ),
    )
    yield from many(
        8,
        lambda: (
            f'Traceback (most recent call last):\n  File "/app/{word()}.py", line {r.randrange(400)}, in load\n    token = data["token"]\nKeyError: \'token\''
        ),
    )
    yield from many(
        6,
        lambda: (
            f"TypeError: Cannot read properties of undefined (reading 'password')\n    at {word()} (/app/dist/assets/index-{m.alnum(8)}.js:1:{r.randrange(99999)})"
        ),
    )
    yield from many(
        6,
        lambda: (
            f"goroutine {r.randrange(400)} [running]:\nmain.handler(0xc000{m.hex(6)}, 0xc000{m.hex(6)})\n\t/src/main.go:{r.randrange(300)} +0x{m.hex(3)}"
        ),
    )
    yield from many(
        6,
        lambda: (
            f"{r.randrange(1, 40)} passed, {r.randrange(3)} failed in {r.uniform(1, 90):.2f}s\nFAILED tests/test_{word()}.py::test_password_is_hashed - AssertionError"
        ),
    )
    yield from many(
        5,
        lambda: (
            f"[{r.randrange(99999)}.{r.randrange(999999):06}] CPU: 1 PID: {r.randrange(9999)} RIP: 0010:[<ffffffff{m.hex(8)}>] RSP: ffff8800{m.hex(8)}"
        ),
    )
    yield from many(
        5,
        lambda: (
            f'10.0.0.{r.randrange(255)} - - [02/Mar/2026:10:11:12 +0000] "GET /reset?step=2&lang=de HTTP/1.1" 200 {r.randrange(9999)} "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"'
        ),
    )
    yield from many(5, lambda: f'etag W/"{m.hex(4)}-{b(20).rstrip("=")}" is the same for both')
    yield from many(5, lambda: f"set-cookie: lang=de; Path=/; Max-Age={r.randrange(10**7)}")
    yield from many(5, lambda: f"UUID={m.uuid()} / ext4 defaults 0 1")
    yield from many(5, lambda: f"machine-id is {m.hex(32)}")
    yield from many(4, lambda: f"boot_id {m.uuid()}, up {r.randrange(90)} days")
    yield from many(5, lambda: f"ADD COLUMN {word()}_key varchar(64) DEFAULT '{word()}'")
    yield from many(5, lambda: f"const {word()}Key = `${{tenant}}:${{{word()}}}:v2`;")
    yield from many(5, lambda: f'queryKey: ["orders", {{ page, filter: "{word()}" }}]')
    yield from many(5, lambda: f"key={{`{word()}-${{row.id}}`}}")
    yield from many(5, lambda: f"localStorage.getItem('{word()}_token')")
    yield from many(5, lambda: f"assert hash_of('{word()}') == '{m.hex(64)}'")
    yield from many(
        5,
        lambda: (
            f"PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']  # {word()}"
        ),
    )
    yield from many(5, lambda: f"password_field = page.get_by_label('Password')  # {word()}")
    yield from many(5, lambda: f"TOKEN_TTL_S = {r.randrange(60, 99999)}")
    yield from many(5, lambda: f"MAX_TOKENS={r.choice((1024, 2048, 4096, 8192, 200000))}")
    yield from many(
        5,
        lambda: (
            f"max_tokens: {r.randrange(100, 9000)}, used {r.randrange(100, 9000)} tokens in {r.randrange(2, 40)} turns"
        ),
    )
    yield from many(5, lambda: f"SECRET_NAME=shop-{word()}-{word()}")
    yield from many(5, lambda: f"secretName: {word()}-{word()}-tls")
    yield from many(5, lambda: f"KEY_VAULT_URL=https://shop-{word()}.vault.azure.net/")
    yield from many(
        5, lambda: f"projects/shop-{word()}/secrets/db-password/versions/{r.randrange(1, 30)}"
    )
    yield from many(
        5,
        lambda: (
            f"arn:aws:secretsmanager:eu-central-1:{m.of(DIGITS, 12)}:secret:shop/{word()}-{m.alnum(6)}"
        ),
    )
    yield from many(5, lambda: f"SSH_KEY_PATH=/home/deploy/.ssh/{word()}_ed25519")
    yield from many(5, lambda: f"api_key_header = 'X-{word().title()}-Key'")
    yield from many(
        5,
        lambda: (
            f"password: {r.choice(('********', '<hidden>', '[redacted]', '••••••••', 'REDACTED', '***', 'xxxxxxxx', 'your_password', 'YOUR_PASSWORD_HERE', 'example', 'TODO', 'null', 'secret', 'password', 'changeme', 'change-me-please'))}"
        ),
    )
    yield from many(
        5,
        lambda: (
            f"API_KEY={r.choice(('your_api_key', '<api-key>', 'YOUR_API_KEY', '$API_KEY', '%API_KEY%', 'xxx', 'xxxx-xxxx-xxxx', 'insert-key-here', 'dummy', 'test', 'foo', 'none', 'disabled', 'replace_me', '***'))}"
        ),
    )
    yield from many(
        5,
        lambda: (
            f'token = "{r.choice(("<TOKEN>", "test-token", "fake-token", "my-token", "dummy_token", "token", "TOKEN_HERE", "not-a-real-token", "abc", "abc123", "invalid", "expired-token"))}"'
        ),
    )
    yield from many(
        6,
        lambda: (
            f"version {r.randrange(9)}.{r.randrange(40)}.{r.randrange(20)}-rc.{r.randrange(9)}+build.{m.hex(8)}"
        ),
    )
    yield from many(
        6,
        lambda: (
            f"wheel: {of('python')}-3.{r.randrange(20)}.0-cp311-cp311-manylinux_2_28_x86_64.whl"
        ),
    )
    yield from many(
        5,
        lambda: (
            f"{of('people')} moved to room {m.of(UPPER, 1)}{r.randrange(100, 999)}, extension {r.randrange(1000, 9999)}"
        ),
    )
    yield from many(
        5, lambda: f"Peek at session s-{r.randrange(400)}, piece p-{r.randrange(900)}, please"
    )
    yield from many(5, lambda: f"{word()}-{word()}-{word()} is the name of the branch")
    yield from many(
        5, lambda: f"quarterly numbers: {', '.join(f'{r.randrange(10**6):,}' for _ in range(4))}"
    )
    yield from many(
        5,
        lambda: (
            f"reminder: {of('people')}'s birthday is on {r.randrange(1, 28)}.{r.randrange(1, 12)}."
        ),
    )
