"""Where everything lies: one folder, QUARTERDECK_HOME, and a name for each thing below it.

The only place that spells these names; engine, bot and the command line all ask here.
Nothing is read or written by this file, folders aside.
"""

import os
from pathlib import Path

from engine.errors import Refused

ENV = "QUARTERDECK_HOME"


class Home:
    """The one folder all our state lives under, made readable by its owner only."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def found(cls) -> "Home":
        """Return the home the environment names, else the platform's own place for state."""
        if named := os.environ.get(ENV):
            return cls(Path(named).expanduser().absolute())
        from platformdirs import user_state_path

        return cls(user_state_path("quarterdeck", appauthor=False))

    def __repr__(self) -> str:
        return f"Home({str(self.root)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def make(self) -> "Home":
        """Make the home and its standing folders, 0700, and return it; safe to repeat.

        raises  Refused when this user may not write there, or nobody may
        """
        try:
            self._make()
        except OSError as error:
            raise Refused(
                f"{self.root} cannot be written to ({error.strerror}). It must be of the user that "
                "runs Quarterdeck, on a disk that is not full and not read-only."
            ) from error
        return self

    def _make(self) -> None:
        for folder in (
            self.root,
            self.secrets,
            self.hubs,
            self.copies,
            self.trees,
            self.runs,
            self.logs,
            self.attached,
            self.node_zipapps,
        ):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The home may have been there before us (mkdir leaves an existing folder's mode alone).
        for folder in (self.root, self.secrets, self.attached):
            folder.chmod(0o700)

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def engine_db(self) -> Path:
        return self.root / "engine.sqlite3"

    @property
    def bot_db(self) -> Path:
        return self.root / "bot.sqlite3"

    @property
    def vault_db(self) -> Path:
        return self.root / "vault.sqlite3"

    @property
    def hubs(self) -> Path:
        return self.root / "hub"

    def hub(self, project: str) -> Path:
        """Return the bare clone of a project that only the engine writes."""
        return self.hubs / f"{project}.git"

    @property
    def copies(self) -> Path:
        return self.root / "copies"

    @property
    def trees(self) -> Path:
        return self.root / "trees"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def attached(self) -> Path:
        """Return the folder of files on their way between chat and agents, each named by its hash."""
        return self.root / "attached"

    @property
    def node_zipapps(self) -> Path:
        """Return the folder of built node programs, each named by the hash of its content."""
        return self.root / "node"

    @property
    def engine_sock(self) -> Path:
        return self.root / "engine.sock"

    @property
    def bot_lock(self) -> Path:
        """Return the file whose kernel lock the one bot holds."""
        return self.root / "bot.lock"

    @property
    def bot_trouble(self) -> Path:
        """Return the file with what the bot cannot say on the phone, while there is such a thing."""
        return self.root / "bot.trouble"

    @property
    def engine_lock(self) -> Path:
        """Return the file whose kernel lock the one engine holds."""
        return self.root / "engine.lock"

    @property
    def engine_alive(self) -> Path:
        """Return the file whose time says when an engine last lived."""
        return self.root / "engine.alive"

    @property
    def backups(self) -> Path:
        """Return the folder of backups that are not put elsewhere; made when it is first needed."""
        return self.root / "backups"

    @property
    def restored(self) -> Path:
        """Return the file that says which backup this home was made from, if it was."""
        return self.root / "restored.json"

    @property
    def alarm(self) -> Path:
        """Return the copy of bot/alarm.py that systemd calls, whatever becomes of our own code."""
        return self.root / "alarm.py"

    @property
    def box_id(self) -> Path:
        """Return the file with this box's name on other machines."""
        return self.root / "box-id"

    @property
    def secrets(self) -> Path:
        return self.root / "secrets"

    @property
    def bot_token(self) -> Path:
        return self.secrets / "bot-token"

    @property
    def pairing(self) -> Path:
        """Return the file that holds the hash of the one-time code, while nobody owns the bot."""
        return self.secrets / "pairing"

    @property
    def group_code(self) -> Path:
        """Return the file that holds the hash of the one-time code by which a group is allowed."""
        return self.secrets / "group-code"

    @property
    def known_hosts(self) -> Path:
        """Return the file of host keys the owner accepted, one line a machine."""
        return self.secrets / "known_hosts"

    @property
    def deploy_keys(self) -> Path:
        """Return the folder of what belongs to projects' own keys: the host keys that were accepted.

        Earlier releases kept the keys themselves there; they are in the vault now.
        """
        return self.secrets / "deploy"

    @property
    def sockets(self) -> Path:
        """Return the folder of sockets for gits of ours, while they run."""
        return self.root / "run"

    @property
    def machine_key(self) -> Path:
        """Return where earlier releases kept what machines let us in by; it is in the vault now."""
        return self.secrets / "machine-key"

    @property
    def vault_key(self) -> Path:
        """Return the private half: only the engine opens it."""
        return self.secrets / "vault.key"

    @property
    def vault_pub(self) -> Path:
        """Return the public half: enough for the bot to seal a pasted key."""
        return self.secrets / "vault.pub"

    @property
    def recovery(self) -> Path:
        """Return the vault's key as only the owner's recovery code opens it."""
        return self.secrets / "recovery"
