"""The other road to the owner: says by itself that the bot or the engine does not start.

    systemd: ExecStopPost=, OnFailure=  ──>  alarm.py bot|engine [--system]  ──>  sendMessage

One file of the standard library, run by the system's own Python from a copy that lies beside our data,
so that nothing of ours need work for it but the token and the owner's number in QUARTERDECK_HOME. Each
failure is counted, in memory that no full disk takes away; a third one in a row is told, since most heal
by the restart. So is one that nobody will try again. Told once, a row of failures stays quiet for hours.

Exit code: 0 told, or nothing to tell yet; 2 used wrongly; 3 no token or owner to be found; 4 Telegram
refused; 5 no answer, twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, Callable

TOLD, WRONG_USE, NOTHING_TO_READ, REFUSED, NO_ANSWER = 0, 2, 3, 4, 5

FAILURES = 3
APART_S = 15 * 60  # failures further apart are no row
QUIET_S = 6 * 3600
ANSWER_S, WAIT_S, LONGEST_WAIT_S = 8.0, 3.0, 15.0  # systemd waits for us before it starts anew

# What came of the unit, in systemd's words: $SERVICE_RESULT.
WHY = {
    "exit-code": "it ended with exit code {}",
    "signal": "it was ended by signal {}",
    "core-dump": "it crashed with signal {}",
    "watchdog": "it was stuck, and was ended for that",
    "timeout": "it was not ready in time",
    "protocol": "it ended before it was ready",
    "oom-kill": "the machine had no memory left",
    "resources": "the machine had nothing left to start it with",
}
GIVEN_UP = ("", "start-limit-hit", "resources")  # "": somebody called us by hand
MEANWHILE = {
    "engine": "Agents at work go on, and nothing you decided is lost. New things wait until it runs.",
    "bot": "Agents at work go on. What you write here is heard once it runs.",
}

State = dict[str, Any]


def main(argv: Sequence[str], env: Mapping[str, str], wait: Callable[[float], None]) -> int:
    """Count this failure, and tell it if it is time to; return the exit code."""
    words = [word for word in argv if word != "--system"]
    if len(words) != 1 or words[0] not in MEANWHILE:
        print("usage: alarm.py bot|engine [--system]", file=sys.stderr)
        return WRONG_USE
    part, home = words[0], env.get("QUARTERDECK_HOME", "")
    result = env.get("MONITOR_SERVICE_RESULT", env.get("SERVICE_RESULT", ""))
    if result == "success" or (part == "engine" and _is_held(os.path.join(home, "engine.lock"))):
        return TOLD
    folder = env.get("RUNTIME_DIRECTORY", "").split(":")[0]
    with _Row(os.path.join(folder, f"{part}.failures") if folder else "") as row:
        # Both ways to us may tell of the same end: it counts once.
        row.count(env.get("MONITOR_INVOCATION_ID", env.get("INVOCATION_ID", "")), time.time())
        if not row.is_due(result in GIVEN_UP, time.time()):
            print(f"{part}: failure {row.failures} of a row; not told (again) yet")
            return TOLD
        try:
            url, owner = _address(home)
        except (OSError, ValueError, LookupError) as error:
            print(f"cannot tell the owner: {error}", file=sys.stderr)
            return NOTHING_TO_READ
        status = env.get("MONITOR_EXIT_STATUS", env.get("EXIT_STATUS", ""))
        why = WHY.get(result, "").format(status)
        code = _send(url, owner, _text(part, row.failures, why, "--system" in argv), wait)
        if code == TOLD:
            row.told = time.time()
        return code


class _Row:
    """The failures in a row of one unit, kept in a file that one of us holds at a time."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600) if path else -1
        self.failures, self.last, self.told, self._id = 0, 0.0, 0.0, ""

    def __enter__(self) -> _Row:
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            # A new file, or one that nobody can read: a row begins.
            with contextlib.suppress(ValueError, TypeError):
                self.failures, self.last, self.told, self._id = json.loads(os.read(self._file, 999))
        return self

    def count(self, unit_run: str, now: float) -> None:
        if self.failures and not 0 <= now - self.last <= APART_S:
            self.failures, self.told = 0, 0.0
        self.failures += not (unit_run and unit_run == self._id)
        self.last, self._id = now, unit_run

    def is_due(self, given_up: bool, now: float) -> bool:
        return (given_up or self.failures >= FAILURES) and not 0 < now - self.told < QUIET_S

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            body = json.dumps([self.failures, self.last, self.told, self._id]).encode()
            os.pwrite(self._file, body.ljust(200), 0)
            os.close(self._file)


def _is_held(path: str) -> bool:
    """Say whether an engine runs after all: one in a terminal is why the unit's own cannot."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no such file: no engine ever ran here
        return False
    return False


def _address(home: str) -> tuple[str, int]:
    """Return where to send and to whom; raises without the token in what it says."""
    with open(os.path.join(home, "secrets", "bot-token"), encoding="utf-8") as file:
        token = file.read().strip()
    with open(os.path.join(home, "config.toml"), encoding="utf-8") as file:
        config = re.sub(r"#.*", "", file.read())  # no TOML before Python 3.11, and no `#` of ours
    owners = re.search(r"^\s*owner_ids\s*=\s*\[\s*(\d+)", config, re.MULTILINE)
    url = re.search(r"^\s*api_url\s*=\s*[\"']([^\"']+)", config, re.MULTILINE)
    if not re.fullmatch(r"\d+:[\w-]+", token) or owners is None:
        raise LookupError("there is no bot token, or no owner, in QUARTERDECK_HOME")
    base = url.group(1).rstrip("/") if url else "https://api.telegram.org"
    return f"{base}/bot{token}/sendMessage", int(owners.group(1))


def _text(part: str, failures: int, why: str, system: bool) -> str:
    times = f"It failed {failures} times in a row" if failures > 1 else "It failed"
    return (
        f"⚠ The {part} does not start.\n"
        f"{times}{': ' + why if why else ''}. {MEANWHILE[part]}\n\n"
        f"On the box, quarterdeck doctor says what is wrong, and this shows its last words:\n"
        f"journalctl {'' if system else '--user '}-u quarterdeck-{part} -n 50"
    )


def _send(url: str, owner: int, text: str, wait: Callable[[float], None]) -> int:
    body = json.dumps({"chat_id": owner, "text": text}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    for again in (True, False):
        pause_s = WAIT_S
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S):
                return TOLD
        except urllib.error.HTTPError as no:
            print(f"Telegram answered {no.code}", file=sys.stderr)
            if no.code != 429 and no.code < 500:
                return REFUSED
            pause_s = _asked_s(no)
        except (OSError, http.client.HTTPException) as error:
            # Its own words may hold the address, and that the token.
            print(f"no answer: {type(error).__name__}", file=sys.stderr)
        if again:
            wait(min(pause_s, LONGEST_WAIT_S))
    return NO_ANSWER


def _asked_s(no: urllib.error.HTTPError) -> float:
    try:
        return float(json.loads(no.read())["parameters"]["retry_after"])
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return WAIT_S


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, time.sleep))
