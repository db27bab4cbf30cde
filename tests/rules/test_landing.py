"""How finished pieces enter their lead's branch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.rules.effects import AnyEffect, Check, CloseRun, Land, Merge, Tell
from engine.rules.events import (
    Checked,
    GaveUp,
    Landed,
    LandingCalled,
    LandingDropped,
    LandingEvent,
    Merged,
    PieceLanded,
    PieceReturned,
)
from engine.rules.landing import (
    MAX_RACES,
    MAX_UNJUDGED,
    Entry,
    Landing,
    Stage,
    begin,
    check_run,
    decide,
)
from engine.rules.words import CheckVerdict

PASSED = CheckVerdict(passed=True, summary="passed in 1 s")
RED = CheckVerdict(passed=False, summary="exit 1", report="2 failed")
UNJUDGED = CheckVerdict(passed=False, ran=False, failure="killed")


def called(piece: str, commit: str, check: str = "make test") -> LandingCalled:
    return LandingCalled(
        piece=piece,
        session=f"s-{piece}",
        branch=f"quarterdeck/worker-{piece}",
        commit=commit,
        title=piece,
        project="shop",
        check=check,
    )


def after(*events: LandingEvent, now: Landing | None = None) -> tuple[Landing, list[AnyEffect]]:
    """Decide all events; return where the queue stands and all that was ordered."""
    landing = now or begin("g-1")
    ordered: list[AnyEffect] = []
    for event in events:
        landing, effects = decide(landing, event)
        ordered += effects
    return landing, ordered


def told(effects: list[AnyEffect]) -> list[object]:
    return [effect.event for effect in effects if isinstance(effect, Tell)]


def checking() -> Landing:
    merged = Merged(piece="p-1", commit="m1", onto="b0")
    return after(called("p-1", "c1"), merged)[0]


def swapping() -> Landing:
    return after(Checked(piece="p-1", commit="m1", verdict=PASSED), now=checking())[0]


def test_a_piece_is_merged_then_checked_then_landed_as_one_commit() -> None:
    landing, ordered = after(
        called("p-1", "c1"),
        Merged(piece="p-1", commit="m1", onto="b0"),
        Checked(piece="p-1", commit="m1", verdict=PASSED),
        Landed(piece="p-1", commit="m1", head="m1"),
    )
    kinds = [type(effect) for effect in ordered]
    assert kinds == [Merge, Check, Land, Tell]
    assert isinstance(ordered[1], Check)
    assert ordered[1].commit == "m1"
    assert ordered[2] == Land(goal="g-1", project="shop", piece="p-1", commit="m1", onto="b0")
    assert told(ordered) == [
        PieceLanded(piece="p-1", head="m1", commit="c1", checked="its check passed")
    ]
    assert landing.entries == ()


def test_a_red_check_is_run_once_more_on_the_same_commit_before_it_counts() -> None:
    red = Checked(piece="p-1", commit="m1", verdict=RED)
    landing, ordered = after(red, now=checking())
    (again,) = ordered
    assert isinstance(again, Check)
    assert again.commit == "m1"
    assert again.run != check_run(checking().entries[0])
    _, ordered = after(red, now=landing)
    assert told(ordered) == [
        PieceReturned(piece="p-1", why="check failed: exit 1", report="2 failed")
    ]


def test_a_check_that_could_not_be_run_is_no_verdict_and_then_no_attempt() -> None:
    unjudged = Checked(piece="p-1", commit="m1", verdict=UNJUDGED)
    landing, ordered = after(*[unjudged] * (MAX_UNJUDGED - 1), now=checking())
    assert [type(effect) for effect in ordered] == [Check]
    _, ordered = after(unjudged, now=landing)
    assert told(ordered) == [PieceReturned(piece="p-1", why="killed", broken=True)]


def test_a_head_that_moved_is_merged_and_checked_anew() -> None:
    landing, ordered = after(
        Landed(piece="p-1", commit="m1", head="b9", moved=True), now=swapping()
    )
    assert [type(effect) for effect in ordered] == [Merge]
    _, ordered = after(Merged(piece="p-1", commit="m9", onto="b9"), now=landing)
    (check,) = ordered
    assert isinstance(check, Check)
    assert check.commit == "m9"


def test_a_branch_that_never_holds_still_gives_the_piece_back_unjudged() -> None:
    landing = swapping()
    ordered: list[AnyEffect] = []
    for race in range(MAX_RACES + 1):
        commit = landing.entries[0].merged
        landing, ordered = after(
            Landed(piece="p-1", commit=commit, head="x", moved=True),
            Merged(piece="p-1", commit=f"m{race + 2}", onto="x"),
            Checked(piece="p-1", commit=f"m{race + 2}", verdict=PASSED),
            now=landing,
        )
    (returned,) = told(ordered)
    assert isinstance(returned, PieceReturned)
    assert returned.broken
    assert landing.entries == ()


def test_late_news_of_another_commit_changes_nothing() -> None:
    for late in (
        Checked(piece="p-1", commit="m0", verdict=PASSED),
        Landed(piece="p-1", commit="m0", head="m0"),
        Merged(piece="p-1", commit="m0", onto="b0"),
        Checked(piece="p-2", commit="m1", verdict=PASSED),
    ):
        assert decide(checking(), late) == (checking(), ())


def test_pieces_of_one_branch_go_in_one_after_the_other() -> None:
    landing, ordered = after(called("p-1", "c1"), called("p-2", "c2"))
    assert [type(effect) for effect in ordered] == [Merge]
    conflict = Merged(piece="p-1", commit="", onto="b0", failure="conflict in a", conflict=True)
    _, ordered = after(conflict, now=landing)
    assert [type(effect) for effect in ordered] == [Tell, Merge]
    assert told(ordered) == [PieceReturned(piece="p-1", why="conflict in a", conflict=True)]


def test_a_piece_that_comes_again_with_the_same_commit_is_checked_again() -> None:
    """BR-77: a run's verdict is heard once, so the second check needs a run of its own."""
    merged = Merged(piece="p-1", commit="m1", onto="b0")
    red = Checked(piece="p-1", commit="m1", verdict=RED)
    once = (called("p-1", "c1"), merged, red, red)
    _, ordered = after(*once, *once)
    runs = [effect.run for effect in ordered if isinstance(effect, Check)]
    assert len(runs) == len(set(runs)) == 4


def test_a_piece_already_in_the_queue_is_not_queued_twice() -> None:
    landing, ordered = after(called("p-1", "c1"), called("p-1", "c1"))
    assert len(landing.entries) == len(ordered) == 1


def test_a_check_that_was_given_up_gives_the_piece_back() -> None:
    """It is given up under its run's id, which names no piece."""
    run = check_run(checking().entries[0])
    landing, ordered = after(GaveUp(effect="Check", why="no answer", about=run), now=checking())
    assert told(ordered) == [PieceReturned(piece="p-1", why="no answer", broken=True)]
    assert landing.entries == ()
    late = GaveUp(effect="Merge", why="no answer", about="p-1")
    assert decide(checking(), late) == (checking(), ())


def test_a_dropped_piece_has_its_check_ended_and_lets_the_next_in() -> None:
    landing = after(called("p-2", "c2"), now=checking())[0]
    run = check_run(landing.entries[0])
    landing, ordered = after(LandingDropped(piece="p-1"), now=landing)
    assert ordered[0] == CloseRun(run=run, session="s-p-1")
    assert [type(effect) for effect in ordered] == [CloseRun, Merge]
    assert [entry.piece for entry in landing.entries] == ["p-2"]


def test_what_is_being_swapped_in_is_past_stopping_but_is_not_tried_again() -> None:
    dropped, ordered = after(LandingDropped(), now=swapping())
    assert ordered == []
    _, ordered = after(Landed(piece="p-1", commit="m1", head="m1"), now=dropped)
    assert isinstance(told(ordered)[0], PieceLanded)
    landing, ordered = after(Landed(piece="p-1", commit="m1", head="x", moved=True), now=dropped)
    assert (landing.entries, ordered) == ((), [])


COMMITS = st.sampled_from(["m1", "m2", "m3"])
PIECES = st.sampled_from(["p-1", "p-2"])
EVENTS = st.one_of(
    st.builds(called, PIECES, st.sampled_from(["c1", "c2"]), st.sampled_from(["", "make test"])),
    st.builds(Merged, piece=PIECES, commit=COMMITS, onto=st.just("b0")),
    st.builds(
        Checked,
        piece=PIECES,
        commit=COMMITS,
        verdict=st.sampled_from([PASSED, PASSED, RED, UNJUDGED]),
    ),
    st.builds(Landed, piece=PIECES, commit=COMMITS, head=COMMITS, moved=st.booleans()),
    st.builds(LandingDropped, piece=st.sampled_from(["p-1", "p-2", "p-2", ""])),
)


@given(st.lists(EVENTS, max_size=40))
def test_only_a_commit_that_passed_its_check_lands(events: list[LandingEvent]) -> None:
    """Whatever is said to the queue, in whatever order."""
    landing = begin("g-1")
    passed: set[tuple[str, str]] = set()
    for event in events:
        if isinstance(event, Checked) and event.verdict.passed:
            passed.add((event.piece, event.commit))
        landing, effects = decide(landing, event)
        for effect in effects:
            if isinstance(effect, Land) and landing.entries[0].check:
                assert (effect.piece, effect.commit) in passed


@given(st.lists(EVENTS, max_size=40))
def test_every_landing_ends_when_what_it_waits_for_comes(events: list[LandingEvent]) -> None:
    landing = after(*events)[0]
    for _ in range(30 * (len(landing.entries) + 1)):
        if (entry := landing.current) is None:
            break
        landing, _ = decide(landing, answer(entry))
    assert landing.entries == ()


def answer(entry: Entry) -> LandingEvent:
    """The worst that can be said to an entry."""
    if entry.stage is Stage.MERGING:
        return Merged(piece=entry.piece, commit=f"m{entry.races}", onto="b0")
    if entry.stage is Stage.CHECKING and entry.unjudged < MAX_UNJUDGED - 1:
        return Checked(piece=entry.piece, commit=entry.merged, verdict=UNJUDGED)
    if entry.stage is Stage.CHECKING:
        return Checked(piece=entry.piece, commit=entry.merged, verdict=PASSED)
    return Landed(piece=entry.piece, commit=entry.merged, head="x", moved=True)


def test_the_worst_that_can_be_said_reaches_the_swap() -> None:
    """Else the property above would hold of queues that never get so far."""
    entry = replace(checking().entries[0], unjudged=MAX_UNJUDGED - 1)
    assert answer(entry) == Checked(piece="p-1", commit="m1", verdict=PASSED)
