"""Our errors, one class for each one who must act on it.

    EngineError
      Refused        the owner asked for what we will not do    -> said on a card
        KeyShut          a key it needs is in a vault that does not open -> waits for the owner
      Unavailable    an outside thing did not answer            -> the loop tries again
        Unreachable      the way to a machine is down           -> for as long as it is
        NoRoom           a disk takes nothing more              -> for as long as it is so
        StreamBroken     set aside after it ended us twice -> waits for the owner; a request hears no
        AccountResting   a provider's limit; knows until when   -> placement waits it out
      Broken         our own data breaks a promise              -> crash; systemd restarts us

An outside thing that answers "no" (red check, conflict) is no error: it is an event.
"""


def ended(sentence: str) -> str:
    """Return a sentence with one mark at its end, whatever it came with."""
    return sentence if sentence.endswith(("?", "!", "…")) else f"{sentence.rstrip('.')}."


class EngineError(Exception):
    """The root of ours: catch a subclass, unless all you do is print it and end."""


class Refused(EngineError):
    """No, and why, in one sentence that goes on a card as it is."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class KeyShut(Refused):
    """Not now: the key it takes is in the vault, which gives it to nobody; nothing was tried."""


class Unavailable(EngineError):
    """No answer now; asking again may help.

    retry_after_s   the other side's own wish, or None when it named none
    """

    def __init__(self, sentence: str, retry_after_s: float | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.retry_after_s = retry_after_s


class Unreachable(Unavailable):
    """The way to a machine is down: what is owed there stays owed until it is up again."""


class NoRoom(Unavailable):
    """A disk is full, or read-only: what is to be written there stays owed until it takes it."""


class AccountResting(Unavailable):
    """A provider's limit on one account.

    until   Unix seconds when it opens again, or None when the provider did not say
    """

    def __init__(self, sentence: str, account: str, until: float | None) -> None:
        super().__init__(sentence)
        self.account = account
        self.until = until


class StreamBroken(Unavailable):
    """This stream is set aside until the owner says what becomes of it."""

    def __init__(self, stream: str, why: str) -> None:
        super().__init__(f"{stream} is set aside: {why}")
        self.stream = stream


class Broken(EngineError):
    """What we stored ourselves breaks a promise; going on would make it worse."""
