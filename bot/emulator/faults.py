"""Bad weather, ordered by tests: what the next calls of a method meet instead of calm.

    emulator.faults.flood("sendMessage", retry_after=3)
    emulator.faults.cut("sendMessage", done=True)      # the message exists, nobody knows

Each order serves `times` calls; "*" is any method but getUpdates, which must be named.
server.py takes the next order with `take` and acts on it.
"""

from msgspec import Struct


class Refuse(Struct, frozen=True):
    """Answer an error of the API."""

    code: int
    description: str
    parameters: dict[str, int] = {}


class Gateway(Struct, frozen=True):
    """Answer a page of HTML, as a proxy in front of the API does."""

    code: int
    done: bool


class Odd(Struct, frozen=True):
    """Answer what Telegram never says, with any status."""

    code: int
    body: str


class Tear(Struct, frozen=True):
    """Answer half of it and drop the connection; `done` tells whether the work was done."""

    done: bool


class Silence(Struct, frozen=True):
    """Never answer; `done` tells whether the work was done all the same."""

    done: bool


class Cut(Struct, frozen=True):
    """Drop the connection; `done` tells whether the work was done all the same."""

    done: bool


class Slow(Struct, frozen=True):
    """Do the work at once, answer late."""

    seconds: float


Fault = Refuse | Gateway | Odd | Tear | Silence | Cut | Slow


class Faults:
    """The orders not yet served, and the switches that last. Method "file" is a file's download."""

    def __init__(self) -> None:
        self._orders: list[tuple[str, Fault]] = []
        self.revoked = False
        self.webhook = ""
        self.misplace_topics = False  # sends into a deleted topic land outside every topic
        self.file_path = ""  # named by getFile in place of the true one
        self.file_longer = 0  # bytes that getFile names too many

    def flood(self, method: str = "*", retry_after: int = 3, times: int = 1) -> None:
        """Answer 429 with `retry_after`."""
        text = f"Too Many Requests: retry after {retry_after}"
        self._add(method, Refuse(429, text, {"retry_after": retry_after}), times)

    def error(self, method: str, code: int, description: str, times: int = 1) -> None:
        """Answer any error of the API, word for word."""
        self._add(method, Refuse(code, description), times)

    def gateway(
        self, method: str = "*", code: int = 502, times: int = 1, done: bool = False
    ) -> None:
        """Answer an HTML page with status `code`."""
        self._add(method, Gateway(code, done), times)

    def odd(self, method: str, body: str, code: int = 200, times: int = 1) -> None:
        """Answer `body` in place of Telegram, as a portal or a proxy does."""
        self._add(method, Odd(code, body), times)

    def tear(self, method: str, done: bool, times: int = 1) -> None:
        """Drop the connection in the middle of the answer."""
        self._add(method, Tear(done), times)

    def silence(self, method: str, done: bool, times: int = 1) -> None:
        """Leave the client without an answer until it gives up."""
        self._add(method, Silence(done), times)

    def cut(self, method: str, done: bool, times: int = 1) -> None:
        """Drop the connection in place of an answer."""
        self._add(method, Cut(done), times)

    def slow(self, method: str, seconds: float, times: int = 1) -> None:
        """Answer `seconds` late."""
        self._add(method, Slow(seconds), times)

    def calm(self) -> None:
        """Forget every order not yet served."""
        self._orders.clear()

    def pending(self) -> int:
        """Return how many orders were not served yet."""
        return len(self._orders)

    def take(self, method: str) -> Fault | None:
        """Return what this call meets, and count it served."""
        for place, (wanted, fault) in enumerate(self._orders):
            if wanted.lower() == method.lower() or (wanted == "*" and method != "getUpdates"):
                del self._orders[place]
                return fault
        return None

    def _add(self, method: str, fault: Fault, times: int) -> None:
        self._orders += [(method, fault)] * times
