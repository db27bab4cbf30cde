"""Messages without a key: what an owner writes all day, and code, near the words that make one suspicious.

Two sources: sentences of ours with what may stand in them, and this repository's own files in pieces of a
message's size. What looks random in them (hashes, ids, images) is made up anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from tests.intake.planted import cast

ROOT: Final = Path(__file__).resolve().parents[2]
PIECE: Final = 24  # lines of a file that make a message
SENTENCES: Final = """
commit <H40> broke the build, please look
revert <H7> and <H8>, then run the tests again
the token refresh fails since <H40>
order <G> was charged twice, why
the session key in redis is session:<G>, delete it
cache key is orders:page:2:<H32>
what is the password policy of the admin page?
add a password field to the form: type=password, name=password
rename API_KEY to SHOP_API_KEY everywhere
the api key comes from the environment, never write it down
let the user change their password without the old one
tokens per minute is 40000 for this account, 120000 for the other
max_tokens=4096 is too small for the summary
the secret santa page needs snow
primary key should be order_id_2024, not id
foreign key orders_customer_id_fkey is missing an index
use key=lambda row: row.created_at2 for the sort
press the key combination ctrl+shift+f12 to open it
"integrity": "sha512-<S86>==",
sha256:<H64> is the digest of the image
docker pull example.org/shop@sha256:<H64>
resolved "https://registry.example.org/left/-/left-1.3.0.tgz#<H40>"
    --hash=sha256:<H64> \\
example.org/shop/cart v1.4.2 h1:<S43>=
<img src="data:image/png;base64,<S400>==">
background: url(data:image/gif;base64,<S200>=)
const token = await getTokenFromServer(userId2);
token = request.headers.get("Authorization", "").removeprefix("Bearer ")
password = hash_password(form.password_confirmation_2)
if not secrets.compare_digest(token, expected_token_v2):
API_KEY = os.environ["SHOP_API_KEY"]
password: ${{ secrets.REGISTRY_PASSWORD }}
TOKEN=$(cat /run/secrets/token_file_2)
secretKeyRef: {name: shop-secrets-v2, key: database-password}
DATABASE_URL=postgres://localhost:5432/shop_test_2
PASSWORD=changeme
SECRET_KEY=your-secret-key-here-123
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
token: <your token here>
password=********
see docs/keys/rotation-2024-11.md for how the keys are rotated
the key file is at /etc/ssl/private/shop-2024.pem
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<S43> laptop
public key: <S43>=
the fingerprint is SHA256:<S43>
key=orders/2024/11/30/summary-v2.parquet in the bucket shop-data
etag "<H32>" did not change
trace id <H32> span <H16>
request id req_<A16> timed out, look at the logs around 14:05
the run https://example.org/shop/actions/runs/<D10> is red
https://example.org/shop/commit/<H40>
merge branch quarterdeck/worker-orders-page-2 into main
diff --git a/bot/keys.py b/bot/keys.py\\nindex <H7>..<H7> 100644
version 2.14.0-rc1+build.<H7> is out
the color of the key button is #<H6>
key: value pairs are sorted by key in JSON5/YAML1.2
set the timeout to 30s and the retries to 5, then ship
add a page for orders with a filter by state, and tests
why is the second test flaky? run it fifty times
good, ship it
no, keep the old wording: it was clearer
the user table has 1204332 rows, is the index used?
ERROR 1045 (28000): Access denied for user 'shop'@'localhost' (using password: YES)
invalid_grant: Token has been expired or revoked.
401 Unauthorized: bad token, try again with a new one
it says "secret not found: projects/shop/secrets/db-password-v2"
the CSRF token is <A32> in the page I saved
idempotency key: <G>
next page token is <A24>, the call takes it as cursor
routing key shop.orders.created2 has no queue bound to it
translation key checkout.payment.error_3ds_failed is missing
partition key: tenant_0042/region_eu1
please document the Bearer scheme in docs/api.md, section 4.2.1
Authorization: Bearer <token>
curl -H "Authorization: Bearer $TOKEN" https://api.example.org/v1/orders
curl -u "$USER:$PASSWORD" https://example.org
git clone git@example.org:shop/shop-2.git
git clone https://example.org/shop/shop.git && cd shop && make test
the password reset mail goes out twice when one double-clicks
write a test that a token older than 24h is refused
the keyboard shortcut Shift+F10 is taken, use Alt+F7
auth: move from cookies to tokens, in three steps; see adr-0017
uuid4() gives <G>, uuid7() is better for keys
matrix: python-version: ["3.11", "3.12", "3.13"]
ISBN 9783161484100, call +49 30 1234567
meeting at 10:30 about the key results of Q3/2024
die Taste F5 lädt neu, das Passwort fragt er nicht ab
bitte den Schlüssel im Bericht erklären, Abschnitt 3.2
the tokenizer splits "don't" in two tokens, cl100k_base in three
tokens: 18234 in, 2211 out, 0.41 USD
model claude-sonnet-4-5-20250929 or gpt-5.1-codex-mini for that?
rate limit: 429 for key owner shop-eu1, retry after 20s
""".strip().split("\n")


def chat(chance: Random, count: int, sentences: list[str] | None = None) -> Iterator[str]:
    """Yield messages of one to four sentences."""
    for _ in range(count):
        lines = chance.choices(sentences or SENTENCES, k=chance.choice((1, 1, 2, 3, 4)))
        yield "\n".join(
            cast(line.replace("\\n", "\n").replace("\\\\", "\\"), chance) for line in lines
        )


def code(
    folders: tuple[str, ...] = ("bot", "engine", "stores", "docs", "scripts"),
) -> Iterator[str]:
    """Yield this repository's files in pieces; the rules about keys themselves are left out."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".sh", ".sql", ".js", ".css", ".html"} and (
                "intake" not in path.parts and path.name != "keys.py"
            ):
                yield from _pieces(path)
    yield from _pieces(ROOT / "requirements.lock")


def _pieces(path: Path) -> Iterator[str]:
    lines = path.read_text().split("\n")
    for start in range(0, len(lines), PIECE):
        yield "\n".join(lines[start : start + PIECE])
