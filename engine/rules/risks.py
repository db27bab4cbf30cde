"""What in a change deserves a second look before it ships, told from the paths it touches.

Pure. engine/adapters/hub.py lists the paths; the review card shows the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

SHOWN = 3  # paths named in a mark; the rest are counted

_LOCK_FILES = (
    r"package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|"
    r"poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|requirements[^/]*\.(txt|lock|in)|"
    r"Cargo\.lock|go\.sum|Gemfile\.lock|composer\.lock|mix\.lock|flake\.lock|Package\.resolved"
)
_TEST_FILES = (
    r"conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|setup\.cfg|\.coveragerc|"
    r"(jest|vitest|playwright|cypress|karma)[^/]*\.(config|conf)\.[^/]+|\.mocharc[^/]*|"
    r"phpunit\.xml(\.dist)?|\.rspec"
)
_CI_FILES = (
    r"\.gitlab-ci\.yml|\.travis\.yml|Jenkinsfile|azure-pipelines[^/]*\.yml|"
    r"bitbucket-pipelines\.yml|\.drone\.yml|appveyor\.yml"
)
_AGENT_FILES = r"\.mcp\.json|CLAUDE(\.local)?\.md|AGENTS(\.override)?\.md|GEMINI\.md|\.cursorrules|\.windsurfrules"

_MARKS: Final = tuple(
    (words, re.compile(pattern))
    for words, pattern in (
        ("changes the project's settings", r"^\.(quarterdeck|magnum)/"),
        ("changes CI", rf"^\.(github|circleci|buildkite|ci|woodpecker)/|(^|/)({_CI_FILES})$"),
        ("changes how tests run", rf"(^|/)({_TEST_FILES})$"),
        ("changes what is built or installed", r"(^|/)(pyproject\.toml|package\.json|Makefile)$"),
        ("changes locked dependencies", rf"(^|/)({_LOCK_FILES})$"),
        (
            "changes git's hooks or attributes",
            r"^\.(husky|githooks|lefthook)/|(^|/)(\.gitattributes|\.pre-commit-config\.yaml|"
            r"\.?lefthook\.ya?ml|\.lfsconfig)$",
        ),
        (
            "changes what agents are told or allowed",
            rf"(^|/)\.(claude|codex|pi|cursor|gemini|agents)/|(^|/)({_AGENT_FILES})$",
        ),
        ("changes submodules", r"(^|/)\.gitmodules$"),
    )
)


def marks(paths: Iterable[str], links: Iterable[str] = ()) -> tuple[str, ...]:
    """Return a line for each kind of risk.

    paths   all that the change touches, old and new names
    links   those of them that are now symbolic links
    """
    touched = tuple(paths)
    found = [
        (words, [path for path in touched if pattern.search(path)]) for words, pattern in _MARKS
    ]
    found.append(("adds or changes symbolic links", list(links)))
    return tuple(f"{words}: {_named(some)}" for words, some in found if some)


def _named(paths: list[str]) -> str:
    shown = ", ".join(paths[:SHOWN])
    return shown if len(paths) <= SHOWN else f"{shown} and {len(paths) - SHOWN} more"
