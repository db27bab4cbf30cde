"""Quarterdeck as a service of systemd: `quarterdeck service install` and `uninstall`.

    units(service)       the unit files, made from the templates in systemd/
    check(service)       refuses who may not
    install(service)     the steps that put them to work; `uninstall` takes them away again
    perform(step)        takes one step

Two ways. Of the user: units in the user's own folder, which run without a login once linger is on. Of
the system: as the user `quarterdeck`, with its home below /var/lib. Both leave a copy of the alarm
beside our data, so that it works when our code does not. Neighbours: cli.py prints; doctor.py asks
whether what is installed is what we would install.
"""

import os
import pwd
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Refused
from engine.node import network
from engine.paths import ENV, Home

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "systemd"
ALARM = ROOT / "bot" / "alarm.py"
MAIN = ("quarterdeck-engine.service", "quarterdeck-bot.service")

SYSTEM_USER = "quarterdeck"
SYSTEM_HOME = Path("/var/lib/quarterdeck")
SYSTEM_UNITS = Path("/etc/systemd/system")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SYSTEM_PYTHON = Path("/usr/bin/python3")

PATIENCE_S = 360.0  # `systemctl restart` waits until the engine is ready: recovering takes a while


@dataclass(frozen=True)
class Service:
    """Where the units lie, and what they run as whom."""

    system: bool
    home: Home
    units: Path
    python: Path  # an interpreter that has us
    path: str  # where agents' commands are looked for

    @property
    def scope(self) -> tuple[str, ...]:
        return () if self.system else ("--user",)


@dataclass(frozen=True)
class Step:
    """One thing done: a file written (`path`, `text`), a file removed (`path`), or a command."""

    argv: tuple[str, ...] = ()
    path: Path | None = None
    text: str | None = None
    hint: str = ""  # what helps when it fails
    needed: bool = True

    def __str__(self) -> str:
        if self.argv:
            return " ".join(self.argv)
        return f"{'remove' if self.text is None else 'write'} {self.path}"

    @property
    def shown(self) -> str:
        """The text of a unit, for a person to read first."""
        units = self.path is not None and self.path.suffix == ".service"
        return self.text or "" if units else ""


def of_user(home: Home) -> Service:
    """Return the service of the user who asks."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    units = config / "systemd" / "user"
    return Service(False, home, units, _python(), _search_path())


def of_system() -> Service:
    """Return the service of the machine; its home is its own, unless one is named."""
    home = Home.found() if os.environ.get(ENV) else Home(SYSTEM_HOME)
    return Service(True, home, SYSTEM_UNITS, _python(), SYSTEM_PATH)


def _python() -> Path:
    """Return the interpreter that has us, by one name, whichever of its names we were started by."""
    found = Path(sys.prefix, "bin", "python")
    return found if found.exists() else Path(sys.executable)


def _search_path() -> str:
    """Return the caller's own PATH: agents lie where only a login shell looks."""
    folders = dict.fromkeys(os.environ.get("PATH", "").split(":"))
    return ":".join(f for f in folders if f.startswith("/") and Path(f).is_dir()) or SYSTEM_PATH


# ---------------------------------------------------------------- the unit files


def units(service: Service) -> dict[str, str]:
    """Return the unit files by name."""
    words = {
        "python": _quoted(str(service.python)),
        "alarm": f"{_quoted(str(_alarm_python()))} -I -S "
        # In a command's arguments, and only there, systemd looks for variables.
        + _quoted(str(service.home.alarm)).replace("$", "$$"),
        "scope": "--system" if service.system else "",
        "home": _quoted(str(service.home.root)),
        "home_variable": _quoted(f"{ENV}={service.home.root}"),
        "path_variable": _quoted(f"PATH={service.path}"),
        "metadata": " ".join(network.shuttable()),
        "user": SYSTEM_USER,
        "target": "multi-user.target" if service.system else "default.target",
    }
    return {
        template.name: _filled(template.read_text(encoding="utf-8"), words, service.system)
        for template in sorted(TEMPLATES.glob("*.service"))
    }


def _filled(template: str, words: dict[str, str], system: bool) -> str:
    """Fill the words in; lines that begin with `[system] ` are for the system's service alone."""
    lines = []
    for line in template.splitlines():
        if line.startswith("[system] "):
            if not system:
                continue
            line = line.removeprefix("[system] ")
        lines.append(re.sub(r"@(\w+)@", lambda word: words[word[1]], line).rstrip())
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a word as systemd reads it back, whatever stands in it."""
    if not text.isprintable():
        raise Refused(f"systemd takes no such path: {text!r}")
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"'


def _alarm_python() -> Path:
    """Return a Python that is not ours."""
    if SYSTEM_PYTHON.exists():
        return SYSTEM_PYTHON
    return Path(sys.executable).resolve()


# ---------------------------------------------------------------- steps


def check(service: Service) -> None:
    """Refuse, with what to do instead, who may not install or remove it."""
    if service.system and os.geteuid() != 0:
        raise Refused("The system's service is root's to install and to remove: use sudo.")
    if not service.system and os.geteuid() == 0:
        raise Refused(
            "As root, agents would run without a fence. Run it as the user they shall work as, or "
            "with --system, which makes a user for them."
        )


def check_setup(service: Service) -> None:
    """Refuse where there is nothing to run yet."""
    if not service.home.config.exists():
        named = f"sudo {ENV}={service.home.root} " if service.system else ""
        raise Refused(f"There is no setup yet. First: {named}quarterdeck setup")


def install(service: Service) -> Iterator[Step]:
    """Yield what puts the units to work; again, it brings them up to date."""
    yield _reload(service)  # first, since it changes nothing and shows whether systemd answers
    if service.system:
        yield from _own_user(service)
    yield Step(path=service.home.alarm, text=ALARM.read_text(encoding="utf-8"))
    if service.system:
        owned = ("chown", "--recursive", "--no-dereference", "--from=root")
        yield Step((*owned, f"{SYSTEM_USER}:{SYSTEM_USER}", str(service.home.root)))
    for name, text in units(service).items():
        yield Step(path=service.units / name, text=text)
    yield _reload(service)
    if not service.system:
        yield Step(
            ("loginctl", "enable-linger", _who()),
            hint=f"Without it all ends when you log out: sudo loginctl enable-linger {_who()}",
            needed=False,
        )
    yield Step(("systemctl", *service.scope, "enable", *MAIN))
    # Runs of agents notice nothing of it.
    yield Step(
        ("systemctl", *service.scope, "restart", *MAIN),
        hint=f"journalctl {' '.join((*service.scope, '-u'))} quarterdeck-engine -n 50 says why; a "
        "`quarterdeck up` in a terminal must be ended first.",
    )


def uninstall(service: Service) -> Iterator[Step]:
    """Yield what ends the service and takes its units away; home and data stay."""
    here = [name for name in units(service) if (service.units / name).exists()]
    if not here:
        raise Refused(f"No service is installed in {service.units}.")
    yield Step(("systemctl", *service.scope, "disable", "--now", *MAIN))
    for name in here:
        yield Step(path=service.units / name)
    yield _reload(service)


def perform(step: Step) -> None:
    """Take one step; raises Refused with what the system said and what helps."""
    if step.argv:
        _run(step)
    elif step.path is not None and step.text is None:
        step.path.unlink(missing_ok=True)
    elif step.path is not None and step.text is not None:
        _put(step.path, step.text)


def _run(step: Step) -> None:
    try:
        done = subprocess.run(
            step.argv,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL,
            env=_environment(),
        )
    except FileNotFoundError:
        raise Refused(f"There is no {step.argv[0]} here. {step.hint}".rstrip()) from None
    except subprocess.TimeoutExpired:
        raise Refused(f"`{step}` does not come back. {step.hint}".rstrip()) from None
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split()) or f"exit {done.returncode}"
        raise Refused(f"`{step}` failed: {said} {step.hint}".rstrip())


def _environment() -> dict[str, str]:
    """Return ours, with the way to the user's own systemd: `sudo -u` and `su` leave it out."""
    runtime = f"/run/user/{os.getuid()}"
    found = {"XDG_RUNTIME_DIR": runtime} if Path(runtime).is_dir() else {}
    return found | dict(os.environ)


def _put(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.write_text(text, encoding="utf-8")
    half.replace(path)


def _reload(service: Service) -> Step:
    hint = (
        "Is this machine run by systemd?"
        if service.system
        else "Log in as this user for it (ssh, not su); without systemd, use `quarterdeck up`."
    )
    return Step(("systemctl", *service.scope, "daemon-reload"), hint=hint)


def _own_user(service: Service) -> Iterator[Step]:
    """Make the user, and see whether it can read our code at all."""
    try:
        pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        yield Step(
            (
                *("useradd", "--system", "--user-group", "--shell", "/usr/sbin/nologin"),
                *("--home-dir", str(service.home.root), "--no-create-home", SYSTEM_USER),
            )
        )
    as_user = ("setpriv", f"--reuid={SYSTEM_USER}", f"--regid={SYSTEM_USER}", "--clear-groups")
    yield Step(
        (*as_user, str(service.python), "-P", "-c", "import bot, engine, stores"),
        hint=f"The user {SYSTEM_USER} must be able to read {ROOT} and to run {service.python}: "
        "put Quarterdeck where all may read it, such as /opt/quarterdeck.",
    )


def _who() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


# ---------------------------------------------------------------- looking


def installed(home: Home) -> tuple[Service, bool] | None:
    """Return the service whose units are there, and whether they are as we would write them now."""
    for service in (of_user(home), Service(True, home, SYSTEM_UNITS, _python(), "")):
        found = service.units / MAIN[0]
        if found.exists():
            return service, _same(service)
    return None


def _same(service: Service) -> bool:
    """Compare without PATH, which is the installing shell's own, and with the alarm's copy."""
    wanted = {service.units / name: text for name, text in units(service).items()}
    wanted[service.home.alarm] = ALARM.read_text(encoding="utf-8")
    try:
        return all(
            _but_path(path.read_text(encoding="utf-8")) == _but_path(text)
            for path, text in wanted.items()
        )
    except OSError:
        return False


def _but_path(text: str) -> str:
    return re.sub(r'"PATH=[^"]*"', "", text)


def is_active(service: Service, unit: str) -> bool:
    """Ask systemd whether a unit runs."""
    try:
        perform(Step(("systemctl", *service.scope, "is-active", "--quiet", unit)))
    except Refused:
        return False
    return True


def lingers() -> bool:
    """Say whether this user's services run without a login."""
    return Path("/var/lib/systemd/linger", _who()).exists()
