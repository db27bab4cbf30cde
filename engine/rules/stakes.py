"""What a request would do that only its owner may allow: it cannot be undone, costs money, opens an account.

    git push -f origin main      overwrites a branch        gh release create v2   publishes
    psql -c 'drop table orders'  deletes data               terraform apply        changes a cloud
    mcp__stripe__create_charge   spends                     mail you@example.org   sends

Told from names, by a table: in doubt it says more, since that costs one tap, and it never says that
anything is harmless. What it cannot read to its end is a stake itself ("tangled"): too long, too deep, a
quote left open, `eval`. What hides its words (a script's file, a variable's value) is not seen.
No lead, mode or rule kept by Always answers what is found here. Pure. Neighbours: asking.py asks it of
every permission, irreversible.py is wider and says what Always never keeps, bot/text_stakes.py words it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Any, Final

from engine.rules import here_docs
from engine.rules.irreversible import words_of
from engine.rules.shell import named
from engine.rules.words import Peril, Stake

MOST: Final = 3  # stakes of one request that are told
MOST_WORDS: Final = 4_000  # of a command: one of more is too long to be judged
_MOST_TRIED: Final = 60  # of its words that name a program known here
_DEEP: Final = 4
_NAME: Final = 120  # characters kept of a name

Told = Stake | None


def of_request(tool: str, input_json: str, *, unfenced: bool = False) -> tuple[Stake, ...]:
    """Return what a tool's use puts at stake, the surest first; () where nothing known is."""
    try:
        given: Any = json.loads(input_json or "{}")
    except (ValueError, RecursionError):
        if '"command"' in input_json or '"cmd"' in input_json:
            return (_TANGLED,)
        given = {}
    command = given.get("command", given.get("cmd")) if isinstance(given, dict) else None
    if isinstance(command, list):
        command = shlex.join(str(word) for word in command)
    if isinstance(command, str):
        return of_command(command, unfenced=unfenced)
    found = _tool(tool)
    return (found,) if found else ()


def of_command(text: str, *, unfenced: bool = False) -> tuple[Stake, ...]:
    """Return what a command line puts at stake; within a fence no files but its own tree's are."""
    found: dict[Stake, None] = {}
    runs, carried = here_docs.apart(text.replace(_MARK, ""))
    for stake in chain(_in_line(runs, 0), *(_in_line(one, 0, False) for one in carried)):
        if unfenced or stake.what not in _OF_THE_MACHINE:
            found.setdefault(stake)
    ordered = sorted(found, key=lambda stake: stake.what in _LIGHTER)
    return tuple(ordered[:MOST])


def _stake(what: str, *names: str, peril: Peril = Peril.IRREVERSIBLE) -> Stake:
    return Stake(peril, what, tuple(name[:_NAME] for name in names if name))


_MARK: Final = "\x01"  # stands for a backtick
_TANGLED: Final = Stake(Peril.IRREVERSIBLE, "tangled")
_LIGHTER: Final = ("push", "sends", "tangled")  # said after what is surer
_OF_THE_MACHINE: Final = ("files", "disk")

# ---------------------------------------------------------------- a line, taken apart loosely

_READS: Final = named("sh bash zsh dash ksh fish")  # run what they are given to read
_SHELLS: Final = _READS | named("eval ssh su xargs parallel watch script flock trap alias")
_INTERPRETERS: Final = named("python python3 node deno bun ruby perl php lua osascript")
# What runs the words behind it; where those begin is not worked out: each word is tried.
_CARRIERS: Final = named(
    "sudo doas env nohup time timeout nice ionice setsid stdbuf command exec builtin then do else if "
    "while until ! { npx bunx uvx pipx dlx xargs parallel watch ssh su flock strace caffeinate "
    "winpty chroot unbuffer docker podman kubectl uv poetry pdm pipenv hatch bundle mise asdf direnv "
    "python python3 dotenv op doppler chronic eval coproc function busybox toybox find"
)
_SET: Final = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_WORD: Final = re.compile(r"[\w./:@+=-]+")
_ENDS: Final = "();<>|&\n"


def _in_line(text: str, depth: int, strict: bool = True) -> Iterator[Stake]:
    """Judge each command of a line; where not strict, it may be no line at all: a message, a program."""
    tokens, whole = _tokens(text, strict)
    if strict and not whole:
        yield _TANGLED
    before, words = "", list[str]()
    for token in [*tokens, ";"]:
        if not token or token.strip(_ENDS):
            words.append(token)
            continue
        if words:
            yield from _in_words(words, before, depth, strict)
        before, words = token, []


def _tokens(text: str, strict: bool) -> tuple[list[str], bool]:
    """The words and ends of a line, and whether they are all; quotes are taken off."""
    lexer = shlex.shlex(text.replace("`", f"{_MARK} ; "), posix=True, punctuation_chars=_ENDS)
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        tokens = list(islice(lexer, MOST_WORDS + 1) if strict else lexer)
    except ValueError:  # a quote that is never closed
        return re.findall(r"[();<>|&\n]+|[^\s();<>|&'\"]+", text)[:MOST_WORDS], False
    return tokens[:MOST_WORDS] if strict else tokens, len(tokens) <= MOST_WORDS


def _in_words(raw: Sequence[str], before: str, depth: int, strict: bool) -> Iterator[Stake]:
    while raw and (_SET.fullmatch(raw[0]) or raw[0] in ("!", "{")):
        raw = raw[1:]
    if not raw:
        return
    words = [word.replace(_MARK, "") for word in raw]
    name = _program(words[0])
    if name == "eval" or (strict and _worked_out(raw[0])) or _reads(name, words, before):
        yield _TANGLED
    found = _simple_command(name, words[1:])
    if found is not None:
        yield found
    if "<<<" in before:
        yield from _in_line(raw[0], depth + 1, False)
    inner = name in _SHELLS or name in _CARRIERS
    if depth >= _DEEP:
        if strict and inner and any(re.search(r"\s", word) for word in words[1:]):
            yield _TANGLED
        return
    if inner:
        shell = name in _SHELLS or any(_program(word) in _SHELLS for word in words[1:])
        for word in raw[1:]:
            if re.search(r"\s", word):
                told = word.partition("=")[2] if name == "alias" else word
                yield from _in_line(told, depth + 1, strict and shell)
    runs = name in _AWKS and any("system" in word or "|" in word for word in words)
    if name in _INTERPRETERS or runs:
        yield from _anywhere([part for word in words[1:] for part in _WORD.findall(word)])
    elif name in _CARRIERS and (name != "find" or any(word in _EXECS for word in words)):
        yield from _anywhere(words[1:])


_EXECS: Final = named("-exec -execdir -ok -okdir")
_AWKS: Final = named("awk gawk mawk nawk")


def _worked_out(word: str) -> bool:
    """Whether the program is what another command prints."""
    return word in ("$", _MARK) or "$(" in word or (_MARK in word and " " in word)


def _reads(name: str, words: Sequence[str], before: str) -> bool:
    """Whether a shell runs what is piped to it."""
    piped = "|" in before and before.strip() != "||"
    return (
        piped
        and name in _READS
        and all(word.startswith("-") for word in words[1:])
        and (not any(re.fullmatch(r"-[a-z]*c", word) for word in words[1:]))
    )


def _anywhere(words: Sequence[str]) -> Iterator[Stake]:
    known = [at for at, word in enumerate(words) if _known(_program(word))]
    if len(known) > _MOST_TRIED:
        yield _TANGLED
    for at in known[:_MOST_TRIED]:
        found = _simple_command(_program(words[at]), words[at + 1 :])
        if found is not None:
            yield found


def _known(name: str) -> bool:
    return name in _PROGRAMS or name.startswith("mkfs")


def _program(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe")


def _simple_command(name: str, rest: Sequence[str]) -> Told:
    if name.startswith("mkfs"):
        return _stake("disk", name)
    judge = _PROGRAMS.get(name)
    return judge(name, rest) if judge is not None else None


def _plain(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


# ---------------------------------------------------------------- git

_GIT_VALUED: Final = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")
_PUSH_VALUED: Final = ("-o", "--push-option", "--repo", "--receive-pack", "--exec")


def _git(_name: str, words: Sequence[str]) -> Told:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GIT_VALUED else rest[1:]
    verb, arguments = (rest[0], rest[1:]) if rest else ("", [])
    flags = {word.partition("=")[0] for word in arguments if word.startswith("-")}
    names = _plain(arguments)
    match verb:
        case _ if "$" in verb:
            return _TANGLED
        case "push":
            return _push(arguments, flags)
        case "send-email" | "imap-send":
            return _stake("mail")
        case "branch" if _short(flags, "D") or (
            _short(flags, "d", "--delete") and _short(flags, "f", "--force")
        ):
            return _stake("branch here", *names)
        case "tag" if _short(flags, "d", "--delete"):
            return _stake("tag here", *names)
        case "svn" if names[:1] == ["dcommit"]:
            return _stake("push", "svn")
        case _:
            return None


def _short(flags: set[str], letter: str, *long: str) -> bool:
    """Whether a flag is among them, alone or with other letters."""
    together = any(not flag.startswith("--") and letter in flag[1:] for flag in flags)
    return together or any(name in flags for name in long)


def _push(arguments: Sequence[str], flags: set[str]) -> Told:
    if _short(flags, "n", "--dry-run"):
        return None
    told = [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if not word.startswith("-") and before not in _PUSH_VALUED
    ]
    remote, refs = (told[0], told[1:]) if told else ("", [])
    gone = [ref[1:] for ref in refs if ref.startswith(":") and len(ref) > 1]
    if _short(flags, "d", "--delete"):
        gone += [ref for ref in refs if not ref.startswith(":")]
    if gone:
        tags = all(ref.startswith("refs/tags/") for ref in gone) or gone == ["tag"]
        short = [re.sub(r"^refs/(heads|tags)/", "", ref) for ref in gone]
        return _stake("tag there" if tags else "branch there", remote, ", ".join(short))
    forced = {"--force", "--force-with-lease", "--force-if-includes", "--mirror", "--prune"} & flags
    over = [ref[1:] for ref in refs if ref.startswith("+")]
    if forced or over or _short(flags, "f"):
        onto = [ref.lstrip("+").rpartition(":")[2] for ref in over or refs]
        return _stake("force push", remote, ", ".join(onto))
    return _stake("push", remote, ", ".join(refs))


# ---------------------------------------------------------------- what publishes, sends, spends

_PUBLISHING: Final = named("publish unpublish deprecate yank submit release deploy push")
_GROUPS: Final = named("run run-script exec npm nuget trunk pub hex git package build")


_NPM_OTHER: Final = named(
    "run run-script test t install i add ci exec view info search audit x dlx"
)
_NPM_OUT: Final = re.compile(r"pub(l(i(sh?)?)?)?|unp(u(b(l(i(sh?)?)?)?)?)?").fullmatch


def _packager(name: str, words: Sequence[str]) -> Told:
    """npm, cargo, gem …: what of theirs goes out to a registry, or opens an account there."""
    plain = [word.lower() for word in _plain(words)]
    if {"adduser", "add-user", "signup", "register"} & set(plain[:2]):
        return _stake("account", name, peril=Peril.ACCOUNT)
    if "--dry-run" in words or not plain:
        return None
    if name in ("npm", "pnpm") and plain[0] not in _NPM_OTHER and any(map(_NPM_OUT, plain)):
        return _stake("publishes", f"{name} {' '.join(plain[:2])}")
    verbs = set(words_of(plain[0]))
    if plain[0] in _GROUPS and len(plain) > 1:
        verbs |= set(words_of(plain[1]))
    out = verbs & _PUBLISHING or {"publish", "unpublish", "dist-tag"} & set(plain[:3])
    return _stake("publishes", f"{name} {' '.join(plain[:2])}") if out else None


def _builder(name: str, words: Sequence[str]) -> Told:
    """mvn, gradle, rake …: a target that publishes, deploys or drops."""
    for word in _plain(words):
        parts = set(words_of(word))
        if parts & {"drop", "reset", "purge", "wipe"} and parts & {"db", "database", "schema"}:
            return _stake("data", f"{name} {word}")
        if parts & {"publish", "deploy", "release", "upload"} and not parts & {"dry", "check"}:
            return _stake("publishes", f"{name} {word}")
    return None


def _always(what: str, peril: Peril = Peril.IRREVERSIBLE) -> Callable[[str, Sequence[str]], Told]:
    def judge(name: str, words: Sequence[str]) -> Told:
        if {"--help", "--version", "-h"} & set(words):
            return None
        return _stake(what, " ".join([name, *_plain(words)[:2]]), peril=peril)

    return judge


_LOOKS: Final = named(
    "list ls get describe show view status diff checks check log logs help version whoami info plan "
    "validate fmt init top explain search inspect ps images history events config context contexts "
    "outputs output graph providers workspace metadata token doctor tail cat stat du current locate "
    "watch browse clone checkout fork lint template dependency repo-list verify-credentials"
)
_LOOKS_BEGIN: Final = ("list-", "get-", "describe-", "show-", "head-", "search-", "lookup-")
_HOST_LOOKS: Final = named(
    "list view status diff checks watch download clone checkout browse search verify"
)


def _cloud(name: str, words: Sequence[str]) -> Told:
    """What speaks to somebody's cloud: all but looking."""
    plain = [word for word in _plain(words)[:4] if word.isascii()]
    if {"--help", "--dry-run", "-h"} & set(words):
        return None
    if not plain:  # some deploy where nothing is said
        return _stake("cloud", f"{name} --prod") if "--prod" in words else None
    looks = any(word in _LOOKS or word.startswith(_LOOKS_BEGIN) for word in plain[:3])
    return None if looks else _stake("cloud", " ".join([name, *plain[:3]]))


def _code_host(name: str, words: Sequence[str]) -> Told:
    plain = _plain(words)
    if not plain or plain[0] in ("auth", "status", "search", "browse", "config", "help", "alias"):
        return None
    if plain[0] == "api":
        method = _after(words, "-X", "--method").upper()
        sends = any(word in ("-f", "-F", "--field", "--raw-field", "--input") for word in words)
        if (method or ("POST" if sends else "GET")) in ("GET", "HEAD"):
            return None
        return _stake("code host", f"{name} api {method} {(plain[1:] or [''])[-1]}".strip())
    if len(plain) < 2 or plain[1] in _HOST_LOOKS:
        return None
    what = "publishes" if plain[0] == "release" and plain[1] in ("create", "upload", "edit") else ""
    return _stake(what or "code host", " ".join([name, *plain[:3]]))


# curl's letters that take no value, so that others may stand behind them: -sX DELETE
_CURL_FLAGS: Final = r"-[#0-9aBfgGiIjJklLMnNOpqRsSvVZ]+"


def _parted(word: str) -> list[str]:
    found = re.fullmatch(rf"{_CURL_FLAGS}([XdFT].*)", word, re.DOTALL)
    return [f"-{found[1]}"] if found else [word]


def _after(words: Sequence[str], *flags: str) -> str:
    """The value of one of these options, apart or joined to it."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in flags:
            return value if equals else (words[at + 1] if at + 1 < len(words) else "")
        for flag in flags:
            if not flag.startswith("--") and word.startswith(flag) and len(word) > len(flag):
                return word[len(flag) :]
    return ""


_NEAR: Final = re.compile(
    r"(https?://)?(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(:\d+)?(/.*)?"
)
_BODIES: Final = ("-d", "-F", "-T", "--data", "--form", "--json", "--upload-file", "--post-data")


def _web(name: str, words: Sequence[str]) -> Told:
    """curl and its like: what sends more than a question, elsewhere than to this machine."""
    if name == "curl":
        words = [part for word in words for part in _parted(word)]
    addresses = [w for w in _plain(words) if "://" in w or re.match(r"[\w-]+(\.[\w-]+)+(/|:|$)", w)]
    if any(w.startswith(("smtp://", "smtps://")) for w in words):
        return _stake("mail")
    if addresses and all(_NEAR.fullmatch(word) for word in addresses):
        return None
    method = _after(words, "-X", "--request", "--method").upper()
    if name in ("http", "https", "xh"):
        method = method or next((w for w in words if w in ("POST", "PUT", "PATCH", "DELETE")), "")
    body = any(w.startswith(_BODIES) for w in words if w.startswith("-"))
    if method in ("POST", "PUT", "PATCH", "DELETE") or (body and method not in ("GET", "HEAD")):
        host = re.sub(r"^\w+://", "", addresses[0]).partition("/")[0] if addresses else ""
        return _stake("sends", method or "POST", host.rpartition("@")[2])
    return None


# ---------------------------------------------------------------- data

_SQL: Final = re.compile(
    r"\b(drop\s+(?:table|database|schema|view|index|user|role|column|owned)|truncate\s+\w+|"
    r"delete\s+from|dropdatabase|flushall|flushdb|drop\s*\()\b[^;]{0,60}",
    re.IGNORECASE,
)


def _database(name: str, words: Sequence[str]) -> Told:
    found = _SQL.search(" ".join(words))
    if found:
        return _stake("data", " ".join(found[0].split()))
    if name in ("mysqladmin", "pg_ctl") and "drop" in words:
        return _stake("data", name)
    return None


def _framework(name: str, words: Sequence[str]) -> Told:
    told = " ".join(_plain(words)[:3]).lower()
    if re.search(
        r"\b(migrate[ :](reset|fresh|rollback|down)|db[:_ ](drop|reset|wipe)|flush|downgrade|"
        r"database:drop|schema:drop|drop)\b",
        told,
    ) or told.startswith("db push"):
        return _stake("data", f"{name} {told}")
    return _packager(name, words) if name in ("mix", "supabase") else None


_HERE: Final = re.compile(r"(?!/|~|\$|\.\.(/|$)|.*/\.\.(/|$)).+|/tmp/.+|/dev/null", re.DOTALL)


def _remover(name: str, words: Sequence[str]) -> Told:
    """rm and its like: what lies outside the tree it works in."""
    outside = [word for word in _plain(words) if not _HERE.fullmatch(word)]
    return _stake("files", ", ".join(outside[:5])) if outside else None


def _find(_name: str, words: Sequence[str]) -> Told:
    if "-delete" not in words:
        return None
    roots = list(takewhile(lambda word: not word.startswith(("-", "(", "!")), words))
    return _remover("find", roots)


def _dd(name: str, words: Sequence[str]) -> Told:
    onto = next((w[3:] for w in words if w.startswith("of=")), "")
    return _stake("disk", onto) if onto.startswith("/dev/") and onto != "/dev/null" else None


def _containers(name: str, words: Sequence[str]) -> Told:
    plain = _plain(words)
    pair = plain[:2]
    if plain[:1] == ["push"] or pair in (["image", "push"], ["manifest", "push"]):
        return _stake("publishes", " ".join([name, *plain[:3]]))
    if "--push" in words:
        return _stake("publishes", f"{name} build --push")
    data = pair in (["volume", "rm"], ["volume", "prune"], ["system", "prune"])
    if data or ("down" in plain[:3] and ({"-v", "--volumes"} & set(words))):
        return _stake("data", " ".join([name, *plain[:3]]))
    return None


def _crontab(name: str, words: Sequence[str]) -> Told:
    return _stake("data", "crontab -r") if "-r" in words else None


def _sync(name: str, words: Sequence[str]) -> Told:
    """rsync, scp …: what goes to another machine, or has what is there deleted."""
    plain = _plain(words)
    there = [w for w in plain if re.match(r"([\w.-]+@)?[\w.-]+:(?!//)", w) or "://" in w]
    if plain and there and plain[-1] == there[-1]:
        return _stake("sends", name, there[-1].partition(":")[0].rpartition("@")[2])
    if any(w.startswith("--delete") for w in words) and not {"-n", "--dry-run"} & set(words):
        return _stake("files", plain[-1] if plain else "")
    return None


def _of(names: str, judge: Callable[[str, Sequence[str]], Told]) -> dict[str, Callable[..., Told]]:
    return dict.fromkeys(named(names), judge)


_PROGRAMS: Final[dict[str, Callable[[str, Sequence[str]], Told]]] = {
    **_of("git", _git),
    **_of(
        "npm pnpm yarn bun deno jsr cargo gem poetry uv flit pdm hatch maturin dotnet nuget vsce ovsx "
        "pod lerna nx changeset composer luarocks stack cabal opam dart flutter conda anaconda "
        "wasm-pack hex cpan cpan-upload snapcraft expo eas tuist crane oras hg jj fossil bzr",
        _packager,
    ),
    **_of(
        "mvn ./mvnw mvnw gradle gradlew sbt ant rake make just task invoke nox tox cap", _builder
    ),
    **_of("twine goreleaser semantic-release release-it np fastlane bumpver", _always("publishes")),
    **_of("gh glab hub tea berg", _code_host),
    **_of("mail mailx sendmail mutt neomutt msmtp ssmtp swaks s-nail", _always("mail")),
    **_of("telegram-send slack-cli notify-send-remote", _always("sends")),
    **_of("stripe paypal", _always("spends", Peril.SPEND)),
    **_of(
        "aws gcloud az doctl linode-cli hcloud oci ibmcloud exo scw vultr-cli terraform tofu pulumi cdk "
        "sam serverless sls kubectl oc helm helmfile eksctl kops argocd flux fly flyctl heroku vercel now "
        "netlify wrangler firebase railway render surge supabase pscale ansible ansible-playbook "
        "gsutil bq s3cmd s4cmd rclone mc b2 nomad vault consul cf eb copilot amplify ntfyctl",
        _cloud,
    ),
    **_of("curl wget http https xh", _web),
    **_of(
        "psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli valkey-cli sqlcmd cqlsh duckdb "
        "clickhouse clickhouse-client mysqladmin pg_ctl influx cockroach litecli pgcli mycli",
        _database,
    ),
    **_of("dropdb dropuser", _always("data")),
    **_of(
        "rails prisma sequelize artisan alembic knex typeorm flyway liquibase manage.py django-admin mix",
        _framework,
    ),
    **_of("rm rmdir unlink srm trash", _remover),
    **_of("shred", _always("files")),
    **_of("find", _find),
    **_of("dd", _dd),
    **_of("wipefs fdisk sfdisk parted sgdisk diskutil blkdiscard", _always("disk")),
    **_of("docker podman nerdctl buildah docker-compose podman-compose skopeo", _containers),
    **_of("crontab", _crontab),
    **_of("rsync scp sftp lftp", _sync),
}

# ---------------------------------------------------------------- a tool, by its name

_SPENDS: Final = named(
    "pay payment payments charge charges purchase buy refund checkout invoice payout"
)
_ACCOUNTS: Final = named("signup register")
_STAYS: Final = named(
    "delete remove destroy drop purge wipe erase truncate publish release deploy send email mail merge "
    "push force transfer revoke post tweet reply comment submit close archive cancel order"
)
_LOOKING: Final = named("get list read search find describe show view count status")


def _tool(tool: str) -> Told:
    """What a server's tool puts at stake, by its name; our own and the agent's are none of these."""
    kind, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    if kind != "mcp" or not name or server == "quarterdeck":
        return None
    told = words_of(name)
    parts = set(told)
    if told and told[0] in _LOOKING and not parts & _STAYS:
        return None
    if parts & _SPENDS:
        return _stake("tool", name, server, peril=Peril.SPEND)
    if parts & _ACCOUNTS or ({"create", "open"} & parts and "account" in parts):
        return _stake("tool", name, server, peril=Peril.ACCOUNT)
    return _stake("tool", name, server) if parts & _STAYS else None
