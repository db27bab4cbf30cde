"""A key of its own for each project that is reached over SSH: git here signs in with it, nobody else.

    secrets/deploy/<project>/key     the private half, 0600
    secrets/deploy/<project>/for     the address it was made for: a forge takes a key for one repository
    secrets/deploy/.known_hosts      the host keys the owner accepted, a line a project

Made only where the box's own user is not let in. With one, git runs with this key, this host key and no
other (`environment`). Neighbours: hub.py and sources.py run git, known_hosts.py keeps the lines, ssh.py
asks a host for its key, taking_in.py leads the owner through.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from engine.adapters import keypair, known_hosts

CONNECT_S = 20

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
    """All of a home's deploy keys; `folder` lies below secrets/."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hosts = folder / ".known_hosts"  # no project's name begins so

    def has(self, project: str, source: str) -> bool:
        """Whether there is a key for this project at this address."""
        made_for = self._made_for(project)
        return made_for.exists() and made_for.read_text(encoding="utf-8") == source

    def make(self, project: str, source: str) -> str:
        """Return the public line of the project's key, making it if there is none for `source`."""
        if not self.has(project, source):
            self.forget(project)
        line = keypair.public_line(self._key(project), f"quarterdeck-{project}")
        self._made_for(project).write_text(source, encoding="utf-8")
        return line

    def trusted(self, project: str) -> str:
        """Return the host key that was accepted for the project, "" if none was."""
        return next(iter(known_hosts.trusted(self._hosts, _alias(project))), "")

    def trust(self, project: str, key: str) -> None:
        """Keep the host key the owner accepted."""
        known_hosts.trust(self._hosts, _alias(project), key)

    def forget(self, project: str) -> bool:
        """Throw the key away; return whether there was one."""
        there = self._key(project).exists()
        if self._hosts.exists():
            known_hosts.forget(self._hosts, _alias(project))
        shutil.rmtree(self._folder / project, ignore_errors=True)
        return there

    def environment(self, project: str, url: str) -> Mapping[str, str]:
        """Return what git is told for this address: nothing where the box's own way in is used."""
        if not host_of(url) or not self._made_for(project).exists():
            return {}
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": str(CONNECT_S),
            "ControlPath": "none",
            "ForwardAgent": "no",
            "GlobalKnownHostsFile": "/dev/null",
            "HostKeyAlias": _alias(project),
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "StrictHostKeyChecking": "yes",
            "UpdateHostKeys": "no",
            "UserKnownHostsFile": f'"{self._hosts}"',
        }
        words = ["ssh", "-i", str(self._key(project))]
        words += [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}

    def _key(self, project: str) -> Path:
        return self._folder / project / "key"

    def _made_for(self, project: str) -> Path:
        return self._folder / project / "for"


def _alias(project: str) -> str:
    return f"project-{project}"
