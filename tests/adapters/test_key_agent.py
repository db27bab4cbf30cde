"""The engine's own SSH agent, asked by OpenSSH's programs and by one that means harm.

Signing in with it at a real server is tests/machines/test_deploy_key.py.
"""

from __future__ import annotations

import asyncio
import os
import stat
import struct
import sys
from pathlib import Path

import pytest

from engine.adapters import keypair, private_socket
from engine.adapters.key_agent import MOST_BYTES, Agent, offering

FAILURE = b"\x05"


def string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def sign_in(service: bytes = b"ssh-connection", method: bytes = b"publickey") -> bytes:
    head = string(b"the session") + b"\x32" + string(b"git") + string(service) + string(method)
    return head + b"\x01" + string(b"ssh-ed25519") + string(b"the key")


def public_of(agent: Agent) -> bytes:
    answer = agent.answer(b"\x0b")
    (size,) = struct.unpack_from(">I", answer, 5)
    return answer[9 : 9 + size]


async def run(*words: str, socket: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *words,
        env={"PATH": os.environ["PATH"], "SSH_AUTH_SOCK": str(socket)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


async def test_ssh_finds_the_one_key_and_nothing_but_a_sign_in_is_signed(tmp_path: Path) -> None:
    private = keypair.made()
    line = keypair.public_line(private, "")
    folder = tmp_path / "run"
    async with asyncio.timeout(30), offering(private, folder) as socket:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert await run("ssh-add", "-L", socket=socket) == (0, line + "\n")
        (tmp_path / "key.pub").write_text(line)
        (tmp_path / "commit").write_text("not a sign-in")
        words = ("ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(tmp_path / "key.pub"))
        code, said = await run(*words, str(tmp_path / "commit"), socket=socket)
        assert code != 0, said
        assert not (tmp_path / "commit.sig").exists()
        code, said = await run("ssh-add", "-D", socket=socket)
        assert (await run("ssh-add", "-L", socket=socket))[1] == line + "\n", "none is taken away"
    assert not socket.exists()
    assert (await run("ssh-add", "-L", socket=socket))[0] == 2


KILLED = """
import asyncio, sys
from pathlib import Path
from engine.adapters.key_agent import offering

async def main():
    async with offering(sys.stdin.read(), Path(sys.argv[1])) as socket:
        print(socket, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_an_engine_that_dies_takes_the_key_along(tmp_path: Path) -> None:
    private, folder = keypair.made(), tmp_path / "run"
    folder.mkdir()
    engine = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, str(folder)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert engine.stdin
    assert engine.stdout
    async with asyncio.timeout(60):
        engine.stdin.write(private.encode())
        engine.stdin.close()
        socket = Path((await engine.stdout.readline()).decode().strip())
        assert (await run("ssh-add", "-L", socket=socket))[0] == 0
        engine.kill()
        await engine.wait()
        assert (await run("ssh-add", "-L", socket=socket))[0] == 2, "nobody answers any more"
    assert [path.is_socket() for path in folder.iterdir()] == [True]
    listener, again = private_socket.listen(folder)  # what is left is in nobody's way
    listener.close()
    again.unlink()


@pytest.mark.parametrize(
    "data",
    [b"", b"tree 0", string(b"the session"), sign_in(b"ssh-userauth"), sign_in(method=b"none")],
)
def test_what_is_no_sign_in_is_not_signed(data: bytes) -> None:
    agent = Agent(keypair.made())
    asked = b"\x0d" + string(public_of(agent)) + string(data) + bytes(4)
    assert agent.answer(asked) == FAILURE


def test_a_sign_in_is_signed_with_its_own_key_alone() -> None:
    agent, other = Agent(keypair.made()), Agent(keypair.made())
    asked = b"\x0d" + string(public_of(agent)) + string(sign_in()) + bytes(4)
    assert agent.answer(asked)[:1] == b"\x0e"
    assert other.answer(asked) == FAILURE
    for cut in range(len(asked) - 4):
        assert agent.answer(asked[:cut]) == FAILURE


async def test_one_who_sends_anything_holds_up_nobody(tmp_path: Path) -> None:
    async with asyncio.timeout(30), offering(keypair.made(), tmp_path / "run") as socket:
        for sent in (b"", b"\0\0", string(b""), string(b"\xff" * 99), b"\xff" * 9):
            reader, writer = await asyncio.open_unix_connection(socket)
            writer.write(sent)
            writer.write_eof()
            assert await reader.read() in (b"", string(FAILURE))
            writer.close()
        reader, writer = await asyncio.open_unix_connection(socket)
        writer.write(struct.pack(">I", MOST_BYTES + 1))
        assert await reader.read() == b""
        writer.close()
        assert (await run("ssh-add", "-L", socket=socket))[0] == 0
