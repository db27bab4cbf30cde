"""Logins in real fences, as an ordinary user; tells what each came to.

A process of its own that is the node to all of them: as root the tests drop to another user here, and one
of them is to be killed. Started and judged by tests/node/test_sign_in.py. Standard library only.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

from engine.node import fence
from engine.node.sign_in import SignIns
from tests import login_program

PATIENCE_S = 30.0
PYTHON = os.path.realpath(sys.executable)  # an environment's own lies where no fence shows it
LOOKS = """
for path in {home}/secrets/bot-token {home}/accounts/other/auth.json {home}/engine.sqlite3 \\
  {home}/logins/other {user}/.ssh/id_rsa; do test -e $path && echo "saw $path"; done
echo own > "$HOME/mine"
echo "sees: $(ls -A "$HOME" "{home}" "{home}/accounts" "{user}" | tr '\\n' ' ')"
exit 3
"""


def lay_out(home: str, user: str) -> None:
    """Make what no login may see."""
    for path in (
        f"{home}/secrets/bot-token",
        f"{home}/accounts/other/auth.json",
        f"{home}/engine.sqlite3",
        f"{home}/logins/other/settings",
        f"{user}/.ssh/id_rsa",
    ):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write("secret")


def begin(sign_ins: SignIns, login: str, argv: list[str], **given: Any) -> None:
    read = [os.path.dirname(login_program.__file__)]
    if not sys.base_prefix.startswith("/usr"):
        read.append(os.path.realpath(sys.base_prefix))
    env = {"PATH": "/usr/bin:/bin", "HOME": "{config}", "LANG": "C.UTF-8"}
    sign_ins.start(login, argv, env=env, read=read, **given)


async def over(sign_ins: SignIns, login: str, typed: str = "") -> dict[str, Any]:
    seen = 0
    while True:
        told = await asyncio.wait_for(sign_ins.wait(login, seen), PATIENCE_S)
        seen = told["n"]
        if told["over"]:
            return told
        if told["asks"] and typed:
            line, typed = typed, ""
            await sign_ins.type_in(login, line)


async def play(home: str, user: str) -> dict[str, Any]:
    probe = fence.probe()
    sign_ins = SignIns(home, lambda: probe)
    program = [PYTHON, login_program.__file__]
    finds = {"asks": "Paste code here", "token": r"(sk-ant-oat\d\d-[\w-]{20,500})(?=\s)"}
    begin(sign_ins, "l-1", [*program, "setup-token"], finds=finds)
    token = await over(sign_ins, "l-1", f"good#{login_program.STATE}")
    looks = LOOKS.format(home=home, user=user)
    begin(sign_ins, "l-2", ["/bin/sh", "-c", looks], account="work", finds={})
    sees = await over(sign_ins, "l-2")
    await sign_ins.close(PATIENCE_S)
    return {"fenced": probe.fenced, "token": token, "sees": sees}


async def hold(home: str) -> None:
    """Be a node in the middle of a login, until killed."""
    probe = fence.probe()
    sign_ins = SignIns(home, lambda: probe)
    begin(sign_ins, "l-9", [PYTHON, login_program.__file__, "stuck"], finds={})
    while not (await sign_ins.wait("l-9", 0))["link"]:
        pass
    os.write(1, b"ready\n")
    await asyncio.sleep(600)


def killed(home: str) -> dict[str, Any]:
    """Kill such a node; return how many processes of its login there were, and are in the end."""
    argv = [sys.executable, "-B", "-m", "tests.node.signing_in", home, "hold"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdout is not None
        node.stdout.readline()
        place = fence.place(home)
        before = len(fence.marked("login-l-9", place))
        node.send_signal(signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while fence.marked("login-l-9", place) and time.monotonic() < until:
        time.sleep(0.02)
    return {"before": before, "after": len(fence.marked("login-l-9", place))}


def main(stage: str) -> None:
    home, user = f"{stage}/user/.local/state/quarterdeck", f"{stage}/user"
    lay_out(home, user)
    told = asyncio.run(play(home, user))
    sys.stdout.write(json.dumps({**told, "killed": killed(home), "home": home}))


if __name__ == "__main__":
    if sys.argv[2:] == ["hold"]:
        asyncio.run(hold(sys.argv[1]))
    else:
        main(sys.argv[1])
