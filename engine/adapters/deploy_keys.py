"""A key of its own for each project that is reached over SSH: git here signs in with it, nobody else.

    the vault, forge/<project>      the private half, for one address: own_keys.py
    secrets/deploy/.known_hosts     the host keys the owner accepted, a line a project

Made only where the box's own user is not let in. With one, git runs with this key, this host key and no
other (`signing_in`); the key is in the engine's memory alone meanwhile, which signs for git's ssh.
Neighbours: hub.py runs git, key_agent.py signs, known_hosts.py keeps the lines, ssh.py asks a host for its
key, taking_in.py leads the owner through.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from engine.adapters import key_agent, known_hosts
from engine.adapters.own_keys import NO_VAULT, OwnKeys, forge
from engine.errors import KeyShut, Refused
from stores.vault import NotOpened

CONNECT_S = 20
SHUT = "Nothing was sent: {project} is reached with a key of its own, and {why}."
ANOTHER = " Or have another key made: /projects add {project}"

_SSH_URL = re.compile(
    r"ssh://(?:(?P<user>[^@/\s]+)@)?(?P<host>\[[^\]/]+\]|[^:/\s]+)(?::(?P<port>\d+))?/"
)
_SCP = re.compile(r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>\[[^\]/]+\]|[^@/:\\\s]+):(?!:|//)")


def host_of(url: str) -> str:
    """Return `user@host:port` as far as the address says so; "" for what is not reached by SSH."""
    found = _SSH_URL.match(url) or (None if "://" in url else _SCP.match(url))
    if found is None or url.startswith("/"):
        return ""
    named = found.groupdict()
    user = f"{named['user']}@" if named["user"] else ""
    port = f":{named['port']}" if named.get("port") else ""
    return f"{user}{named['host']}{port}"


class DeployKeys:
    """All of a home's deploy keys.

    own       where they are kept
    folder    of the accepted host keys, below secrets/
    sockets   where git finds who signs for it
    """

    def __init__(self, own: OwnKeys, folder: Path, sockets: Path) -> None:
        self._own = own
        self._folder = folder
        self._sockets = sockets
        self._hosts = folder / ".known_hosts"  # no project's name begins so

    async def has(self, project: str, source: str) -> bool:
        """Whether there is a key for this project at this address, to be used."""
        return await self._own.has(forge(project), source)

    async def make(self, project: str, source: str) -> str:
        """Return the public line of the project's key, making it if there is none for `source`."""
        if not await self.has(project, source):
            await self.forget(project)
        try:
            return await self._own.make(forge(project), source, f"quarterdeck-{project}")
        except NotOpened as no:
            raise Refused(f"{project} needs a key of its own, and {no.sentence}.") from no

    def trusted(self, project: str) -> str:
        """Return the host key that was accepted for the project, "" if none was."""
        return next(iter(known_hosts.trusted(self._hosts, _alias(project))), "")

    def trust(self, project: str, key: str) -> None:
        """Keep the host key the owner accepted."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known_hosts.trust(self._hosts, _alias(project), key)

    async def forget(self, project: str) -> bool:
        """Throw the key away; return whether there was one."""
        there = await self._own.forget(forge(project))
        if self._hosts.exists():
            known_hosts.forget(self._hosts, _alias(project))
        shutil.rmtree(self._folder / project, ignore_errors=True)  # an earlier release's
        return there

    @asynccontextmanager
    async def signing_in(
        self, project: str, url: str, *, only_if_open: bool = False
    ) -> AsyncIterator[Mapping[str, str]]:
        """Give what git is told for this address: nothing where the box's own way in is used.

        only_if_open   a key that cannot be had counts as none
        raises         KeyShut when it is needed and cannot be had; the sentence says what to do
        """
        private = ""
        if host_of(url):
            try:
                private = await self._own.private(forge(project), url)
            except NotOpened as no:
                if not only_if_open and self.trusted(project):
                    lost = "" if no.sentence == NO_VAULT else ANOTHER.format(project=project)
                    said = SHUT.format(project=project, why=no.sentence)
                    raise KeyShut(f"{said}{lost}") from no
        if not private:
            yield {}
            return
        async with key_agent.offering(private, self._sockets) as socket:
            yield self._environment(project, socket)

    def _environment(self, project: str, socket: Path) -> Mapping[str, str]:
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": str(CONNECT_S),
            "ControlPath": "none",
            "ForwardAgent": "no",
            "GlobalKnownHostsFile": "/dev/null",
            "HostKeyAlias": _alias(project),
            # The agent has one key, and it is tried first; no key of the user's own is named here.
            "IdentitiesOnly": "no",
            "IdentityFile": "none",
            "IdentityAgent": _quoted(socket),
            "StrictHostKeyChecking": "yes",
            "UpdateHostKeys": "no",
            "UserKnownHostsFile": _quoted(self._hosts),
        }
        words = ["ssh"]
        words += [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}


def _quoted(path: Path) -> str:
    """Return a path as ssh's options take it: in one word, and with no %h in it."""
    return f'"{path}"'.replace("%", "%%")


def _alias(project: str) -> str:
    return f"project-{project}"
