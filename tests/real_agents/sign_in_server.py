"""Where the real CLIs sign in, played on this machine: for Claude behind a proxy of ours, for Codex as issuer.

Claude Code takes no other address to sign in at, so it is led here by HTTPS_PROXY and shown a certificate of
an authority made for the test (NODE_EXTRA_CA_CERTS). Nothing goes any further. Used by test_login.py.
"""

from __future__ import annotations

import base64
import datetime
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.real_agents.served import Served

HOSTS = ("platform.claude.com", "api.anthropic.com", "claude.ai", "console.anthropic.com")
TOKEN = "sk-ant-oat01-" + "from-a-server-of-ours_01" * 4 + "AA"
USER_CODE = "WXYZ-98765"

Answer = tuple[int, dict[str, object]]


def certify(folder: Path) -> None:
    """Make an authority (ca.pem) and a certificate of its for HOSTS (server.pem)."""
    today = datetime.datetime.now(datetime.UTC)
    top, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def signed(key: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> x509.Certificate:
        is_authority = isinstance(extension, x509.BasicConstraints)
        subject = _named("authority" if is_authority else "server")
        made = x509.CertificateBuilder().subject_name(subject).public_key(key)
        made = made.issuer_name(_named("authority"))
        made = made.serial_number(x509.random_serial_number())
        made = made.not_valid_before(today - datetime.timedelta(days=1))
        made = made.not_valid_after(today + datetime.timedelta(days=2))
        return made.add_extension(extension, critical=is_authority).sign(top, hashes.SHA256())

    pem = serialization.Encoding.PEM
    authority = signed(top.public_key(), x509.BasicConstraints(ca=True, path_length=None))
    (folder / "ca.pem").write_bytes(authority.public_bytes(pem))
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS])
    private = own.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(private + signed(own.public_key(), names).public_bytes(pem))


def _named(what: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"a test's {what}")])


class SignInServer(Served):
    """Serves until the `with` ends; `asked` is what it was asked for, each a path and a body."""

    def __init__(self, answer: Callable[[str, str], Answer], folder: Path | None = None) -> None:
        """Take what answers a path and body, and with `folder` be a proxy to it, certified there."""
        self.asked: list[tuple[str, str]] = []
        self._answer = answer
        self._tls: ssl.SSLContext | None = None
        if folder is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(folder / "server.pem")
        super().__init__(_handler(self))

    def answer(self, path: str, body: str) -> Answer:
        self.asked.append((path, body))
        return self._answer(path, body)

    @property
    def tls(self) -> ssl.SSLContext | None:
        return self._tls


def _handler(server: SignInServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:  # as the library calls it
            if server.tls is None:
                self.send_error(405)
                return
            self.send_response(200)
            self.end_headers()
            try:
                self.connection = server.tls.wrap_socket(self.connection, server_side=True)
            except OSError:  # it left, as when its login ended
                self.close_connection = True
                return
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", buffering=0)
            self.close_connection = False

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def do_POST(self) -> None:
            self._say(self.rfile.read(int(self.headers.get("content-length") or 0)).decode())

        def do_GET(self) -> None:
            self._say("")

        def _say(self, body: str) -> None:
            status, said = server.answer(self.path, body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


def claude(path: str, body: str) -> Answer:
    """Answer as Anthropic's server does: a code that is no good is refused."""
    if not path.endswith("/v1/oauth/token"):
        return 404, {}
    if json.loads(body)["code"] != "the-good-code":
        return 400, {"error": "invalid_grant", "error_description": "Invalid code"}
    return 200, {
        "token_type": "Bearer",
        "access_token": TOKEN,
        "expires_in": 31_536_000,
        "scope": "user:inference",
        "account": {"uuid": "a-1", "email_address": "owner@example.com"},
        "organization": {"uuid": "o-1", "name": "Example"},
    }


class Codex:
    """Answers as OpenAI's issuer does, once somebody has typed the code there."""

    def __init__(self) -> None:
        self.typed = threading.Event()

    def __call__(self, path: str, body: str) -> Answer:
        if path.endswith("/deviceauth/usercode"):
            return 200, {"device_auth_id": "d-1", "user_code": USER_CODE, "interval": "1"}
        if path.endswith("/deviceauth/token"):
            if not self.typed.is_set():
                return 403, {}
            return 200, {
                "authorization_code": "ac",
                "code_challenge": "cc",
                "code_verifier": "cv",
            }
        if path.endswith("/oauth/token"):
            return 200, {"id_token": _jwt(), "access_token": _jwt(), "refresh_token": "rt-1"}
        return 404, {}


def _jwt() -> str:
    about = {
        "email": "owner@example.com",
        "exp": 4_102_444_800,
        "https://api.openai.com/auth": {
            "chatgpt_plan_type": "plus",
            "chatgpt_account_id": "acc-1",
            "chatgpt_user_id": "u-1",
        },
    }
    parts = (json.dumps(part).encode() for part in ({"alg": "none"}, about))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + ".c2ln"
