"""What is said of the places work is done in: projects on their way in, machines, accounts.

Pure wording, as text.py's, which shows the project's card by it; projects.py shows the panels.
"""

from __future__ import annotations

from bot.entities import Builder, one_line, said_line, tame, unlinked, visible
from bot.text_sheet import theirs
from engine.views import ProjectCard

WORDS_ROOM = 900
GOALS_BRANCH = "branch quarterdeck/<goal>"  # where Push goes without a remote; a note says why
FORGES = {
    # As they publish them for their users to compare.
    "github.com": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
    "gitlab.com": "SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8",
}
PROJECTS_USAGE = "Say /projects add NAME PATH_OR_URL [BASE], /projects check NAME COMMAND, /projects ports NAME 5432 or /projects remove NAME."
NO_PROJECT = "There is no project {name}; /projects lists them."
PROJECT_TITLES = {
    "reading": "A project is being read",
    "barred": "A key is needed to read a project",
    "bases": "Which branch do agents start from?",
    "failed": "A project could not be read",
    "check": "How is the project checked?",
    "done": "A project was added",
    "left": "A project was not added",
}


def project(card: ProjectCard, sheet: Builder) -> None:
    """Write what the card of a repository on its way in says under its first line."""
    sheet.add(one_line(card.name, 60), "bold").add(" · ").add(one_line(card.source, 200), "code")
    sheet.line()
    match card.stage:
        case "reading":
            sheet.line("Cloning …")
            sheet.line("A large one takes minutes. This card tells when it is there.")
        case "barred":
            _barred(card, sheet)
        case "bases":
            sheet.line("Work starts from it and goes back to it. Tap one.")
        case "failed":
            sheet.add(unlinked(tame(card.why))[:WORDS_ROOM], "blockquote").line()
            sheet.line("Nothing was added. Retry looks again.")
        case "check":
            _check(card, sheet)
        case "done":
            _added(card, sheet)
            sheet.add("Check: ").rich(theirs(card.check, 200)).line()


def _barred(card: ProjectCard, sheet: Builder) -> None:
    if card.expected:
        sheet.line("⚠ Its host shows another key than the one you accepted:", "bold")
        sheet.add(one_line(card.expected, 80), "code").line(" was accepted")
        sheet.add(one_line(card.fingerprint, 80), "code").line(" is shown now")
        sheet.line("If the host was not set up anew, somebody may be standing between: Cancel.")
    elif card.why:
        sheet.line("git says:", "italic")
        sheet.add(unlinked(tame(card.why))[:WORDS_ROOM], "blockquote").line()
    sheet.line("1. Add this key there, allowed to write (Push needs that):")
    sheet.add(one_line(card.public, 400), "pre").line()
    host = one_line(card.host, 80)
    if FORGES.get(card.host) == card.fingerprint:
        sheet.line(f"2. {host} shows the host key that it publishes, so that is in order.")
    elif not card.expected:
        sheet.line(f"2. See that {host} is who it should be. It shows the host key")
        sheet.add(one_line(card.fingerprint, 80), "code").line()
    sheet.line("Retry accepts that host key and signs in with this key.")


def _check(card: ProjectCard, sheet: Builder) -> None:
    _added(card, sheet)
    sheet.line("Its settings name no check. Check each piece of work with this?")
    sheet.add(visible(card.command)[:WORDS_ROOM], "pre").line()
    sheet.line("Not this: work lands unchecked.")


def _added(card: ProjectCard, sheet: Builder) -> None:
    sheet.line(f"Added, from {one_line(card.base, 80)}.")
    told = any(GOALS_BRANCH in note for note in card.notes)
    if card.push and card.push != card.source and not (GOALS_BRANCH in card.push and told):
        sheet.add("Push goes to ").add(one_line(card.push, 200), "code").line()
    for note in card.notes:  # it may quote the repository's settings
        sheet.add(said_line(note, 400), "blockquote").line()
