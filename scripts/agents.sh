#!/bin/sh
# Bring the agent CLIs our tests are tried with into .agents/ (ignored by git).
#
#   scripts/agents.sh            what the tests need
#   scripts/agents.sh claude     only the named one (claude, codex)
#
# The versions are pinned on purpose. Left to choose, npm takes the newest release whose "engines" field fits the Node
# that happens to be here, and says nothing when that is an old one. Asked for an exact version it only warns; the
# program is a native binary that never uses Node, so a warning is all it is.
set -eu

CLAUDE_VERSION=2.1.332
CODEX_VERSION=0.171.0

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
target="${QUARTERDECK_AGENTS:-$here/.agents}"

say() { printf '%s\n' "$*"; }

need_npm() {
    command -v npm >/dev/null 2>&1 || {
        say "npm is needed to fetch the agent CLIs: install Node, then run this again." >&2
        exit 1
    }
}

fetch() { # name, package, version, program
    program="$target/$1/node_modules/.bin/$4"
    if [ -x "$program" ] && "$program" --version 2>/dev/null | grep -qF "$3"; then
        say "$1 $3 is there: $program"
        return
    fi
    need_npm
    mkdir -p "$target/$1"
    say "fetching $2@$3 (some hundred megabytes) ..."
    npm install --prefix "$target/$1" --no-audit --no-fund --no-save --loglevel=error "$2@$3"
    "$program" --version | grep -qF "$3" || {
        say "$program does not answer as version $3" >&2
        exit 1
    }
    say "$1 $3 is there: $program"
}

[ $# -gt 0 ] || set -- claude codex
for name in "$@"; do
    case "$name" in
    claude) fetch claude @anthropic-ai/claude-code "$CLAUDE_VERSION" claude ;;
    codex) fetch codex @openai/codex "$CODEX_VERSION" codex ;;
    *)
        say "no such agent here: $name (known: claude, codex)" >&2
        exit 2
        ;;
    esac
done
