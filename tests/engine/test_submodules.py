"""A project whose tests lie in a submodule: they are there for whoever works, checks and reviews.

The engine says which commit is the owner's own, the node fetches from the addresses it names and no
others (engine/node/copies.py). Here the whole of it: door, engine, node, worker, check, review.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.adapters.machines import Local
from engine.views import ReviewCard
from tests.engine.phone import Phone, good_worker, held, lead, plan
from tests.fakes import git

PIECE = {"title": "The work"}
CHECK = "test -f tests/corpus.txt"


def with_submodule(phone: Phone) -> Path:
    """A repository whose folder `tests` is another repository of the owner's."""
    corpus = phone.repository("corpus")
    (corpus / "corpus.txt").write_text("what must hold\n")
    git(corpus, "add", "-A")
    git(corpus, "commit", "-q", "-m", "A corpus")
    shop = phone.repository("with-tests", check=CHECK, remote=True)
    allow = ("-c", "protocol.file.allow=always")
    git(shop, *allow, "submodule", "--quiet", "add", f"../{corpus.name}", "tests")
    git(shop, "commit", "-q", "-m", "Take the corpus in")
    git(shop, "push", "-q", "origin", "main")
    return shop


async def test_a_submodules_files_are_there_in_every_tree(tmp_path: Path) -> None:
    """BR-84: the worker's check and the review's both find the file that only the submodule has."""
    person = tmp_path / "person"
    person.mkdir()
    # git fetches no submodule from a path of this machine unless its owner says so.
    (person / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    env = {"PATH": os.environ["PATH"], "HOME": str(person), "LANG": "C.UTF-8"}
    machine = Local(tmp_path / "home", env=env)
    async with held(tmp_path, machine=machine) as phone:
        await phone.agent(*lead(plan(PIECE)), good_worker())
        project = await phone.project(with_submodule(phone))
        goal = await phone.goal(project)
        phone.will(goal, until="review")
        review = await phone.card(goal, ReviewCard)
        assert review.check_passed, review.report
