"""Commands and tools whose effect cannot be taken back, or that touch keys or money.

Told from names alone, so never complete: it keeps such things from being allowed for good, it does not
make anything else harmless. Pure. Neighbours: shell.py takes a command line apart, always.py asks;
risks.py marks what a change touches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engine.rules.shell import named

# What deletes, stops or changes owners; what speaks to a service in its user's name.
_PROGRAMS: Final = named(
    "rm rmdir unlink shred dd truncate mv srm trash mkfs wipefs fdisk parted format diskutil "
    "kill pkill killall shutdown reboot halt poweroff systemctl service launchctl mount umount "
    "chmod chown chgrp chattr setfacl crontab at batch "
    "gh glab hub twine fly flyctl heroku vercel netlify wrangler firebase railway render surge "
    "aws gcloud gsutil bq az doctl linode hcloud terraform tofu pulumi cdk sam serverless sls "
    "ansible ansible-playbook kubectl helm oc argocd docker podman nerdctl buildah skopeo "
    "stripe paypal mail mailx sendmail mutt msmtp slack telegram-send "
    "apt apt-get aptitude dpkg yum dnf rpm pacman apk snap flatpak brew port choco winget scoop "
    "wget http https httpie xh aria2c ftp lftp tftp"
)

_WORDS: Final = named(
    "publish deploy deployment deploys release releases rollout rollback promote push pushes upload "
    "destroy delete deletes remove uninstall drop purge wipe erase nuke force reset revert prune "
    "truncate overwrite prod production live pay payment payments purchase charge refund billing "
    "order checkout migrate migration migrations send email notify post put patch merge close "
    "transfer grant revoke rotate login logout"
)
KEYS: Final = named(
    "secret secrets token tokens password passwords passwd passphrase credential credentials "
    "apikey keyring keychain vault netrc npmrc pypirc pgpass htpasswd kubeconfig pem rsa dsa ed25519 ecdsa "
    "env environ private ssh gnupg aws"
)
_KEY_PROGRAMS: Final = named(
    "gpg gpg2 pass op bw vault security keyctl secret-tool openssl ssh-keygen ssh-add ssh-agent "
    "printenv age sops"
)

_GIT_READS: Final = named(
    "status diff log show blame ls-files rev-parse describe shortlog add commit"
)
_GIT_BRANCH: Final = frozenset(("--show-current", "--list", "-a", "-r", "-v", "-vv", "--all"))
_GIT_RUNS: Final = ("--output", "--ext-diff", "--textconv", "--exec", "--no-verify", "--amend")
_CURL_READS: Final = re.compile(r"-[sSfLIi]+|--(silent|show-error|fail|location|head|include)")
_BUILDS: Final = frozenset(("--release",))  # an optimised build, of cargo and others


def undone_by_nobody(words: Sequence[str]) -> bool:
    """Whether a simple command looks like one whose effect stays, whatever is done after it."""
    program, *arguments = words
    name = program.lower()
    if name in _PROGRAMS or name.startswith("mkfs"):
        return True
    if name == "git":
        return not _git_stays_here(arguments)
    if name == "curl":
        return not all(_CURL_READS.fullmatch(word) or _is_address(word) for word in arguments)
    told = [word for word in arguments if word not in _BUILDS and "/" not in word]
    return any(pieces(word) & _WORDS for word in (name, *told))


def _git_stays_here(arguments: Sequence[str]) -> bool:
    """Reads, and what one's own tree takes anyway; git's own options before the verb may do more."""
    verb, *rest = arguments or [""]
    if verb == "branch":
        return set(rest) <= _GIT_BRANCH
    return verb in _GIT_READS and not any(word.startswith(_GIT_RUNS) for word in rest)


def _is_address(word: str) -> bool:
    return re.fullmatch(r"https?://[^@]+", word) is not None


def about_keys(words: Sequence[str]) -> bool:
    """Whether a simple command names what holds keys or passwords."""
    return words[0].lower() in _KEY_PROGRAMS or any(pieces(word) & KEYS for word in words)


def tool_undone_by_nobody(name: str) -> bool:
    """Whether a tool's name says that it changes what is elsewhere."""
    return bool(pieces(name) & (_WORDS | KEYS))


def pieces(word: str) -> set[str]:
    """The words a name is made of, camel case and all."""
    return set(words_of(word))


def words_of(name: str) -> list[str]:
    """The same, in their order."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z0-9]+", apart.lower())
