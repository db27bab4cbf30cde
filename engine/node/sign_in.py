"""An agent's own login, run for its owner at a terminal of ours: its link and code are read off it.

    login.start ──> fence, pty ──> the agent's CLI        it ends with this node, whatever happens
    login.wait  <── what is new: link, code, whether something must be typed back, how it ended
    login.type  ──> what the owner typed, straight into the pty

What it prints is kept in this process's memory alone, and only what was looked for leaves it: a token it
hands out goes to the engine in one answer, and no line with it anywhere. It sees one folder: the account's
own settings. engine/adapters/sign_in.py says what is looked for; engine/sign_ins.py follows.
Neighbours: screen.py reads the terminal, login.py hands a stored login to sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import shutil
import struct
import termios
from typing import Any, Callable

from engine.node import fence, leftovers, screen
from engine.node.link import Refusal

Fields = dict[str, Any]

FOLDER = "logins"  # below our home: settings of logins that are under way, for no longer
KEPT = "accounts"  # and those an account is signed in with
MOST_S = 30 * 60.0
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_KEEP = 16 * 1024  # bytes of what it printed last
_REACH = 4 * 1024  # of them, looked at again with what is new: a link may come in parts
_AT_ONCE = 4096  # bytes of one read
_LOOK_S = 0.25  # between two looks; a program that prints faster waits for the next
_ROWS, _COLUMNS = 60, 1000  # so wide that no link and no token is broken in two
_WAIT_S = 20.0
_MOST_AT_ONCE = 8
_LONGEST = 4000  # characters of a line: a terminal takes 4096 bytes
_TYPE_S = 0.3  # between what is typed and Enter: in one go an input takes it for a paste


class _Login:
    """One of them."""

    def __init__(self, child: fence.Child, terminal: int, given: Fields) -> None:
        self.child = child
        self.terminal = terminal
        self.given = given
        self.changed = asyncio.Event()
        self.n = 0
        self.raw = b""
        self.typed = ""
        self.taken = set()  # type: set[str]  # what was typed, by what each came of
        self.asked_again = 0  # what had been printed when something was typed
        self.looked = 0  # and when it was looked at last
        self.looked_at = 0.0
        self.look: asyncio.TimerHandle | None = None
        self.told: Fields = {"link": "", "code": "", "asks": False}
        self.token = ""
        self.over = False
        self.why = ""
        self.words = ""
        self.timer: asyncio.TimerHandle | None = None

    def state(self) -> Fields:
        return {
            **self.told,
            "n": self.n,
            "over": self.over,
            "why": self.why,
            "words": self.words,
            "token": self.token if self.over else "",
        }

    def begins(self) -> int:
        """Return where the next look begins: at a line's beginning, if one is near."""
        start = max(0, self.looked - _REACH)
        return self.raw.find(b"\n", start, self.looked) + 1 or start if start else 0

    def still_asks(self) -> bool:
        """Whether it asks since an earlier look; by what must stand last, only as long as it does."""
        last = str((self.given.get("finds") or {}).get("asks") or "").endswith("$")
        return bool(self.told["asks"]) and not last

    def tell(self) -> None:
        self.n += 1
        self.changed.set()


class SignIns:
    """The logins under way on this machine."""

    def __init__(self, home: str, probe: Callable[[], fence.Probe]) -> None:
        self._home = home
        self._probe = probe
        self._logins: dict[str, _Login] = {}
        self._ending: set[asyncio.Future[None]] = set()

    def start(self, login: str, argv: list[str], **given: Any) -> Fields:
        """Start one.

        account   keeps its settings as that account's; without it they go with the login
        config    the folder of settings, where the account has one of its owner's
        env       {name: value}; {config} in a value is that folder
        read      what else it is shown
        finds     {"code", "asks", "token", "failed": patterns}
        file      what must lie in its folder for it to count as done
        limit_s   when it is ended whatever it does
        """
        if not isinstance(login, str) or not _LOGIN.fullmatch(login):
            raise Refusal(f"{login!r} is no name of a login.")
        if login in self._logins:
            return {"started": False}
        if sum(not known.over for known in self._logins.values()) >= _MOST_AT_ONCE:
            raise Refusal("Too many logins are under way on this machine.")
        given["folder"] = folder = self._folder(login, given)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        terminal, end = _terminal()
        try:
            child = self._launch(login, argv, folder, given, end)
        except (OSError, fence.RefusedPath) as error:
            os.close(terminal)
            self._clear(given)
            raise Refusal(f"{os.path.basename(str(argv[0]))} did not start: {error}") from None
        finally:
            os.close(end)
        known = self._logins[login] = _Login(child, terminal, given)
        loop = asyncio.get_running_loop()
        loop.add_reader(terminal, self._read, known)
        limit_s = min(float(given.get("limit_s") or MOST_S), MOST_S)
        minutes = max(1, round(limit_s / 60))
        known.timer = loop.call_later(
            limit_s, self._end, known, f"it was not finished within {minutes} min"
        )
        return {"started": True, "folder": folder}

    def _folder(self, login: str, given: Fields) -> str:
        if given.get("config"):
            return str(given["config"])
        account = str(given.get("account") or "")
        if account and not _LOGIN.fullmatch(account):
            raise Refusal(f"{account!r} is no name of an account.")
        inside = (KEPT, account) if account else (FOLDER, login)
        return os.path.join(self._home, *inside)

    def _launch(
        self, login: str, argv: list[str], folder: str, given: Fields, terminal: int
    ) -> fence.Child:
        env = {key: str(value).replace("{config}", folder) for key, value in given["env"].items()}
        marks = {fence.MARK: f"login-{login}", fence.PLACE: fence.place(self._home)}
        read = tuple(str(path) for path in given.get("read") or ())
        view = fence.View(home=self._home, tree=folder, config_dir=folder, read=read)
        return fence.launch(
            [str(word) for word in argv],
            {**env, **marks},
            view,
            self._probe(),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )

    async def wait(self, login: str, seen: int = 0) -> Fields:
        """Return how it stands once that is news, or after a while; after its end nobody asks again."""
        known = self._known(login)
        if known.n <= seen and not known.over:
            known.changed.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(known.changed.wait(), _WAIT_S)
        told = known.state()
        if known.over:
            self._logins.pop(login, None)
        return told

    async def type_in(self, login: str, line: str, once: str = "") -> Fields:
        """Type a line into it, as its owner would; what came of the same `once` is typed no second time."""
        known = self._known(login)
        if once and once in known.taken:
            return {}
        if known.over:
            raise Refusal("That login has ended.")
        if not line or len(line) > _LONGEST or re.search(r"[\x00-\x1f\x7f]", line):
            raise Refusal(f"What is typed into a login is a line of at most {_LONGEST} characters.")
        known.taken.add(once)
        known.typed, known.asked_again = line, len(known.raw)
        known.told = {**known.told, "asks": False}
        os.write(known.terminal, line.encode("utf-8"))
        await asyncio.sleep(_TYPE_S)
        if not known.over:
            os.write(known.terminal, b"\r")
        known.tell()
        return {}

    def end(self, login: str) -> Fields:
        """End one, if it is there still."""
        known = self._logins.pop(login, None)
        if known is not None:
            self._end(known, "it was cancelled")
        return {}

    async def close(self, within_s: float) -> None:
        """End them all, and see them gone: the link they were asked over is."""
        for login in list(self._logins):
            self.end(login)
        if self._ending:
            await asyncio.wait(self._ending, timeout=within_s)

    def forget(self, account: str) -> Fields:
        """Remove what an account was signed in with here."""
        if not isinstance(account, str) or not _LOGIN.fullmatch(account):
            raise Refusal(f"{account!r} is no name of an account.")
        leftovers.remove(os.path.join(self._home, KEPT, account))
        return {}

    def _known(self, login: str) -> _Login:
        known = self._logins.get(login)
        if known is None:
            raise Refusal("That login is not under way here any more.")
        return known

    # ---- what it prints

    def _read(self, known: _Login) -> None:
        try:
            data = os.read(known.terminal, _AT_ONCE)
        except OSError:  # Linux says so at the end of a terminal
            data = b""
        if not data:
            self._let_go(known)
            self._later(known, self._ended, known.child.wait)
            return
        known.raw += data
        if len(known.raw) > _KEEP:
            cut = len(known.raw) - _KEEP
            known.raw = known.raw[cut:]
            known.asked_again = max(0, known.asked_again - cut)
            known.looked -= cut
        loop = asyncio.get_running_loop()
        if len(known.raw) - known.looked > _KEEP - _REACH - _AT_ONCE:
            loop.remove_reader(known.terminal)  # until that was looked at
        if known.look is None:
            in_s = known.looked_at + _LOOK_S - loop.time()
            known.look = loop.call_later(max(0.0, in_s), self._look_now, known)

    def _look_now(self, known: _Login) -> None:
        known.look = None
        self._look(known)
        loop = asyncio.get_running_loop()
        known.looked_at = loop.time()
        if known.terminal >= 0:
            loop.add_reader(known.terminal, self._read, known)

    def _look(self, known: _Login, *, ended: bool = False) -> None:
        """Find what is looked for in what was printed since the last look, and shortly before."""
        if known.over:
            return
        finds = known.given.get("finds") or {}
        since = known.begins()
        whole = screen.plain(known.raw[since:]) + ("\n" if ended else "")
        fresh = screen.plain(known.raw[max(since, known.asked_again) :]) + ("\n" if ended else "")
        known.looked = len(known.raw)
        if token := screen.first(str(finds.get("token") or ""), whole):
            known.token = token
            self._end(known, "")
            return
        if failed := screen.first(str(finds.get("failed") or ""), fresh):
            self._end(
                known, "it was not accepted", screen.last_line(_up_to(failed, fresh), known.typed)
            )
            return
        told = {
            "link": known.told["link"] or screen.link(whole),
            "code": known.told["code"] or screen.first(str(finds.get("code") or ""), whole),
            "asks": known.still_asks() or bool(screen.first(str(finds.get("asks") or ""), fresh)),
        }
        if told != known.told:
            known.told = told
            known.tell()

    def _let_go(self, known: _Login) -> None:
        if known.terminal >= 0:
            asyncio.get_running_loop().remove_reader(known.terminal)
            os.close(known.terminal)
            known.terminal = -1

    def _ended(self, known: _Login) -> None:
        """It ended by itself: judge whether its owner is signed in now."""
        if known.over:
            return
        self._look(known, ended=True)
        if known.over:
            return
        end = known.child.wait()
        folder, file = known.given["folder"], str(known.given.get("file") or "")
        finds = known.given.get("finds") or {}
        words = screen.last_line(screen.plain(known.raw), known.typed)
        if end.code != 0:
            how = "it was ended" if end.code is None else f"it ended with {end.code}"
            self._end(known, how, words)
        elif finds.get("token"):
            self._end(known, "it ended without a token", words)
        elif file and not os.path.isfile(os.path.join(folder, file)):
            self._end(known, f"it ended without a login: there is no {file}", words)
        else:
            self._end(known, "")

    def _end(self, known: _Login, why: str, words: str = "") -> None:
        """End it, if it has not; `why` is empty where it went well."""
        if known.over:
            return
        known.over, known.why, known.words = True, why, words
        if known.timer is not None:
            known.timer.cancel()
        if known.look is not None:
            known.look.cancel()
        known.raw = b""
        known.typed = ""
        self._let_go(known)
        self._later(known, lambda known: self._clear(known.given), lambda: _killed(known.child))
        known.tell()

    def _later(
        self, known: _Login, then: Callable[[_Login], None], do: Callable[[], object]
    ) -> None:
        """Do what takes its time in a thread, and then what follows."""

        async def both() -> None:
            await asyncio.get_running_loop().run_in_executor(None, do)
            then(known)

        task = asyncio.ensure_future(both())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _clear(self, given: Fields) -> None:
        if not given.get("account") and not given.get("config"):
            shutil.rmtree(given["folder"], ignore_errors=True)


def _killed(child: fence.Child) -> None:
    child.kill()
    child.wait()


def _up_to(failed: str, fresh: str) -> str:
    """Return what was printed up to the words by which it is known to have failed."""
    return fresh[: fresh.index(failed) + len(failed)]


def _terminal() -> tuple[int, int]:
    """Return both ends of a new terminal: wide, and repeating nothing of what is typed."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    mode = termios.tcgetattr(theirs)
    mode[3] &= ~(termios.ECHO | termios.ECHONL)
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    os.set_blocking(ours, False)
    os.set_inheritable(ours, False)
    return ours, theirs
