"""Branch names out of titles."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.node import copies
from engine.rules import names
from engine.rules.names import NODES_OWN, PROJECT, why_no_project


def acceptable(branch: str) -> bool:
    """Git's own rules for a branch, and ours: nothing that a shell or an eye could misread."""
    return bool(re.fullmatch(r"quarterdeck/[a-z0-9]+(-[a-z0-9]+)*", branch)) and len(branch) < 100


def test_a_title_becomes_words_and_hyphens() -> None:
    assert names.lead_branch("g-3", "Orders page: list & filter!") == (
        "quarterdeck/g-3-orders-page-list-filter"
    )


def test_accents_are_taken_off_and_not_the_letters_below_them() -> None:
    assert names.slug("Crème brûlée, Straße, Łódź, Ærø") == "creme-brulee-strasse-lodz-aero"


def test_a_title_that_git_would_refuse_is_tamed() -> None:
    title = "../..//@{-1}~^:?*[\\ .lock HEAD -x \x00\x7f\u202e end."
    assert names.slug(title) == "1-lock-head-x-end"


def test_a_title_without_a_letter_we_can_write_leaves_the_id() -> None:
    assert names.lead_branch("g-3", "Страница заказов 🧑\u200d🚀") == "quarterdeck/g-3"
    assert names.worker_branch("注文", "p-17") == "quarterdeck/worker-p-17"


def test_a_long_title_is_cut_between_words() -> None:
    assert names.slug("one two three four five six seven eight nine ten") == (
        "one-two-three-four-five-six-seven-eight"
    )
    assert names.slug("x" * 90) == "x" * names.SLUG_LENGTH


def test_two_pieces_of_one_title_get_two_branches() -> None:
    first = names.worker_branch("Orders page", "p-17")
    assert first == "quarterdeck/worker-orders-page"
    assert names.worker_branch("Orders  PAGE", "p-18", {first}) == (
        "quarterdeck/worker-orders-page-p-18"
    )


@given(st.text())
@example("\N{PARENTHESIZED LATIN CAPITAL LETTER A}")
@example("\N{KELVIN SIGN}")
def test_git_takes_whatever_comes_of_any_title(title: str) -> None:
    assert acceptable(names.lead_branch("g-3", title))
    assert acceptable(names.worker_branch(title, "p-17"))
    assert acceptable(names.worker_branch(title, "p-17", {names.worker_branch(title, "p-1")}))


@pytest.mark.parametrize("name", ["pool-1", "making-x", "gone-shop", "damaged-shop", "Shop", ""])
def test_what_the_machines_refuse_is_refused_when_a_project_is_added(name: str) -> None:
    assert why_no_project(name)


@given(st.from_regex(PROJECT, fullmatch=True) | st.sampled_from(copies.TAKEN).map("{}shop".format))
def test_a_project_is_called_as_the_machines_take_it(name: str) -> None:
    """The node, which knows nothing of the rules, has the same list."""
    if why_no_project(name):
        with pytest.raises(Exception, match="cannot be the name"):
            copies.name({"project": name}, "project")
    else:
        assert copies.name({"project": name}, "project") == name
    assert NODES_OWN == copies.TAKEN
