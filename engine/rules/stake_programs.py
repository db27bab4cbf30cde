"""What a program puts at stake, by its name and its words: one judge for each kind of them.

Told from names, so never complete; what a judge does not know is no stake. Pure. Neighbours:
stake_data.py (databases, files, containers), stake_lines.py finds what a line runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engine.rules import stake_data
from engine.rules.irreversible import words_of
from engine.rules.shell import named
from engine.rules.stake_told import TANGLED, Judge, Told, after, plain, stake, worked_out
from engine.rules.words import Peril

# ---------------------------------------------------------------- git

_GIT_VALUED: Final = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")
_FORCE: Final = named(
    "--force --force-with-lease --force-if-includes --mirror --mirro --mirr --mir --prune"
)
_PUSH_VALUED: Final = ("-o", "--push-option", "--repo", "--receive-pack", "--exec")


def _git(_name: str, words: Sequence[str]) -> Told:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GIT_VALUED else rest[1:]
    verb, arguments = (rest[0], rest[1:]) if rest else ("", [])
    flags = {word.partition("=")[0] for word in arguments if word.startswith("-")}
    names = plain(arguments)
    match verb:
        case _ if worked_out(verb) or re.search(r"[*?\[]", verb):
            return TANGLED
        case "push" | "send-pack" | "http-push":
            return _push(arguments, flags)
        case "send-email" | "imap-send":
            return stake("mail")
        case "branch" if _short(flags, "D") or (
            _short(flags, "d", "--delete") and _short(flags, "f", "--force")
        ):
            return stake("branch here", *names)
        case "update-ref" if _short(flags, "d", "--stdin"):
            return stake("branch here", *names[:1])
        case "tag" if _short(flags, "d", "--delete"):
            return stake("tag here", *names)
        case "svn" if names[:1] == ["dcommit"]:
            return stake("push", "svn")
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
    if _short(flags, "d", "--delete", "--delet", "--dele", "--del"):
        gone += [ref for ref in refs if not ref.startswith(":")] or ["…"]
    if gone:
        tags = all(ref.startswith("refs/tags/") for ref in gone) or gone == ["tag"]
        short = [re.sub(r"^refs/(heads|tags)/", "", ref) for ref in gone]
        return stake("tag there" if tags else "branch there", remote, ", ".join(short))
    forced = _FORCE & flags
    over = [ref[1:] for ref in refs if ref.startswith("+")]
    if forced or over or _short(flags, "f"):
        onto = [ref.lstrip("+").rpartition(":")[2] for ref in over or refs]
        return stake("force push", remote, ", ".join(onto))
    return stake("push", remote, ", ".join(refs))


# ---------------------------------------------------------------- what publishes, sends, spends

_PUBLISHING: Final = named("publish unpublish deprecate yank submit release deploy push upload")
_GROUPS: Final = named("run run-script exec npm nuget trunk pub hex git package build")


_NPM_OTHER: Final = named(
    "run run-script test t install i add ci exec view info search audit x dlx"
)
_NPM_OUT: Final = re.compile(r"pub(l(i(sh?)?)?)?|unp(u(b(l(i(sh?)?)?)?)?)?").fullmatch


def _packager(name: str, words: Sequence[str]) -> Told:
    """npm, cargo, gem …: what of theirs goes out to a registry, or opens an account there."""
    told = [word.lower() for word in plain(words)]
    if {"adduser", "add-user", "signup", "register"} & set(told[:2]):
        return stake("account", name, peril=Peril.ACCOUNT)
    if "--dry-run" in words or not told:
        return None
    if name in ("npm", "pnpm") and told[0] not in _NPM_OTHER and any(map(_NPM_OUT, told)):
        return stake("publishes", f"{name} {' '.join(told[:2])}")
    verbs = set(words_of(told[0]))
    if told[0] in _GROUPS and len(told) > 1:
        verbs |= set(words_of(told[1]))
    if told[0] == "dist-tag" and told[1:2] in (["ls"], ["list"]):
        return None
    out = verbs & _PUBLISHING or {"publish", "unpublish", "dist-tag"} & set(told[:3])
    return stake("publishes", f"{name} {' '.join(told[:2])}") if out else None


def _framework(name: str, words: Sequence[str]) -> Told:
    found = stake_data.framework(name, words)
    return found or (_packager(name, words) if name == "mix" else None)


_TRIES: Final = named("dry check test tests notes docs")


def _builder(name: str, words: Sequence[str]) -> Told:
    """mvn, gradle, rake …: a target that publishes, deploys or drops."""
    for word in plain(_without(words, "-C", "-f", "--directory", "--file")):
        parts = set(words_of(word.partition("=")[0]))
        if parts & {"drop", "reset", "purge", "wipe"} and parts & {"db", "database", "schema"}:
            return stake("data", f"{name} {word}")
        if parts & {"publish", "deploy", "release", "upload"} and not parts & _TRIES:
            return stake("publishes", f"{name} {word}")
    return None


def _always(what: str, peril: Peril = Peril.IRREVERSIBLE) -> Judge:
    def judge(name: str, words: Sequence[str]) -> Told:
        if {"--help", "--version", "-h"} & set(words) or plain(words)[:1] in (["check"], ["build"]):
            return None
        return stake(what, " ".join([name, *plain(words)[:2]]), peril=peril)

    return judge


_PAYS: Final = named(
    "send sendtoaddress sendmany sendpayment payinvoice pay transfer withdraw burn"
)


def _wallet(name: str, words: Sequence[str]) -> Told:
    """What sends money of a chain's, which nobody gives back."""
    told = [word.lower() for word in plain(words)[:3]]
    paid = next(filter(_PAYS.__contains__, told), "")
    return stake("spends", f"{name} {paid}", peril=Peril.SPEND) if paid else None


_LOOKS: Final = named(
    "list ls get describe show view status diff checks check log logs help version whoami info plan "
    "validate fmt init top explain search inspect ps images history events config context contexts "
    "outputs output graph providers workspace metadata token doctor tail cat stat du current locate "
    "watch browse clone checkout fork lint template dependency repo-list verify-credentials"
)
_CHANGES: Final = named(
    "delete destroy remove rm rb apply create deploy uninstall upgrade rollback drain scale reset purge terminate"
)
_LOOKS_BEGIN: Final = ("list-", "get-", "describe-", "show-", "head-", "search-", "lookup-")
_HOST_LOOKS: Final = named(
    "list view status diff checks watch download clone checkout browse search verify"
)


def _cloud(name: str, words: Sequence[str]) -> Told:
    """What speaks to somebody's cloud: all but looking."""
    told = [word for word in plain(words)[:4] if word.isascii()]
    if {"--help", "--dry-run", "-h"} & set(words):
        return None
    if not told:  # some deploy where nothing is said
        return stake("cloud", f"{name} --prod") if "--prod" in words else None
    looks = any(word in _LOOKS or word.startswith(_LOOKS_BEGIN) for word in told[:3])
    changes = any(word in _CHANGES for word in told[:3])
    return None if looks and not changes else stake("cloud", " ".join([name, *told[:3]]))


def _code_host(name: str, words: Sequence[str]) -> Told:
    told = plain(_without(words, "-R", "--repo"))
    if not told or told[0] in ("auth", "status", "search", "browse", "config", "help", "alias"):
        return None
    if told[0] == "api":
        method = after(words, "-X", "--method").upper()
        sends = any(word in ("-f", "-F", "--field", "--raw-field", "--input") for word in words)
        if (method or ("POST" if sends else "GET")) in ("GET", "HEAD"):
            return None
        if "graphql" in told[:2] and not any("mutation" in word for word in words):
            return None
        return stake("code host", f"{name} api {method} {(told[1:] or [''])[-1]}".strip())
    if len(told) < 2 or told[1] in _HOST_LOOKS:
        return None
    what = "publishes" if told[0] == "release" and told[1] in ("create", "upload", "edit") else ""
    return stake(what or "code host", " ".join([name, *told[:3]]))


def _without(words: Sequence[str], *valued: str) -> list[str]:
    """Leave out these options and their values."""
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if word not in valued and before not in valued
    ]


# curl's letters that take no value, so that others may stand behind them: -sX DELETE
_CURL_FLAGS: Final = r"-[#0-9aBfgGiIjJklLMnNOpqRsSvVZ]+"


def _parted(word: str) -> list[str]:
    found = re.fullmatch(rf"{_CURL_FLAGS}([XdFT].*)", word, re.DOTALL)
    return [f"-{found[1]}"] if found else [word]


_NEAR: Final = re.compile(
    r"(https?://)?(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(:\d+)?(/.*)?"
)
_CHANGING: Final = ("POST", "PUT", "PATCH", "DELETE")
_BODIES: Final = ("-d", "-F", "-T", "--data", "--form", "--json", "--upload-file", "--post-")


def _web(name: str, words: Sequence[str]) -> Told:
    """curl and its like: what sends more than a question, elsewhere than to this machine."""
    if name == "curl":
        words = [part for word in words for part in _parted(word)]
    told = plain(words)
    addresses = [word for word in told if re.match(r"[a-z]+://", word)] or [
        word for word in told if re.match(r"(localhost|[\w-]+(\.[\w-]+)+)(/|:|$)", word)
    ]
    if any(w.startswith(("smtp://", "smtps://")) for w in words):
        return stake("mail")
    if addresses and all(_NEAR.fullmatch(word) for word in addresses):
        return None
    method = after(words, "-X", "--request", "--method").upper()
    if name in ("http", "https", "xh"):
        method = method or next(filter(_CHANGING.__contains__, map(str.upper, words)), "")
        if any(re.match(r"[\w.\[\]-]+(=|:=)(?!=)", word) for word in told if "://" not in word):
            method = method or "POST"
    if name == "curl" and any(re.fullmatch(r"-[a-zA-Z]*G|--get", word) for word in words):
        method = method or "GET"
    if name == "curl" and {"-K", "--config"} & set(words):
        return TANGLED
    body = any(w.startswith(_BODIES) for w in words if w.startswith("-"))
    if method in _CHANGING or (body and method not in ("GET", "HEAD")):
        host = re.sub(r"^\w+://", "", addresses[0]).partition("/")[0] if addresses else ""
        return stake("sends", method or "POST", host.rpartition("@")[2])
    return None


def _socket(name: str, words: Sequence[str]) -> Told:
    """nc and its like: what is said to another machine, unless it only listens or looks."""
    if any(re.fullmatch(r"-[a-zA-Z]*[lzh][a-zA-Z]*", word) for word in words):
        return None
    told = plain(words)
    ends = " ".join(told).lower()
    if not told or re.search(r"\blocalhost\b|\b127\.\d|::1|^unix|/", told[0]):
        return None
    if name == "socat" and not re.search(r"(tcp|udp|openssl|ssl)[\w-]*:(?!localhost|127\.)", ends):
        return None
    return stake("sends", name, told[0])


def _of(names: str, judge: Judge) -> dict[str, Judge]:
    return dict.fromkeys(named(names), judge)


PROGRAMS: Final[dict[str, Judge]] = {
    **_of("git", _git),
    **_of(
        "npm pnpm yarn bun deno jsr cargo gem poetry uv flit pdm hatch maturin dotnet nuget vsce ovsx "
        "pod lerna nx changeset composer luarocks stack cabal opam dart flutter conda anaconda "
        "wasm-pack hex cpan cpan-upload snapcraft expo eas tuist crane oras hg jj fossil bzr ollama ko hf "
        "huggingface-cli",
        _packager,
    ),
    **_of(
        "mvn ./mvnw mvnw gradle gradlew sbt ant rake make just task invoke nox tox cap setup.py",
        _builder,
    ),
    **_of("twine goreleaser semantic-release release-it np fastlane bumpver", _always("publishes")),
    **_of("gh glab hub tea berg", _code_host),
    **_of("mail mailx sendmail mutt neomutt msmtp ssmtp swaks s-nail", _always("mail")),
    **_of("telegram-send slack-cli notify-send-remote", _always("sends")),
    **_of("stripe paypal", _always("spends", Peril.SPEND)),
    **_of("cast solana spl-token bitcoin-cli lncli lightning-cli near", _wallet),
    **_of(
        "aws gcloud az doctl linode-cli hcloud oci ibmcloud exo scw vultr-cli terraform terragrunt tofu pulumi cdk "
        "sam serverless sls kubectl oc helm helmfile eksctl kops argocd flux fly flyctl heroku vercel now "
        "netlify wrangler firebase railway render surge supabase pscale ansible ansible-playbook "
        "gsutil bq s3cmd s4cmd rclone mc b2 nomad vault consul cf eb copilot amplify ntfyctl",
        _cloud,
    ),
    **_of("curl wget http https xh", _web),
    **_of(
        "psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli valkey-cli sqlcmd cqlsh duckdb "
        "clickhouse clickhouse-client mysqladmin pg_ctl influx cockroach litecli pgcli mycli",
        stake_data.database,
    ),
    **_of("dropdb dropuser", _always("data")),
    **_of("etcdctl zfs zpool wp drush", stake_data.keeper),
    **_of(
        "rails prisma sequelize artisan alembic knex typeorm flyway liquibase manage.py django-admin mix",
        _framework,
    ),
    **_of("rm rmdir unlink srm trash", stake_data.remover),
    **_of("shred", _always("files")),
    **_of("mv truncate", stake_data.mover),
    **_of("tee", stake_data.tee),
    **_of("pg_restore mongorestore mysqlimport", stake_data.restore),
    **_of("nc ncat netcat socat telnet", _socket),
    **_of("find", stake_data.find),
    **_of("dd", stake_data.dd),
    **_of("wipefs fdisk sfdisk parted sgdisk diskutil blkdiscard", _always("disk")),
    **_of(
        "docker podman nerdctl buildah docker-compose podman-compose skopeo", stake_data.containers
    ),
    **_of("crontab", stake_data.crontab),
    **_of("rsync scp sftp lftp ftp", stake_data.sync),
}
