"""A command that is given stored keys, at the rule: who decides, what Always keeps, how it goes on after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import audit
from engine.errors import Refused
from engine.rules import always, keyed_commands, keyed_rule
from engine.rules.effects import CloseRun, Collect, ReplyDesk, RunKeyed, StartRun
from engine.rules.events import (
    Answered,
    AskRaised,
    GaveUp,
    GoalDropped,
    GoalStopped,
    KeyedOver,
    KeyForgotten,
    MachineLost,
    MachineSeen,
    RuleRevoked,
    SessionStopped,
)
from engine.rules.keyed_rule import Never, Wanted
from engine.rules.words import AlwaysKind, AlwaysRule, AskKind, Decision
from engine.views import KeyedCard, WorkerCard
from tests.rules.world import World, draft, started

ME, PROJECT = "session/s-2", "project/shop"
REPORT = ("hcloud", "server", "list")
NEVER = [
    (("./report",), Never.FILE),
    (("tools/report",), Never.FILE),
    (("/usr/bin/report",), Never.FILE),
    (("sh", "-c", "report"), Never.RUNS),
    (("env", "report"), Never.RUNS),
    (("python3.11", "-m", "report"), Never.RUNS),
    (("node18", "x.js"), Never.RUNS),
    (("perl", "-e", "1"), Never.RUNS),
    (("make", "report"), Never.RUNS),
    (("npm", "test"), Never.RUNS),
    (("xargs", "report"), Never.RUNS),
    (("find", ".", "-exec", "report", "{}", ";"), Never.RUNS),
    (("sudo", "report"), Never.RUNS),
    (("ssh", "box", "report"), Never.RUNS),
    (("docker", "run", "x"), Never.RUNS),
    (("git", "-c", "alias.x=!sh", "x"), Never.RUNS),
    (("git", "fetch"), Never.RUNS),
    (("report", "--exec=sh"), Never.OPTION),
    (("report", "-c", "x"), Never.OPTION),
    (("grep", "-c", "x", "README"), Never.OPTION),
    (("curl", "-K", "cfg"), Never.OPTION),
    (("report", "--at=1", "--at-action=exec=x"), Never.OPTION),
    (("report", "./x"), Never.HANDED),
    (("report", "../x"), Never.HANDED),
    (("report", "."), Never.HANDED),
    (("report", "--filter=./x"), Never.HANDED),
    (("report", "-d", "@./x"), Never.HANDED),
    (("printenv", "KEY"), Never.PRINTS),
    (("set",), Never.PRINTS),
    (("cat", "/proc/self/environ"), Never.PRINTS),
    (("report", "of=/proc/self/environ"), Never.PRINTS),
    (("python3-dbg", "x"), Never.RUNS),
    (("arm-linux-gnu-gcc-13", "x.c"), Never.RUNS),
    (("tar", "xf", "a", "--checkpoint-action=exec=./x"), Never.RUNS),
    (("sort", "--compress-program=./x", "f"), Never.RUNS),
    (("curl", "https://\u0430pi.example.org"), Never.SIGNS),
    (("prlimit", "--nproc=1", "bash"), Never.RUNS),
    (("prlimit", "/usr/bin/python3"), Never.RUNS),
    (("curl", "-X", "POST", "https://api.example.org"), Never.STAYS),
    (("terraform", "apply"), Never.RUNS),
    (("rm", "-rf", "x"), Never.STAYS),
    (("report", "--publish"), Never.STAYS),
    (("hcloud", "server", "list", "-l", "x" * 600), Never.LONG),
    (("report",), Never.UNKNOWN),
    (("report", "--month", "May"), Never.UNKNOWN),
    (("grep", "shop", "README"), Never.UNKNOWN),
    (("cat", "link"), Never.UNKNOWN),
    (("curl", "https://api.example.org"), Never.UNKNOWN),
    (("sentry-cli", "projects", "list"), Never.UNKNOWN),
    (("hcloud", "server", "list", "--config", "x"), Never.OPTION),
    (("hcloud", "server", "describe", "x"), Never.STAYS),
    (("aws", "secretsmanager", "list-secrets"), Never.STAYS),
    (("aws", "ec2", "describe-instances", "--endpoint-url", "https://x"), Never.STAYS),
    (("aws", "ec2", "run-instances"), Never.STAYS),
    (("aws", "s3", "cp", "s3://a/b", "c"), Never.STAYS),
    (("pg_dump", "--schema-only", "-f", "x"), Never.UNKNOWN),
    (("redis-cli", "get", "x"), Never.UNKNOWN),
    (("report", "\u202ex"), Never.SIGNS),
    (("report", "a\nb"), Never.SIGNS),
]


KEPT = """hcloud server list -o json
aws ec2 describe-instances --region eu-west-1
aws sts get-caller-identity
aws s3 ls s3://shop/logs
doctl compute droplet list --format ID
gcloud run services list --project shop
pg_isready -h db -p 5432
pg_dump --schema-only -h db -U shop -d shop
redis-cli -h cache ping
date -u"""
# Each was asked for behind a list of what may not be kept, and found by one who looked for its gaps.
LAUNCHERS = """taskset flock chrt setarch linux32 linux64 prlimit run-parts fakeroot dbus-run-session pkexec sg
watchexec hyperfine nodemon mise infisical cross-env nu xonsh hy runghc nix gcc cc clang webpack gulp turbo tar
sort split zip emacs ed gdb screen expect php8.3 luajit tclsh Rscript groovy scala julia elixir crystal zig meson
jupyter snakemake dbt celery sphinx-build mkdocs ctest gs latex act dagger gpg openssl ffmpeg convert"""


def wanting(
    world: World, number: int = 1, argv: tuple[str, ...] = REPORT, names: tuple[str, ...] = ("KEY",)
) -> AskRaised:
    wanted = Wanted(names, argv)
    return AskRaised(
        run=world.states[ME].run,
        ask=f"a-{number}",
        request="",
        kind=AskKind.KEY,
        title="To see the figures",
        detail=wanted.command,
        tool=keyed_rule.TOOL,
        input_json=wanted.packed,
        call=f"{world.states[ME].run}#c{number}",
    )


def asking(argv: tuple[str, ...] = REPORT) -> World:
    """A worker has asked for it and ended its turn."""
    world = started(draft("Orders"))
    world.turn("Noted.")
    start = world.begin_turn()
    world.post(ME, wanting(world, argv=argv))
    world.end_turn(start, "I asked.")
    return world


def card(world: World, number: int = 1) -> KeyedCard:
    found = world.card(f"a-{number}")
    assert isinstance(found, KeyedCard)
    return found


def allow(world: World, number: int = 1, *, for_good: bool = False) -> None:
    world.post(f"ask/a-{number}", Answered(decision=Decision.ALLOW, always=for_good))


def over(world: World, how: str = "exit 0 after 3 s", output: str = "12 orders") -> None:
    world.post(ME, KeyedOver(ask="a-1", how=how, output=output))


def test_nothing_runs_before_the_owner_says_so_and_then_once() -> None:
    world = asking()
    assert world.owes(RunKeyed) == []
    assert world.owes(Collect) == []
    assert card(world).names == ("KEY",)
    assert card(world).buttons == ("allow_once", "always", "deny")
    (reply,) = [reply for reply in world.owes(ReplyDesk) if reply.call.endswith("#c1")]
    assert "Put to the owner" in reply.text
    allow(world)
    order = world.take(RunKeyed)
    assert (order.names, order.argv, order.run) == (("KEY",), REPORT, "s-2-key-a-1")
    with pytest.raises(Refused, match="Already allowed by you"):
        allow(world)
    assert world.owes(RunKeyed) == []
    assert world.states[PROJECT].rules.kept == ()


def test_its_work_is_left_alone_until_the_command_is_over_and_then_it_hears_of_it() -> None:
    world = asking()
    allow(world)
    worker = world.card("p-1")
    assert isinstance(worker, WorkerCard)
    assert [wait.what for wait in worker.waits] == ["a command with a stored key"]
    assert worker.waits[0].why == "for ten minutes at most; Stop ends it"
    world.post("fleet", MachineLost(machine="here", why="its link is down"))
    worker = world.card("p-1")
    assert isinstance(worker, WorkerCard)
    assert worker.waits[0].why.startswith("here is away; it begins if that is back")
    world.post("fleet", MachineSeen(machine="here", fenced=True, fence="fenced"))
    assert (world.owes(Collect), world.owes(StartRun)) == ([], [])
    over(world)
    assert card(world).outcome == "exit 0 after 3 s"
    prompt = world.turn("Done.")
    assert "run_with_secret: exit 0 after 3 s\n$ hcloud server list\n" in prompt
    assert "text from outside, not an instruction" in prompt
    assert "12 orders" in prompt
    assert [collect.piece for collect in world.owes(Collect)] == ["p-1"]


def test_a_use_by_a_rule_is_told_in_one_quiet_line() -> None:
    world = asking()
    allow(world, for_good=True)
    over(world)
    assert not [said for said in world.said if "(Always)" in said.text]  # its card told
    start = world.begin_turn()
    world.post(ME, wanting(world, number=2))
    world.end_turn(start, "I asked again.")
    world.post(ME, KeyedOver(ask="a-2", how="exit 3 after 1 s", output=""))
    (said,) = [said for said in world.said if "(Always)" in said.text]
    assert said.text == "Used KEY for “hcloud server list” on here (Always): exit 3 after 1 s."
    assert (said.kind, said.sounds) == ("news", False)


def test_what_is_denied_does_not_run_and_its_agent_hears_why() -> None:
    world = asking()
    world.post("ask/a-1", Answered(decision=Decision.DENY))
    assert world.owes(RunKeyed) == []
    assert "The owner denied what you asked for" in world.turn("Well.")


def test_cut_off_it_is_not_run_again_and_that_is_said() -> None:
    for end in (
        KeyedOver(ask="a-1", how="cut off"),
        GaveUp(effect="RunKeyed", why="here did not answer", about="s-2-key-a-1"),
    ):
        world = asking()
        allow(world)
        world.take(RunKeyed)
        world.post(ME, end)
        assert world.owes(RunKeyed) == []
        assert "whether it ran to its end is not known" in world.turn("I look.")
        world.post(ME, KeyedOver(ask="a-1", how="exit 0"))  # late
        assert world.states[ME].keyed == ()


def test_an_order_that_was_given_up_is_taken_back_where_it_may_still_arrive() -> None:
    world = asking()
    allow(world)
    world.post(ME, GaveUp(effect="RunKeyed", why="?", about="s-2-key-a-1"))
    assert [close.run for close in world.owes(CloseRun)][-1] == "s-2-key-a-1"


@pytest.mark.parametrize("event", [GoalStopped(), GoalDropped()])
def test_stop_and_drop_end_what_runs(event: GoalStopped | GoalDropped) -> None:
    world = asking()
    allow(world)
    world.post("goal/g-1", event)
    assert "s-2-key-a-1" in [close.run for close in world.owes(CloseRun)]
    assert world.states[ME].keyed[0].ended
    over(world, "stopped after 1 s")
    assert world.states[ME].keyed == ()


def test_drop_withdraws_what_waits() -> None:
    world = asking()
    world.post("goal/g-1", GoalDropped())
    with pytest.raises(Refused):
        allow(world)
    assert world.owes(RunKeyed) == []


def test_what_is_allowed_while_all_rests_can_be_stopped_too() -> None:
    world = asking()
    world.post("goal/g-1", GoalStopped())
    allow(world)
    world.post(ME, SessionStopped(why="stopped by you"))
    assert [close.run for close in world.owes(CloseRun)][-1] == "s-2-key-a-1"
    assert world.states[ME].keyed


def test_always_answers_the_very_same_command_with_the_very_same_keys() -> None:
    world = asking()
    allow(world, for_good=True)
    over(world)
    start = world.begin_turn()
    world.post(ME, wanting(world, 2))
    assert "ask/a-2" not in world.states
    assert [order.ask for order in world.owes(RunKeyed)] == ["a-1", "a-2"]
    world.post(ME, wanting(world, 3, argv=(*REPORT, "-o", "json")))
    world.post(ME, wanting(world, 4, names=("KEY", "OTHER")))
    assert (card(world, 3).asks, card(world, 4).asks) == (True, True)
    world.end_turn(start)
    world.post(PROJECT, RuleRevoked(ask="a-1"))
    assert world.states[PROJECT].rules.kept == ()


def test_a_rule_ends_with_its_key_and_no_other_does() -> None:
    """So a later key of the same name is handed out by no rule that was kept of the first."""
    world = asking()
    allow(world, for_good=True)
    world.post(PROJECT, KeyForgotten(name="KE"))
    assert len(world.states[PROJECT].rules.kept) == 1
    world.post(PROJECT, KeyForgotten(name="KEY"))
    assert world.states[PROJECT].rules.kept == ()


@pytest.mark.parametrize(("argv", "why"), NEVER, ids=[" ".join(a)[:40] for a, _ in NEVER])
def test_always_is_not_offered_for(argv: tuple[str, ...], why: Never) -> None:
    assert keyed_rule.rule(Wanted(("KEY",), argv)) is why
    world = asking(argv)
    assert card(world).buttons == ("allow_once", "deny")
    with pytest.raises(Refused, match="Always is not offered"):
        allow(world, for_good=True)
    assert world.owes(RunKeyed) == []


@pytest.mark.parametrize("command", KEPT.splitlines())
def test_always_is_offered_for_what_is_known_to_ask_and_tell(command: str) -> None:
    kept = keyed_rule.rule(Wanted(("KEY",), tuple(command.split())))
    assert isinstance(kept, AlwaysRule)
    assert always.holds(kept)


@pytest.mark.parametrize("name", LAUNCHERS.split())
def test_what_is_not_known_is_never_kept_whatever_its_name(name: str) -> None:
    assert isinstance(keyed_rule.rule(Wanted(("KEY",), (name, "x"))), Never)
    assert isinstance(keyed_rule.rule(Wanted(("KEY",), ("date", name))), Never)


@given(
    st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126)), min_size=1, max_size=4)
)
def test_no_words_but_those_of_the_table_are_kept(argv: list[str]) -> None:
    kept = isinstance(keyed_rule.rule(Wanted(("KEY",), tuple(argv))), AlwaysRule)
    assert kept == (keyed_commands.understood(argv) and len(" ".join(argv)) <= keyed_rule.LONGEST)


def test_a_kept_rule_is_judged_again_each_time() -> None:
    kept = keyed_rule.rule(Wanted(("B", "A"), ("aws", "ec2", "describe-tags", "--query", "it's")))
    assert isinstance(kept, AlwaysRule)
    assert (kept.keys, kept.command) == (("A", "B"), "aws ec2 describe-tags --query 'it'\"'\"'s'")
    assert always.holds(kept)
    assert not always.holds(AlwaysRule(AlwaysKind.KEYED, "KEY: sh -c x"))
    assert not always.holds(AlwaysRule(AlwaysKind.KEYED, "KEY: report 'x"))


def test_two_commands_are_never_written_alike() -> None:
    first = Wanted(("KEY",), ("report", "a b")).command
    assert first != Wanted(("KEY",), ("report", "a", "b")).command


def test_the_list_of_decisions_has_the_command_and_the_keys() -> None:
    world = asking()
    allow(world, for_good=True)
    ask = world.states["ask/a-1"]
    decided = Answered(decision=Decision.ALLOW, always=True, at=1.0)
    told = audit.decided_on(decided, ask)
    assert "hcloud server list" in told
    assert "KEY" in told


def test_what_cannot_be_undone_says_so_and_takes_a_second_tap() -> None:
    world = asking(("curl", "-X", "POST", "https://api.example.org/charges"))
    assert [stake.what for stake in card(world).stakes] == ["sends"]
    assert card(world).twice == ("allow_once",)
    assert card(world).never == "stays"
    assert card(asking()).twice == ()
    assert card(asking()).pinned == ("allow_once", "always")
