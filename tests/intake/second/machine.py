"""What machines print and people paste along: git, logs, lock files, hashes, ids, traces, pictures.

Each family makes any number of messages, none like the other; nothing in them is a secret, though
much of it looks as if drawn by lot.
"""

import hashlib
import json
import zlib
from collections.abc import Callable
from random import Random

from tests.intake.second.draw import b64, fill, uuid, word

Maker = Callable[[Random], str]
FAMILIES: dict[str, Maker] = {}


def _family(maker: Maker) -> Maker:
    FAMILIES[maker.__name__.strip("_").replace("_", " ")] = maker
    return maker


_VERBS = (
    "add", "fix", "remove", "rename", "split", "move", "simplify", "speed up", "document", "test",
)  # fmt: skip
_THINGS = (
    "the token refresh", "the search index", "key handling in the cache", "the password form",
    "the export", "the login page", "the upload", "secret rotation docs", "the date picker",
    "the retry rule", "the lexer's tokens", "the keyboard shortcuts", "the sort key", "the footer",
    "API key checks", "the import of old files", "the session timeout", "the mail template",
)  # fmt: skip
_ROOMS = ("web", "api", "docs", "auth", "cache", "ci", "db", "ui", "search", "mail")
_EXTS = ("py", "ts", "go", "rs", "java", "rb", "css", "md", "sql", "yaml")


def _subject(rng: Random) -> str:
    return f"{rng.choice(_ROOMS)}: {rng.choice(_VERBS)} {rng.choice(_THINGS)}"


def _path(rng: Random) -> str:
    name = rng.choice(("token", "keys", "auth", "secret_store", word(rng), "password_form"))
    return f"src/{rng.choice(_ROOMS)}/{name}.{rng.choice(_EXTS)}"


def _clock(rng: Random) -> str:
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"


@_family
def _git_log(rng: Random) -> str:
    return "\n".join(f"{fill(rng, '{h7}')} {_subject(rng)}" for _ in range(rng.randrange(2, 7)))


@_family
def _git_show(rng: Random) -> str:
    return (
        f"commit {fill(rng, '{h40}')}\nAuthor: A. Developer <dev@example.org>\n"
        f"Date:   Mon Nov {rng.randrange(1, 30)} {_clock(rng)} 2026 +0100\n\n    {_subject(rng)}"
    )


@_family
def _git_push(rng: Random) -> str:
    old, new = fill(rng, "{h7}"), fill(rng, "{h7}")
    return (
        f"To github.com:acme/{word(rng)}.git\n   {old}..{new}  main -> main\n"
        f"Total {rng.randrange(3, 90)} (delta {rng.randrange(1, 50)}), reused 0 (delta 0)"
    )


@_family
def _commit_in_words(rng: Random) -> str:
    return fill(
        rng,
        rng.choice(
            (
                "please cherry-pick {h40} onto the release branch",
                "the bug came in with {h10}, see the second hunk",
                "git bisect says {h40} is the first bad commit",
                "revert {h8} and {h8}, keep {h8}",
                "is {h12} already on staging?",
                "base {h40}\nhead {h40}",
                "compare https://github.com/acme/shop/compare/{h7}...{h7}",
                "HEAD is now at {h7}, the tree is clean",
            )
        ),
    )


@_family
def _diff(rng: Random) -> str:
    path = _path(rng)
    name = rng.choice(("token", "key", "password", "secret", "timeout", "limit"))
    return (
        f"diff --git a/{path} b/{path}\nindex {fill(rng, '{h7}..{h7}')} 100644\n"
        f"--- a/{path}\n+++ b/{path}\n@@ -{rng.randrange(1, 300)},3 +{rng.randrange(1, 300)},3 @@\n"
        f"-    {name} = read_{name}(path)\n+    {name} = settings.{name}\n"
        f"     check({name}, {rng.randrange(2, 900)})"
    )


@_family
def _diffstat(rng: Random) -> str:
    rows = [f" {_path(rng)} | {rng.randrange(1, 200)} ++--" for _ in range(rng.randrange(2, 5))]
    return "\n".join([*rows, f" {len(rows)} files changed, {rng.randrange(9, 400)} insertions(+)"])


@_family
def _package_lock(rng: Random) -> str:
    name = word(rng)
    digest = b64(hashlib.sha512(fill(rng, "{A20}").encode()).digest())
    version = f"{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(20)}"
    return (
        f'"node_modules/{name}": {{\n  "version": "{version}",\n'
        f'  "resolved": "https://registry.npmjs.org/{name}/-/{name}-{version}.tgz",\n'
        f'  "integrity": "sha512-{digest}"\n}}'
    )


@_family
def _yarn_lock(rng: Random) -> str:
    name, digest = word(rng), b64(hashlib.sha512(fill(rng, "{A20}").encode()).digest())
    return (
        f'{name}@^{rng.randrange(9)}.0.0:\n  version "{rng.randrange(9)}.{rng.randrange(20)}.1"\n'
        f'  resolved "https://registry.yarnpkg.com/{name}/-/{name}.tgz#{fill(rng, "{h40}")}"\n'
        f"  integrity sha512-{digest}"
    )


@_family
def _cargo_lock(rng: Random) -> str:
    return (
        f'[[package]]\nname = "{word(rng)}-{rng.choice(("token", "keys", "core"))}"\n'
        f'version = "0.{rng.randrange(40)}.{rng.randrange(9)}"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
        f'checksum = "{fill(rng, "{h64}")}"'
    )


@_family
def _go_sum(rng: Random) -> str:
    module = f"github.com/{word(rng)}/{word(rng)} v1.{rng.randrange(30)}.0"
    return "\n".join(
        f"{module}{tail} h1:{b64(hashlib.sha256(fill(rng, '{A9}').encode()).digest())}"
        for tail in ("", "/go.mod")
    )


@_family
def _requirements(rng: Random) -> str:
    return (
        f"{word(rng)}=={rng.randrange(9)}.{rng.randrange(30)} \\\n"
        f"    --hash=sha256:{fill(rng, '{h64}')} \\\n    --hash=sha256:{fill(rng, '{h64}')}"
    )


@_family
def _poetry_lock(rng: Random) -> str:
    name = word(rng)
    return (
        f'{{file = "{name}-{rng.randrange(9)}.{rng.randrange(20)}-py3-none-any.whl", '
        f'hash = "sha256:{fill(rng, "{h64}")}"}},'
    )


@_family
def _sha256sums(rng: Random) -> str:
    return "\n".join(
        f"{fill(rng, '{h64}')}  {word(rng)}-{rng.randrange(9)}.tar.gz" for _ in range(3)
    )


@_family
def _docker_digest(rng: Random) -> str:
    return f"FROM node:{rng.randrange(16, 24)}-slim@sha256:{fill(rng, '{h64}')}"


@_family
def _docker_ps(rng: Random) -> str:
    return (
        "CONTAINER ID   IMAGE          STATUS\n"
        f"{fill(rng, '{h12}')}   {word(rng)}:latest   Up {rng.randrange(2, 60)} minutes"
    )


@_family
def _docker_build(rng: Random) -> str:
    return (
        f"#{rng.randrange(4, 20)} exporting layers {rng.randrange(1, 90)}.{rng.randrange(9)}s done\n"
        f"writing image sha256:{fill(rng, '{h64}')} done"
    )


@_family
def _uuid_in_words(rng: Random) -> str:
    form = rng.choice(
        (
            "the request {uuid} got no answer",
            "order {uuid} is in the table twice",
            "customer id {uuid}, please look why the invoice is empty",
            "run {uuid} failed at step {d1}",
            "trace {uuid} shows {d3} ms in the database",
            "SELECT * FROM orders WHERE id = '{uuid}';",
            "https://app.example.com/projects/{uuid}/boards/{d4}",
            "job {uuid}: {word} finished, {word} still waits",
            '{"id": "{uuid}", "name": "{word}"}',
        )
    )
    return fill(rng, form)


@_family
def _server_log(rng: Random) -> str:
    rows = []
    for _ in range(rng.randrange(1, 5)):
        level = rng.choice(("INFO", "WARN", "ERROR", "DEBUG"))
        said = rng.choice(
            (
                f"request_id={uuid(rng)} path=/api/{word(rng)} status=200 ms={rng.randrange(900)}",
                f"cache miss key=user:{rng.randrange(9999)}:{word(rng)}",
                f"token expired for user {rng.randrange(9999)}, sending 401",
                f"login failed: wrong password for user {word(rng)}",
                f"loaded secret app/{word(rng)} version {rng.randrange(40)} from the store",
                f"slow query {rng.randrange(500, 9000)} ms: select * from {word(rng)}s",
                f"api key {rng.randrange(90)} used {rng.randrange(900)} times today",
                f"pool: {rng.randrange(40)} connections, {rng.randrange(9)} waiting",
            )
        )
        rows.append(f"2026-11-{rng.randrange(10, 30)}T{_clock(rng)}Z {level} {said}")
    return "\n".join(rows)


@_family
def _access_log(rng: Random) -> str:
    path = rng.choice(("/", "/login", f"/items/{rng.randrange(99999)}", f"/img/{word(rng)}.webp"))
    return (
        f"10.0.{rng.randrange(255)}.{rng.randrange(255)} - - [30/Nov/2026:{_clock(rng)} +0000] "
        f'"GET {path} HTTP/2.0" 200 {rng.randrange(99999)} "-" "Mozilla/5.0 (X11; Linux x86_64)"'
    )


@_family
def _journal(rng: Random) -> str:
    return (
        f"Nov 30 {_clock(rng)} box systemd[1]: {word(rng)}.service: Main process exited, "
        f"code=exited, status={rng.randrange(1, 255)}/n/a\n"
        f"Nov 30 {_clock(rng)} box sshd[{rng.randrange(9999)}]: Accepted publickey for deploy from "
        f"10.0.0.{rng.randrange(255)} port {rng.randrange(65535)} ssh2: ED25519 "
        f"SHA256:{fill(rng, '{B43}')}"
    )


@_family
def _python_trace(rng: Random) -> str:
    name = rng.choice(("token", "password", "api_key", "secret", "rows", "total"))
    ends = (
        f"KeyError: '{name}'",
        f"AttributeError: 'NoneType' object has no attribute '{name}'",
        f"TypeError: login() missing 1 required argument: '{name}'",
        f"ValueError: {name} must not be empty",
        f"NameError: name '{name}' is not defined",
    )
    return (
        f'Traceback (most recent call last):\n  File "/app/{_path(rng)}", line '
        f"{rng.randrange(900)}, in {word(rng)}\n    return self.{name}[{name!r}]\n"
        + rng.choice(ends)
    )


@_family
def _node_trace(rng: Random) -> str:
    name = rng.choice(("token", "password", "key", "apiKey", "length"))
    return (
        f"TypeError: Cannot read properties of undefined (reading '{name}')\n"
        f"    at {word(rng)} (/app/dist/{word(rng)}.{fill(rng, '{h8}')}.js:{rng.randrange(9)}:"
        f"{rng.randrange(99999)})\n    at process.processTicksAndRejections (node:internal/"
        f"process/task_queues:95:5)"
    )


@_family
def _java_trace(rng: Random) -> str:
    return (
        "java.lang.IllegalStateException: token is null\n"
        f"\tat org.acme.{word(rng)}.TokenFilter.doFilter(TokenFilter.java:{rng.randrange(300)})\n"
        f"\tat org.acme.Handler@{fill(rng, '{h7}')}.run(Handler.java:{rng.randrange(300)})"
    )


@_family
def _pytest(rng: Random) -> str:
    return (
        f"FAILED tests/test_{word(rng)}.py::test_{rng.choice(('token', 'password', 'key'))}_"
        f"{word(rng)} - AssertionError: assert {rng.randrange(99)} == {rng.randrange(99)}\n"
        f"{rng.randrange(1, 9)} failed, {rng.randrange(900)} passed in {rng.randrange(99)}.21s"
    )


@_family
def _ci_log(rng: Random) -> str:
    return (
        f"Run actions/checkout@{fill(rng, '{h40}')}\n  with:\n    fetch-depth: 0\n    token: ***\n"
        f"    ref: {fill(rng, '{h40}')}\nError: Process completed with exit code "
        f"{rng.randrange(1, 99)}."
    )


@_family
def _picture(rng: Random) -> str:
    raw = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + rng.randbytes(rng.randrange(60, 220))
    return f'<img alt="{word(rng)}" src="data:image/png;base64,{b64(raw)}">'


@_family
def _picture_in_css(rng: Random) -> str:
    raw = zlib.compress(fill(rng, "{A150}").encode())
    return f".{word(rng)} {{ background: url(data:image/webp;base64,{b64(b'RIFF' + raw)}) }}"


@_family
def _font(rng: Random) -> str:
    return (
        f"src: url(data:font/woff2;base64,d09GMgABAAAAA{b64(rng.randbytes(120))}) format('woff2')"
    )


@_family
def _source_map(rng: Random) -> str:
    return json.dumps({"version": 3, "file": f"{word(rng)}.js", "mappings": fill(rng, "{C120};")})


@_family
def _minified_css(rng: Random) -> str:
    return "".join(
        f".{word(rng)}-{fill(rng, '{a5}')}{{color:#{fill(rng, '{h6}')};margin:{rng.randrange(40)}px}}"
        for _ in range(rng.randrange(2, 6))
    )


@_family
def _hashed_assets(rng: Random) -> str:
    return "\n".join(
        f"dist/assets/{word(rng)}-{fill(rng, '{b8}')}.js   {rng.randrange(900)}.12 kB │ gzip: 1.20 kB"
        for _ in range(3)
    )


@_family
def _script_integrity(rng: Random) -> str:
    return (
        f'<script src="https://cdn.example.net/{word(rng)}@{rng.randrange(9)}/dist/x.min.js" '
        f'integrity="sha384-{b64(hashlib.sha384(fill(rng, "{A9}").encode()).digest())}" '
        'crossorigin="anonymous"></script>'
    )


@_family
def _urls_with_ids(rng: Random) -> str:
    return fill(
        rng,
        rng.choice(
            (
                "the numbers are in https://docs.google.com/spreadsheets/d/{b44}/edit#gid={d9}",
                "as in https://www.youtube.com/watch?v={b11}&t={d2}s",
                "design: https://www.figma.com/file/{A22}/Checkout-{word}?node-id={d3}-{d4}",
                "https://github.com/acme/shop/pull/{d4}#discussion_r{d10}",
                "https://acme.slack.com/archives/C{U10}/p{d16} has the whole talk",
                "https://acme.atlassian.net/browse/SHOP-{d4}?focusedCommentId={d6}",
                "https://sentry.io/organizations/acme/issues/{d10}/?project={d7}",
                "read https://medium.com/@someone/{word}-{word}-{word}-{h12}",
                "https://stackoverflow.com/questions/{d8}/how-to-{word}-a-{word}",
                "https://www.notion.so/acme/Meeting-notes-{h32}",
                "https://example.org/items?page={d1}&sort=key&cursor={d6}&token_type=bearer",
                "https://linear.app/acme/issue/WEB-{d3}/{word}-{word}",
                "https://miro.com/app/board/uXjV{b7}=/",
                "https://drive.google.com/file/d/{b33}/view?usp=sharing",
                "https://gitlab.com/acme/api/-/jobs/{d10}",
                "https://storage.example.net/public/{uuid}/{word}.pdf",
            )
        ),
    )


@_family
def _public_keys(rng: Random) -> str:
    return fill(
        rng,
        rng.choice(
            (
                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43} deploy@{word}",
                "add this to authorized_keys: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43} me@{word}",
                "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{B340} ci@{word}",
                "10.0.0.{d1} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43}",
                "The key fingerprint is:\nSHA256:{B43} deploy@{word}",
                "[Peer]\nPublicKey = {B43}=\nAllowedIPs = 10.8.0.{d1}/32",
                "my wireguard public key is {B43}=",
                "age public key: age1{q58}",
                'gpg: key {H16}: public key "A. Developer" imported',
                "NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY=pk_live_{A24}",
                "const stripe = Stripe('pk_test_{A24}');",
                "Sentry.init({dsn: 'https://{h32}@o{d6}.ingest.sentry.io/{d7}'})",
            )
        ),
    )


@_family
def _certificate(rng: Random) -> str:
    dashes = "-" * 5
    body = [b64(rng.randbytes(48)) for _ in range(rng.randrange(3, 9))]
    return "\n".join(
        [f"{dashes}BEGIN CERTIFICATE{dashes}", *body, f"{dashes}END CERTIFICATE{dashes}"]
    )


@_family
def _public_pem(rng: Random) -> str:
    dashes = "-" * 5
    body = [b64(rng.randbytes(48)) for _ in range(4)]
    return "\n".join(
        [f"{dashes}BEGIN PUBLIC KEY{dashes}", *body, f"{dashes}END PUBLIC KEY{dashes}"]
    )


@_family
def _json_answer(rng: Random) -> str:
    return json.dumps(
        {
            "id": rng.randrange(10**9),
            "key": f"{word(rng).upper()}-{rng.randrange(900)}",
            "name": word(rng),
            "etag": f'W/"{fill(rng, "{h32}")}"',
            "created_at": f"2026-11-{rng.randrange(10, 30)}T{_clock(rng)}Z",
            "next_page_token": None,
            "has_password": rng.random() < 0.5,
        },
        indent=rng.choice((None, 2)),
    )


@_family
def _response_headers(rng: Random) -> str:
    return (
        f'HTTP/2 304\netag: "{fill(rng, "{h32}")}"\nx-request-id: {uuid(rng)}\n'
        f"cf-ray: {fill(rng, '{h16}')}-FRA\nvary: Authorization, Accept-Encoding\n"
        f"x-ratelimit-remaining: {rng.randrange(5000)}"
    )


@_family
def _usage(rng: Random) -> str:
    return (
        f'{{"usage":{{"input_tokens":{rng.randrange(90000)},"output_tokens":{rng.randrange(9000)},'
        f'"cache_read_input_tokens":{rng.randrange(10**6)}}},"session_id":"{uuid(rng)}"}}'
    )


@_family
def _agent_line(rng: Random) -> str:
    return json.dumps(
        {
            "type": "assistant",
            "message": {
                "id": fill(rng, "msg_01{A22}"),
                "content": [
                    {
                        "type": "tool_use",
                        "id": fill(rng, "toolu_01{A22}"),
                        "name": "Bash",
                        "input": {"command": f"grep -n token {_path(rng)}"},
                    }
                ],
            },
        }
    )


@_family
def _ids_of_vendors(rng: Random) -> str:
    return fill(
        rng,
        rng.choice(
            (
                "customer cus_{A14} has two subscriptions: sub_{A24} and sub_{A24}",
                "the payment pi_{A24} is stuck in requires_action",
                "invoice in_{A24} was voided, create a new one",
                "price_{A24} is the yearly price, prod_{A14} the product",
                "instance i-{h17} in subnet-{h17} does not answer",
                "arn:aws:iam::{d12}:role/deploy-{word}",
                "arn:aws:secretsmanager:eu-central-1:{d12}:secret:app/{word}-{A6}",
                "projects/{word}-{d6}/secrets/db-password/versions/{d1}",
                "message 0100018f{h8}-{uuid}-000000@email.amazonses.com bounced",
                "deployment dpl_{A28} is ready",
                "the run run-{A16} of workspace ws-{A16} wants a confirm",
                "channel C{U10}, user U{U10}",
                "client id {d12}-{a32}.apps.googleusercontent.com",
                "tenant {uuid}, application {uuid}",
                "bucket logs-{a8}, object {h2}/{h32}.json",
            )
        ),
    )


@_family
def _terraform_plan(rng: Random) -> str:
    return (
        f'  # random_password.{word(rng)} will be created\n  + resource "random_password" "db" {{\n'
        f"      + id     = (known after apply)\n      + length = {rng.randrange(16, 64)}\n"
        "      + result = (sensitive value)\n    }"
    )


@_family
def _kubectl(rng: Random) -> str:
    return (
        "NAME                        READY   STATUS    RESTARTS   AGE\n"
        f"{word(rng)}-{fill(rng, '{h9}')}-{fill(rng, '{a5}')}   1/1     Running   "
        f"{rng.randrange(9)}          {rng.randrange(2, 90)}m\n"
        f"app-secret-{word(rng)}   Opaque   {rng.randrange(1, 9)}   {rng.randrange(2, 90)}d"
    )


@_family
def _mysql_table(rng: Random) -> str:
    rows = [f"| {rng.randrange(9999):>4} | {word(rng):<9} | {_clock(rng)} |" for _ in range(3)]
    return "\n".join(("|   id | key       | at       |", "|------|-----------|----------|", *rows))


@_family
def _hexdump(rng: Random) -> str:
    return "\n".join(
        f"{i * 16:08x}  " + " ".join(fill(rng, "{h2}") for _ in range(16)) for i in range(3)
    )


@_family
def _gc_and_bench(rng: Random) -> str:
    return (
        f"BenchmarkTokenize-8   {rng.randrange(10**6)}   {rng.randrange(9000)} ns/op   "
        f"{rng.randrange(900)} B/op\nBenchmarkKey-8   {rng.randrange(10**6)}   "
        f"{rng.randrange(9000)} ns/op"
    )


@_family
def _bytes_and_numbers(rng: Random) -> str:
    return fill(
        rng,
        rng.choice(
            (
                "timestamps are {d13} and {d13}, that is {d2} ms apart",
                "the file has {d9} bytes, md5 {h32}",
                "crc32 is {h8}, adler {h8}",
                "sha1 of the archive: {h40}",
                "expected sha256 {h64}\n     got sha256 {h64}",
                "seed {d10} makes the property fail at step {d3}",
                "the IBAN in the test is DE00 1234 5678 9012 3456 {d2}",
                "phone +49 30 {d7}, fax the same with {d1} at the end",
                "0x{h16} at offset 0x{h4}",
                "mac 02:{h2}:{h2}:{h2}:{h2}:{h2}, lease for {d4} s",
                "fe80::{h4}:{h4}:{h4}:{h4} is the address of {word}",
            )
        ),
    )


@_family
def _names_in_code(rng: Random) -> str:
    a, b, c = word(rng), word(rng), word(rng)
    return rng.choice(
        (
            f"{a.capitalize()}{b.capitalize()}TokenProviderFactoryBean is the longest name so far",
            f"use {a}_{b}_{c}_key_for_the_second_lookup instead",
            f"rename get{a.capitalize()}ByKeyAnd{b.capitalize()} to find{a.capitalize()}",
            f"branch quarterdeck/worker-{a}-{b}-{rng.randrange(99)} has two commits",
            f"import {{ {a}Key, {b}Token }} from '@acme/{c}/dist/esm/index.mjs';",
            f"tests/{a}/test_{b}_tokens.py::TestKeys::test_{c}_rotates",
            f"com.acme.{a}.{b}.SecretKeyFactoryImpl${rng.randrange(9)}",
            f"--{a}-{b}-secret-name is the flag, --{c} its short form",
            f"token_{a} = tokens[{rng.randrange(9)}]\nkey_{b} = keys[{rng.randrange(9)}]",
        )
    )


@_family
def _settings_without_secrets(rng: Random) -> str:
    return rng.choice(
        (
            f"TOKEN_TTL={rng.randrange(60, 9000)}\nTOKEN_ISSUER=https://{word(rng)}.example.org",
            f"KEY_PREFIX={word(rng)}:\nSECRET_NAME=app/{word(rng)}\nPORT={rng.randrange(9999)}",
            f"PASSWORD_MIN_LENGTH={rng.randrange(8, 30)}\nPASSWORD_HASHER=argon2",
            f"token_path: /run/secrets/{word(rng)}\nkey_file: /etc/{word(rng)}/tls.key",
            f'"apiKeyHeader": "x-{word(rng)}-key", "tokenType": "Bearer"',
            f"SSH_KEY_PATH=~/.ssh/{word(rng)}_ed25519\nPASSWORD_FILE=/run/secrets/{word(rng)}",
            f"secretName: {word(rng)}-tls\nsecretKeyRef: {{ name: {word(rng)}, key: password }}",
            f"auth_token_lifetime = {rng.randrange(90)} # minutes, was {rng.randrange(90)}",
            f"API_KEY_ROTATION_DAYS={rng.randrange(10, 99)}",
            f"partition_key = '{word(rng)}_id', sort_key = 'created_at#{word(rng)}'",
        )
    )


@_family
def _talk_about_keys(rng: Random) -> str:
    thing = rng.choice(
        ("API key", "token", "password", "secret", "access token", "webhook secret", "private key")
    )
    return rng.choice(
        (
            f"the {thing} for {word(rng)} is in the vault since {rng.randrange(2, 28)} November",
            f"who made the {thing} of the {word(rng)} box, and when?",
            f"the {thing} is read from {_path(rng)}, line {rng.randrange(400)}",
            f"please rotate the {thing} of {word(rng)} every {rng.randrange(20, 99)} days",
            f"{thing}: missing in {word(rng)}, present in {word(rng)}",
            f"no {thing} in {_path(rng)} any more, good",
            f"the {thing} is called {word(rng)}_{word(rng)} in the vault",
            f"{word(rng)} refuses our {thing} with {rng.choice(('401', '403'))} since {_clock(rng)}",
            f"test that the {thing} never shows up in {word(rng)}.log",
            f"{thing} = whatever the fake server of {word(rng)} expects",
        )
    )


@_family
def _goal(rng: Random) -> str:
    return (
        f"/new {word(rng)} {rng.choice(_VERBS)} {rng.choice(_THINGS)} and "
        f"{rng.choice(_VERBS)} {rng.choice(_THINGS)}, then show me the diff"
    )


@_family
def _lead_talk(rng: Random) -> str:
    return rng.choice(
        (
            f"piece {rng.randrange(12)} ({_subject(rng)}) may land before {word(rng)}",
            f"why did the worker on {word(rng)} touch {_path(rng)}?",
            f"{_path(rng)}:{rng.randrange(400)} reads the file twice, once is enough",
            f"I moved {_path(rng)} by hand, take that into account",
            f"the check took {rng.randrange(60, 900)} s on {word(rng)}, {rng.randrange(60)} s here",
            f"put {word(rng)} and {word(rng)} on two machines, both want port {rng.randrange(9999)}",
            f"budget for {word(rng)}: {rng.randrange(2, 60)} dollars, stop at {rng.randrange(60)}",
        )
    )


def messages(each: int, seed: str) -> list[tuple[str, str]]:
    """Return (family, message), `each` of a family, no message twice."""
    found: dict[str, str] = {}
    for name, make in FAMILIES.items():
        rng = Random(f"{seed}/{name}")
        wanted = len(found) + each
        for _ in range(each * 20):
            if len(found) == wanted:
                break
            found.setdefault(make(rng), name)
    return [(name, message) for message, name in found.items()]
