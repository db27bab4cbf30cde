"""Stored keys as an agent may ask for them: which there are for its session, and what is wrong with a request.

    secrets            names and where each may be used; never a value
    run_with_secret    looked over here, then put to the owner (rules/asking.py)

Pure. Neighbours: calls.py (the desk's calls), rules/keyed_rule.py (what is asked for, and what Always keeps).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from engine.rules import keyed_run
from engine.rules.keyed_rule import Wanted
from engine.rules.session_state import Session
from engine.rules.words import HERE
from stores.vault import Secret, in_words

MOST_NAMES: Final = 10
MOST_COMMAND: Final = 20_000  # characters of a command: more is read by nobody
MOST_WHY: Final = 2_000
SHOWN: Final = 200  # names in a list
# What says to programs where to go, whom to believe or what to run: a key under such a name would change
# what the owner was shown.
_STEERING: Final = re.compile(
    r".*PATH|.*HOME|USER|SHELL|TERM|TMPDIR|TMP|TEMP|LANG|LC_.*|IFS|ENV|BASH.*|ZDOTDIR|PS4|PROMPT_COMMAND"
    r"|LD_.*|GLIBC_.*|GCONV_.*|DYLD_.*|QUARTERDECK_.*|MALLOC_.*|XDG_.*"
    r"|PYTHON.*|NODE_(OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)|PERL5.*|PERL_.*|RUBY(OPT|LIB|SHELL)"
    r"|_?JAVA_.*OPTIONS|.*_(OPTIONS|OPTS)|BUNDLE_GEMFILE|PHPRC|PHP_INI_SCAN_DIR|LUA_INIT.*"
    r"|GIT_.*|HGRC.*|SSH_(ASKPASS|AUTH_SOCK|COMMAND).*|SVN_.*|EDITOR|VISUAL|.*PAGER|BROWSER|LESS(OPEN|CLOSE)"
    r"|.*PROXY|SSL_CERT_.*|SSLKEYLOGFILE|.*_CA_(BUNDLE|CERTS?|FILE)|OPENSSL_(CONF|ENGINES|MODULES)"
    r"|NPM_CONFIG_.*|YARN_(RC_FILENAME|REGISTRY).*|PIP_.*|UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL)"
    r"|AWS_(ENDPOINT_.*|CONFIG_FILE|SHARED_CREDENTIALS_FILE|PROFILE)|.*_(BASE_URL|API_BASE|ENDPOINT(_URL.*)?)"
    r"|KUBECONFIG|DOCKER_(HOST|CONFIG|CONTEXT|CERT_.*)|RESOLV_.*|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS"
    r"|CC|CXX|LD|.*FLAGS|.*_WRAPPER|GOENV|GOTOOLCHAIN|RUSTUP_TOOLCHAIN|CARGO_(BUILD|TARGET|ALIAS)_.*"
)
STEERS: Final = (
    "{name} is a name by which programs are told where to go or what to run, so no command is given a key "
    "under it: the owner can rename it in /keys."
)


def steers(name: str) -> bool:
    """Whether a variable of that name changes where a command goes, or what runs."""
    return bool(_STEERING.fullmatch(name.upper()))


def is_for(key: Secret, session: Session) -> bool:
    """Whether a key may be used where a session is."""
    there = (f"project/{session.project}", f"machine/{session.machine or HERE}")
    return not key.scope or key.scope in there


def listed(keys: Sequence[Secret], session: Session) -> str:
    """Name the keys that a session may ask for."""
    own = [key for key in keys if is_for(key, session) and not key.refused]
    if not own:
        return (
            "There is no key you may ask for. If you need one, ask_owner: the owner pastes it to the bot, "
            "or says in /keys where one may be used."
        )
    lines = [f"- {key.name}: for {in_words(key.scope)}" for key in own[:SHOWN]]
    more = [f"… and {len(own) - SHOWN} more"] if len(own) > SHOWN else []
    return "\n".join(
        [
            "You may ask for these, each by run_with_secret, which gives a command its value in the "
            "variable of that name; you never see it:",
            *lines,
            *more,
        ]
    )


def wrong(
    names: Sequence[str],
    argv: Sequence[str],
    why: str,
    keys: Sequence[Secret],
    session: Session,
    *,
    fenced: bool,
) -> str:
    """Say in one sentence what is wrong with a request, and what to do; "" if it may be put."""
    if not fenced:
        return (
            f"{session.machine or HERE} is unfenced, and unfenced machines take no secret: ask the owner "
            "to have this done on a fenced one."
        )
    return (
        _names_wrong(names, keys, session)
        or _argv_wrong(argv, names)
        or _rest_wrong(Wanted(tuple(names), tuple(argv)), why, session)
    )


def _names_wrong(names: Sequence[str], keys: Sequence[Secret], session: Session) -> str:
    known = {key.name: key for key in keys}
    own = ", ".join(key.name for key in keys if is_for(key, session))[:500] or "none"
    if not names:
        return f"`names` is empty: name the keys the command needs; there are: {own}."
    if len(set(names)) != len(names) or len(names) > MOST_NAMES:
        return f"`names` has a key twice, or more than {MOST_NAMES}: name each that is needed once."
    for name in names:
        if steers(name):
            return STEERS.format(name=name[:100])
        key = known.get(name)
        if key is None:
            return f"there is no key {name[:100]!r} for you; there are: {own}. See `secrets`."
        if not is_for(key, session):
            return (
                f"{name} is for {in_words(key.scope)} only, and you are in project {session.project} on "
                f"{session.machine or HERE}: ask the owner to change that in /keys."
            )
        if key.refused:
            return f"{name} cannot be opened in the vault: ask the owner to give it again."
    return ""


def _argv_wrong(argv: Sequence[str], names: Sequence[str]) -> str:
    if not argv or not argv[0].strip():
        return (
            '`argv` is empty: give the program and each argument by itself, ["curl", "-sS", "…"].'
        )
    if len(argv) == 1 and (len(argv[0].split()) > 1 or set(argv[0]) & set("|&;<>$`'\"")):
        return (
            "`argv` is one string, and no shell reads it: give the program and each argument by itself, "
            f'like {_split(argv[0])}, or ["sh", "-c", "…"] if it needs a shell.'
        )
    if argv[0].lstrip("-") != argv[0] or "=" in argv[0].partition("/")[0]:
        return "the first of `argv` must be the program, not an option or a variable."
    for name in names:
        odd = next((word for word in argv if f"{{{{{name}}}}}" in word), "")
        if odd:
            return (
                f"nothing is put in place of {{{{{name}}}}} in `argv`: the command finds the value in its "
                f"variable {name}."
            )
    return ""


def _split(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return "[" + ", ".join(f'"{word}"' for word in words[:4]) + (", …]" if len(words) > 4 else "]")


def _rest_wrong(asked: Wanted, why: str, session: Session) -> str:
    if len(asked.command) > MOST_COMMAND:
        return (
            f"the command is longer than {MOST_COMMAND} characters, which nobody reads on a phone: put it "
            "into a file of your tree and run that."
        )
    if not why.strip() or len(why) > MOST_WHY:
        return f"say `why` in a sentence or two, at most {MOST_WHY} characters: the owner reads it."
    if keyed_run.is_open(session, asked):
        return "that very command is with the owner, or runs: end your turn and wait for it."
    if keyed_run.count(session) >= keyed_run.OPEN_AT_ONCE:
        return f"{keyed_run.OPEN_AT_ONCE} of yours wait already: end your turn and wait for those."
    return ""
