"""The command line as a person meets it: what it prints, what it refuses, how it exits."""

import io
import json
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engine.cli import main
from engine.config import Config, load
from engine.lock import EngineLock
from engine.paths import Home

TOKEN = "123456789:AAH-a_good_one"

Run = Callable[..., "Outcome"]


class Outcome:
    """What one command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    root = tmp_path / "q"
    monkeypatch.setenv("QUARTERDECK_HOME", str(root))
    monkeypatch.setenv("COLUMNS", "200")
    return Home(root)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(*argv: str, stdin: str = "") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as left:
            main(argv)
        said = capsys.readouterr()
        return Outcome(int(left.value.code or 0), said.out, said.err)

    return command


@pytest.fixture
def telegram() -> Iterator[str]:
    """A service that knows one token, as the real one answers getMe."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            good = self.path == f"/bot{TOKEN}/getMe"
            body = (
                {"ok": True, "result": {"id": 1, "is_bot": True, "username": "deck_bot"}}
                if good
                else {"ok": False, "error_code": 401, "description": "Unauthorized"}
            )
            self.send_response(200 if good else 401)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


# ---------------------------------------------------------------- help


def test_help_names_every_command_and_is_quick_to_load() -> None:
    script = (
        "import sys\nfrom engine.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'pydantic', 'asyncssh', 'cryptography', 'telegram', 'aiosqlite', 'msgspec'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    for command in ("demo", "setup", "up", "engine", "bot", "status", "doctor", "project"):
        assert f" {command} " in said
    assert "heavy: []" in said


def test_wrong_use_exits_2(run: Run, home: Home) -> None:
    assert run("no-such-thing").code == 2
    assert run("project", "add", "shop").code == 2


# ---------------------------------------------------------------- setup


def test_setup_leaves_a_home_that_only_its_owner_can_read(
    run: Run, home: Home, telegram: str
) -> None:
    done = run(
        "setup", "--token-file", "-", "--owner", "42", "--api-url", telegram, "--yes",
        stdin=f"{TOKEN}\n",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert "@deck_bot" in done.out
    assert TOKEN not in done.out
    assert load(home) == Config(owner_ids=(42,), api_url=telegram)
    assert home.bot_token.read_text(encoding="utf-8").strip() == TOKEN
    for secret in (home.bot_token, home.vault_key, home.config):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    for folder in (home.root, home.secrets):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_setup_again_keeps_the_keys(run: Run, home: Home) -> None:
    setup = ("setup", "--token-file", "-", "--owner", "42", "--offline", "--yes")
    assert run(*setup, stdin=TOKEN).code == 0
    kept = home.vault_key.read_bytes()
    assert run(*setup, "--owner", "7", stdin=TOKEN).code == 0
    assert home.vault_key.read_bytes() == kept
    assert load(home).owner_ids == (42, 7)


@pytest.mark.parametrize("owner", ["", "0", "-1", "@me", "42,43"])
def test_setup_refuses_an_owner_that_is_no_number(run: Run, home: Home, owner: str) -> None:
    """BR-122: a malformed owner must never end as an empty list."""
    done = run("setup", "--token-file", "-", f"--owner={owner}", "--offline", "--yes", stdin=TOKEN)
    assert done.code == 1
    assert "is not a Telegram user id" in done.err
    assert not home.config.exists()


def test_setup_without_an_owner_prints_a_link_that_makes_one(
    run: Run, home: Home, telegram: str
) -> None:
    """BR-122: until it is pressed, nobody commands."""
    done = run("setup", "--token-file", "-", "--api-url", telegram, "--yes", stdin=TOKEN)
    assert (done.code, done.err) == (0, "")
    found = re.search(r"https://t\.me/deck_bot\?start=([A-Za-z0-9_-]+)", done.out)
    assert found
    assert load(home) == Config(pairing=True, api_url=telegram)
    files = [path for path in home.root.rglob("*") if path.is_file()]
    assert found[1].encode() not in b"".join(path.read_bytes() for path in files)
    doctor = run("doctor", "--offline")
    assert "nobody yet" in doctor.out
    assert "quarterdeck setup --pair" in doctor.out
    again = run("setup", "--pair")
    assert again.code == 0
    assert "https://t.me/deck_bot?start=" in again.out
    assert found[1] not in again.out


def test_a_new_token_leaves_the_owner_who_is_there(run: Run, home: Home) -> None:
    setup = ("setup", "--token-file", "-", "--offline", "--yes")
    assert run(*setup, "--owner", "42", stdin=TOKEN).code == 0
    assert run(*setup, stdin=TOKEN).code == 0
    assert load(home).owner_ids == (42,)
    refused = run("setup", "--pair", "--offline")
    assert refused.code == 1
    assert "has its owner: 42" in refused.err
    named = refused.err.partition("quarterdeck setup ")[2].split()
    named[named.index("NUMBER")] = "7"
    assert run("setup", *named, "--offline").code == 0
    assert load(home).owner_ids == (7,)


def test_without_telegram_the_code_is_printed_bare(run: Run, home: Home) -> None:
    done = run("setup", "--token-file", "-", "--offline", "--yes", stdin=TOKEN)
    assert re.search(r"send to your bot: /start [A-Za-z0-9_-]{20,64}\n", done.out)


def test_setup_refuses_a_token_telegram_does_not_know_and_never_says_it_back(
    run: Run, home: Home, telegram: str
) -> None:
    done = run(
        "setup", "--token-file", "-", "--owner", "42", "--api-url", telegram, "--yes",
        stdin="987654321:another-one",
    )  # fmt: skip
    assert done.code == 1
    assert "does not know this bot token" in done.err
    assert "another-one" not in done.out + done.err
    assert not home.root.exists()


def test_setup_says_when_there_is_no_answer_and_how_to_go_on(
    run: Run, home: Home, telegram: str
) -> None:
    nobody = "http://127.0.0.1:9"
    done = run(
        "setup", "--token-file", "-", "--owner", "42", "--api-url", nobody, "--yes", stdin=TOKEN
    )
    assert done.code == 1
    assert "No answer from 127.0.0.1:9" in done.err
    assert "--offline" in done.err
    assert TOKEN not in done.err


def test_setup_refuses_what_is_no_token_without_saying_it_back(run: Run, home: Home) -> None:
    done = run(
        "setup", "--token-file", "-", "--owner", "42", "--offline", "--yes", stdin="hunter2 x"
    )
    assert done.code == 1
    assert "That is no bot token" in done.err
    assert "hunter2" not in done.err


def test_setup_refuses_a_home_no_socket_fits_into(
    run: Run, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_HOME", str(home.root / ("deep" * 30)))
    done = run("setup", "--token-file", "-", "--owner", "42", "--offline", "--yes", stdin=TOKEN)
    assert done.code == 1
    assert "too long a path" in done.err


# ---------------------------------------------------------------- up, doctor


def test_up_without_a_setup_says_what_to_run(run: Run, home: Home) -> None:
    done = run("up")
    assert done.code == 1
    assert "Run `quarterdeck setup` first" in done.err


def test_asking_makes_no_home(run: Run, home: Home) -> None:
    done = run("status")
    assert done.code == 1
    assert "Run `quarterdeck setup` first" in done.err
    assert not home.root.exists()


def test_doctor_says_what_is_missing_and_what_mends_it(run: Run, home: Home) -> None:
    done = run("doctor", "--json")
    found = {finding["name"]: finding for finding in json.loads(done.out)}
    assert done.code == 1
    assert found["python"]["good"]
    assert found["git"]["good"]
    assert not found["owner"]["good"]
    assert all(finding["mend"] for finding in found.values() if not finding["good"]), (
        "a lack without a way out"
    )


def test_doctor_is_content_after_setup_and_sees_an_open_token(run: Run, home: Home) -> None:
    run("setup", "--token-file", "-", "--owner", "42", "--offline", "--yes", stdin=TOKEN)
    assert run("doctor", "--offline").code == 0
    home.bot_token.chmod(0o644)
    done = run("doctor", "--offline")
    assert done.code == 1
    assert "others may read it" in done.out
    assert TOKEN not in done.out


# ---------------------------------------------------------------- accounts' variables


@pytest.mark.parametrize(
    "pair",
    [
        "ANTHROPIC_API_KEY=anything",
        "CLAUDE_CODE_OAUTH_TOKEN=anything",
        "DB_PASSWORD=x",
        "SETTING=sk-ant-api03-abc",
        "SETTING=ghp_abcdefabcdef",
        "SETTING=AKIAABCDEFGHIJKLMNOP",
        "SETTING=eyJhbGciOiJIUzI1NiJ9.e30.x",
        "URL=https://user:word@host/",
    ],
)
def test_env_refuses_what_looks_like_a_key_and_never_says_it_back(
    run: Run, home: Home, pair: str
) -> None:
    done = run("account", "add", "main", "--agent", "claude", "--env", pair)
    assert done.code == 2
    assert "--secret-env" in done.err
    assert pair.partition("=")[2] not in done.err


def test_a_secret_variable_is_named_not_given(run: Run, home: Home) -> None:
    done = run("account", "add", "main", "--agent", "claude", "--secret-env", "A_KEY=sk-word")
    assert done.code == 2
    assert "sk-word" not in done.err


def test_a_secret_that_is_nowhere_is_refused_by_name(run: Run, home: Home) -> None:
    done = run("account", "add", "main", "--agent", "claude", "--secret-env", "NOT_SET_KEY")
    assert done.code == 1
    assert "NOT_SET_KEY is not set" in done.err


# ---------------------------------------------------------------- with an engine, and without


SETUP = ("setup", "--token-file", "-", "--owner", "42", "--offline", "--yes")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "a shop"
    for arguments in (
        ("init", "-q", "-b", "main", str(path)),
        ("-C", str(path), "-c", "user.name=N", "-c", "user.email=n@localhost",
         "commit", "-q", "--allow-empty", "-m", "Begin"),
    ):  # fmt: skip
        subprocess.run(["git", *arguments], check=True)
    return path


@pytest.fixture
def engine(run: Run, home: Home) -> Iterator[None]:
    """A real engine over the same home."""
    run(*SETUP, stdin=TOKEN)
    with subprocess.Popen(
        [sys.executable, "-m", "engine"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = iter(process.stderr)
        assert any("engine ready" in line for line in said)
        yield
        process.terminate()
        process.stderr.read()
    assert process.returncode == 0


def projects(run: Run) -> list[str]:
    return [project["name"] for project in json.loads(run("project", "list", "--json").out)]


def add_and_look(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository.parent)
    added = run("project", "add", "shop", "a shop")
    assert (added.code, added.err) == (0, "")
    (listed,) = json.loads(run("project", "list", "--json").out)
    assert (listed["name"], listed["source"]) == ("shop", str(repository))
    assert str(repository) in run("project", "list").out
    monkeypatch.setenv("A_TOKEN", "the-value-itself")
    done = run(
        "account", "add", "main", "--agent", "claude",
        "--env", "A_SETTING=1=2", "--secret-env", "A_TOKEN",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    (account,) = json.loads(run("account", "list", "--json").out)
    assert account["env"] == [["A_SETTING", "1=2"]]
    assert account["secret_env"] == ["A_TOKEN"]


def test_with_no_engine_running_requests_are_kept_all_the_same(
    run: Run, home: Home, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*SETUP, stdin=TOKEN)
    add_and_look(run, repository, monkeypatch)
    assert "Nothing runs" in run("status").out
    assert "The engine does not run" in run("status").out
    written = b"".join(path.read_bytes() for path in home.root.rglob("*") if path.is_file())
    assert b"the-value-itself" not in written
    assert run("account", "remove", "main").code == 0
    assert run("project", "remove", "shop").code == 0
    assert projects(run) == []


@pytest.mark.usefixtures("engine")
def test_with_an_engine_running_it_is_asked(
    run: Run, home: Home, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_and_look(run, repository, monkeypatch)
    assert json.loads(run("status", "--json").out)["running"] == []
    doctor = {
        finding["name"]: finding for finding in json.loads(run("doctor", "--offline", "--json").out)
    }
    assert doctor["engine"]["says"] == "running"


def test_a_socket_that_a_killed_engine_left_behind_holds_nobody_up(run: Run, home: Home) -> None:
    run(*SETUP, stdin=TOKEN)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(home.engine_sock))
    assert projects(run) == []


def test_an_engine_that_is_stuck_is_not_gone_round(
    run: Run, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*SETUP, stdin=TOKEN)
    with EngineLock(home.engine_lock), socket.socket(socket.AF_UNIX) as left:
        left.bind(str(home.engine_sock))
        done = run("project", "list")
    assert done.code == 1
    assert "runs and gives no answer" in done.err


def test_the_engines_refusal_is_a_sentence_and_exit_1(run: Run, home: Home) -> None:
    run(*SETUP, stdin=TOKEN)
    done = run("project", "add", "shop", str(home.root / "nowhere"))
    assert done.code == 1
    assert done.err.startswith("quarterdeck: ")
    assert "Traceback" not in done.err
