"""The hub on real repositories: bringing, quarantine, merging, landing, shipping."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.adapters.git import git as run_git
from engine.adapters.hub import Hub
from engine.errors import Broken, EngineError, Refused, Unavailable
from engine.rules.words import Stats
from tests.adapters.repositories import commit, git, repository

SERVE = ("git", "-c", "safe.directory=*", "upload-pack")


@dataclass
class Shop:
    """An owner's repository with a bare origin, known to a hub, and a goal begun in it."""

    hub: Hub
    repo: Path
    origin: Path
    base: str
    lead: str

    async def piece(self, name: str, files: dict[str, str | None]) -> str:
        """Build a worker's commit on the base and take it into the hub."""
        return await worker(self.hub, self.repo.parent, self.base, name, files)


async def worker(hub: Hub, folder: Path, base: str, name: str, files: dict[str, str | None]) -> str:
    tree = folder / f"tree-{name}"
    git(folder, "clone", "-q", str(folder / "hub/shop.git"), str(tree), "--no-checkout")
    branch = f"quarterdeck/worker-{name}"
    git(tree, "fetch", "-q", "origin", base)
    git(tree, "checkout", "-q", "-b", branch, base)
    made = commit(tree, f"build {name}", files)
    taken = await hub.collect("shop", f"p-{name}", branch, SERVE, str(tree), made)
    assert taken.commit == made, taken.failure
    return made


@pytest.fixture
async def shop(tmp_path: Path) -> Shop:
    repo = repository(tmp_path / "shop", {"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n"})
    origin = tmp_path / "origin.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(origin))
    git(repo, "remote", "add", "origin", str(origin))
    hub = Hub(tmp_path / "hub")
    base = await hub.bring("shop", str(repo), "main")
    return Shop(hub, repo, origin, base, await hub.begin("shop", "g-3", base, "Orders page"))


def everything(repo: Path) -> dict[str, tuple[int, bytes]]:
    """Return each file of a repository with its mode and content, its git directory too."""
    return {
        str(path.relative_to(repo)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(repo.rglob("*"))
        if path.is_file()
    }


# ---- what the owner names


async def test_a_repository_with_an_origin_is_pushed_to_its_origin(shop: Shop) -> None:
    source = await shop.hub.inspect(str(shop.repo), None)
    assert (source.source, source.is_path, source.base) == (str(shop.repo), True, "main")
    assert (source.push_url, source.push_branch_only) == (str(shop.origin), False)
    assert source.notes == ()


async def test_without_an_origin_push_makes_a_branch_in_the_repository(tmp_path: Path) -> None:
    source = await Hub(tmp_path / "hub").inspect(str(repository(tmp_path / "shop")), None)
    assert (source.push_url, source.push_branch_only) == ("", True)
    assert "quarterdeck/<goal>" in source.notes[0]


async def test_a_linked_worktree_is_a_repository_too(tmp_path: Path) -> None:
    """BR-91."""
    repo = repository(tmp_path / "shop")
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-q", "-b", "side", str(linked))
    hub = Hub(tmp_path / "hub")
    source = await hub.inspect(str(linked), None)
    assert (source.source, source.base) == (str(linked), "side")
    assert await hub.bring("shop", source.source, "side") == git(repo, "rev-parse", "side")


async def test_a_path_with_spaces_and_other_letters_works(tmp_path: Path) -> None:
    """BR-92."""
    repo = repository(tmp_path / "проект пробел 'n' \"q\" $HOME")
    hub = Hub(tmp_path / "hüb")
    source = await hub.inspect(f"  {repo}  ", None)
    assert await hub.bring("shop", source.source, "main") == git(repo, "rev-parse", "HEAD")


async def test_a_bare_repository_is_a_source(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(bare, "remote", "remove", "origin")
    source = await Hub(tmp_path / "hub").inspect(str(bare), None)
    assert (source.source, source.base, source.push_branch_only) == (str(bare), "main", True)


async def test_what_the_owner_should_know_is_noted(shop: Shop) -> None:
    """BR-74, BR-86."""
    git(shop.repo, "config", "core.hooksPath", ".husky/_")
    git(shop.repo, "checkout", "-q", "-b", "feature")
    (shop.repo / "a.txt").write_text("unsaved\n")
    ahead = commit(repository(shop.repo.parent / "other"), "more", {"c": "c"})
    git(shop.repo, "fetch", "-q", str(shop.repo.parent / "other"), ahead)
    git(shop.repo, "update-ref", "refs/remotes/origin/main", ahead)
    notes = "\n".join((await shop.hub.inspect(str(shop.repo), "main")).notes)
    assert "changes that are not committed" in notes
    assert "Its checkout is on feature; agents start from main." in notes
    assert "origin's main is 2 commits ahead of yours" in notes
    assert "git hooks (.husky/_) are inactive" in notes


async def test_commits_that_a_push_would_take_along_are_noted(shop: Shop) -> None:
    git(shop.repo, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert (await shop.hub.inspect(str(shop.repo), None)).notes == ()
    commit(shop.repo, "mine alone", {"mine": "1"})
    (note,) = (await shop.hub.inspect(str(shop.repo), None)).notes
    assert note == "Your main is 1 commit ahead of origin's: Push sends that too."


async def test_a_password_in_the_origins_address_is_not_kept(shop: Shop) -> None:
    git(shop.repo, "remote", "set-url", "origin", "https://me:hunter2@example.org/shop.git")
    source = await shop.hub.inspect(str(shop.repo), None)
    assert source.push_url == "https://example.org/shop.git"
    assert "holds a password" in source.notes[0]


@pytest.mark.parametrize(
    ("make", "base", "sentence"),
    [
        ("true", None, "is no git repository"),
        ("rm -r $PWD", None, "There is nothing at"),
        ("git init -q -b main", None, "has no commit yet"),
        ("$REPO; git checkout -q --detach", None, "its HEAD is detached"),
        ("$REPO", "nope", "has no branch nope. Its branches are main."),
        ("$REPO; git checkout -q --orphan new", None, "on branch new, which has no commit yet"),
        ("$REPO; git config extensions.partialClone origin", None, "is a partial clone"),
        ("git init -q -b main ..", None, "lies inside the repository"),
        (
            "$REPO; git update-ref refs/remotes/origin/dev HEAD",
            "dev",
            "Run `git branch dev origin/dev` there",
        ),
    ],
)
async def test_what_cannot_be_worked_with_is_refused_in_a_sentence(
    tmp_path: Path, make: str, base: str | None, sentence: str
) -> None:
    place = tmp_path / "inside" / "place"
    place.mkdir(parents=True)
    start = "git init -q -b main && git -c user.name=n -c user.email=e commit -q --allow-empty -m 1"
    done = await asyncio.create_subprocess_shell(make.replace("$REPO", start), cwd=place)
    assert await done.wait() == 0
    with pytest.raises(Refused) as refused:
        await Hub(tmp_path / "hub").inspect(str(place), base)
    assert sentence in refused.value.sentence


async def test_a_place_that_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    shut.mkdir(mode=0)
    hub = Hub(tmp_path / "hub")
    # Root may look anywhere, and finds nothing.
    with pytest.raises(Refused, match=r"may not be read by the user we run as|There is nothing at"):
        await hub.inspect(str(shut / "shop"), None)
    with pytest.raises(Refused, match="There is nothing at"):
        await hub.inspect(str(tmp_path / ("x" * 300)), None)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "Give the folder"),
        ("--upload-pack=touch /tmp/x", "Give the folder"),
        ("https://me:hunter2@example.org/shop", "holds a password"),
        ("ext::sh -c true", "There is nothing at"),
    ],
)
async def test_an_address_that_must_not_be_used_is_refused(
    tmp_path: Path, source: str, sentence: str
) -> None:
    with pytest.raises(Refused) as refused:
        await Hub(tmp_path / "hub").inspect(source, None)
    assert sentence in refused.value.sentence
    assert "hunter2" not in refused.value.sentence


async def test_a_shallow_clone_is_refused_with_the_way_out(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    commit(repo, "second", {"b": "b"})
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", str(tmp_path / "shallow"))
    with pytest.raises(Refused, match="fetch --unshallow"):
        await Hub(tmp_path / "hub").inspect(str(tmp_path / "shallow"), None)


async def test_an_address_is_asked_for_its_default_branch(shop: Shop) -> None:
    source = await shop.hub.inspect(f"file://{shop.origin}", None)
    assert (source.is_path, source.base, source.push_url) == (False, "main", source.source)
    with pytest.raises(Refused, match="has no branch nope"):
        await shop.hub.inspect(f"file://{shop.origin}", "nope")


async def test_an_address_nobody_answers_at_is_refused_with_gits_words(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="does not appear to be a git repository"):
        await Hub(tmp_path / "hub").inspect(f"file://{tmp_path}/nothing.git", None)


async def test_commits_are_made_in_the_owners_name(shop: Shop) -> None:
    """BR-89."""
    assert await shop.hub.identity(f"file://{shop.origin}") != ("", "")
    git(shop.repo, "config", "user.name", "Owner Ö")
    git(shop.repo, "config", "user.email", "owner@example.org")
    assert await shop.hub.identity(str(shop.repo)) == ("Owner Ö", "owner@example.org")


# ---- bringing


async def test_bringing_leaves_the_owners_repository_as_it_was(shop: Shop) -> None:
    (shop.repo / "a.txt").write_text("unsaved\n")
    (shop.repo / "staged.txt").write_text("staged\n")
    git(shop.repo, "add", "staged.txt")
    os.utime(shop.repo / "b.txt", (1, 1))  # so that a status of ours would write the index
    before = everything(shop.repo)
    await shop.hub.inspect(str(shop.repo), None)
    assert await shop.hub.bring("shop", str(shop.repo), "main") == shop.base
    assert everything(shop.repo) == before


async def test_bringing_again_follows_the_branch_wherever_it_went(shop: Shop) -> None:
    git(shop.repo, "commit", "-q", "--amend", "-m", "rewritten")
    rewritten = git(shop.repo, "rev-parse", "main")
    assert await shop.hub.bring("shop", str(shop.repo), "main") == rewritten != shop.base
    assert await shop.hub.head("shop", shop.lead) == shop.base


async def test_a_base_that_is_gone_is_refused(shop: Shop) -> None:
    git(shop.repo, "branch", "-m", "main", "trunk")
    with pytest.raises(Refused, match="has no branch main any more"):
        await shop.hub.bring("shop", str(shop.repo), "main")


async def test_a_repository_of_longer_ids_is_brought_as_it_is(tmp_path: Path) -> None:
    repo = tmp_path / "shop"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main", "--object-format=sha256")
    made = commit(repo, "first", {"a": "a"})
    hub = Hub(tmp_path / "hub")
    assert await hub.bring("shop", str(repo), "main") == made
    branch = await hub.begin("shop", "g-1", made, "x")
    assert await hub.land("shop", branch, made, made)


async def test_hooks_and_fsmonitor_of_the_owners_repository_do_not_run(shop: Shop) -> None:
    marker = shop.repo.parent / "marker"
    script = shop.repo.parent / "planted"
    script.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(marker))}\n")
    script.chmod(0o755)
    git(shop.repo, "config", "core.fsmonitor", str(script))
    git(shop.repo, "config", "uploadpack.packObjectsHook", str(script))
    for name in ("post-checkout", "reference-transaction", "pre-push"):
        (shop.repo / ".git/hooks" / name).write_text(script.read_text())
        (shop.repo / ".git/hooks" / name).chmod(0o755)
    (shop.repo / "c.txt").write_text("c\n")
    await shop.hub.inspect(str(shop.repo), None)
    await shop.hub.bring("again", str(shop.repo), "main")
    assert not marker.exists()


# ---- lead branches


async def test_a_lead_branch_is_begun_once(shop: Shop) -> None:
    assert shop.lead == "quarterdeck/g-3-orders-page"
    made = await shop.piece("one", {"c.txt": "c\n"})
    assert await shop.hub.land("shop", shop.lead, made, shop.base)
    assert await shop.hub.begin("shop", "g-3", shop.base, "Another title") == shop.lead
    assert await shop.hub.head("shop", shop.lead) == made
    assert await shop.hub.begin("shop", "g-31", shop.base, "?") == "quarterdeck/g-31"
    assert await shop.hub.begin("shop", "g-31", shop.base, "?") == "quarterdeck/g-31"


async def test_a_title_full_of_what_git_refuses_begins_a_branch(shop: Shop) -> None:
    for number, title in enumerate(["../..", "a..b~^:?*[\\", "@{-1}", "-x", "x.lock", "", "\x00"]):
        branch = await shop.hub.begin("shop", f"g-{100 + number}", shop.base, title)
        assert await shop.hub.head("shop", branch) == shop.base


# ---- quarantine


async def test_a_workers_commit_is_taken_and_no_branch_moves(shop: Shop) -> None:
    made = await shop.piece("one", {"c.txt": "c\n"})
    refs = git(shop.hub.path("shop"), "for-each-ref", "--format=%(refname) %(objectname)")
    assert refs.splitlines() == [
        f"refs/heads/{shop.lead} {shop.base}",
        f"refs/quarantine/p-one/{made} {made}",
        f"refs/source/main {shop.base}",
    ]


async def test_a_hub_that_was_taken_away_is_said_and_not_waited_for(shop: Shop) -> None:
    made = await shop.piece("orders", {"c.txt": "c\n"})
    shutil.rmtree(shop.hub.path("shop"))
    tree = shop.repo.parent / "tree-orders"
    branch = "quarterdeck/worker-orders"
    with pytest.raises(Refused, match="The clone of shop that this machine kept is gone"):
        await shop.hub.collect("shop", "p-orders", branch, SERVE, str(tree), made)
    with pytest.raises(Refused, match="is gone"):
        await shop.hub.diff("shop", shop.base, made)
    with pytest.raises(Refused, match="is gone"):
        await shop.hub.take_remote("shop", str(shop.origin), "main", made, "Take main in")


async def test_a_branch_that_is_elsewhere_than_was_said_is_not_taken(shop: Shop) -> None:
    said = await shop.piece("one", {"c.txt": "c\n"})
    tree = shop.repo.parent / "tree-one"
    later = commit(tree, "later", {"c.txt": "evil\n"})
    branch = "quarterdeck/worker-one"
    taken = await shop.hub.collect("shop", "p-2", branch, SERVE, str(tree), said)
    assert taken.commit == ""
    assert taken.failure == f"{branch} is at {later[:12]} now and not at {said[:12]}, as was said"
    assert "p-2" not in git(shop.hub.path("shop"), "for-each-ref")


async def test_a_corrected_branch_is_taken_again(shop: Shop) -> None:
    """BR-77."""
    await shop.piece("one", {"c.txt": "wrong\n"})
    tree = shop.repo.parent / "tree-one"
    right = commit(tree, "corrected", {"c.txt": "right\n"})
    taken = await shop.hub.collect(
        "shop", "p-one", "quarterdeck/worker-one", SERVE, str(tree), right
    )
    assert taken.commit == right
    assert (await shop.hub.merge("shop", shop.lead, right, "Land")).commit == right


async def test_a_worker_that_serves_another_commit_under_the_name_is_found_out(shop: Shop) -> None:
    said = await shop.piece("one", {"c.txt": "c\n"})
    other = repository(shop.repo.parent / "other", {"x": "x"})
    git(other, "branch", "quarterdeck/worker-two")
    liar = ("sh", "-c", f"exec git -c safe.directory='*' upload-pack {shlex.quote(str(other))}")
    taken = await shop.hub.collect("shop", "p-9", "quarterdeck/worker-two", liar, "/tree", said)
    assert taken.commit == ""
    assert "and not at" in taken.failure


async def test_a_damaged_commit_is_not_taken(shop: Shop) -> None:
    tree = repository(shop.repo.parent / "tree")
    blob = git(tree, "hash-object", "-w", "README.md")
    listing = shop.repo.parent / "listing"
    listing.write_bytes(b"100644 .git\0" + bytes.fromhex(blob))
    top = git(tree, "hash-object", "-w", "-t", "tree", "--literally", str(listing))
    made = git(tree, "commit-tree", top, "-m", "a tree that would write into .git")
    git(tree, "update-ref", "refs/heads/quarterdeck/worker-x", made)
    taken = await shop.hub.collect("shop", "p-1", "quarterdeck/worker-x", SERVE, str(tree), made)
    assert taken.commit == ""
    assert "hasDotgit" in taken.failure


async def test_only_a_workers_branch_and_a_whole_id_can_be_taken(shop: Shop) -> None:
    with pytest.raises(Broken):
        await shop.hub.collect("shop", "p-1", "main", SERVE, str(shop.repo), shop.base)
    with pytest.raises(Broken):
        await shop.hub.collect("shop", "p-1", "quarterdeck/worker-x", SERVE, "/t", "HEAD")


async def test_a_machine_that_does_not_answer_is_no_verdict(shop: Shop) -> None:
    with pytest.raises(Unavailable, match="could not be taken"):
        await shop.hub.collect(
            "shop", "p-1", "quarterdeck/worker-x", ("false",), "/tree", shop.base
        )


# ---- merging and landing


async def test_a_piece_on_the_head_lands_as_it_is(shop: Shop) -> None:
    made = await shop.piece("one", {"c.txt": "c\n"})
    merged = await shop.hub.merge("shop", shop.lead, made, "Land one")
    assert (merged.commit, merged.onto, merged.failure) == (made, shop.base, "")


async def test_two_pieces_are_joined_in_a_commit_that_is_the_same_each_time(shop: Shop) -> None:
    one = await shop.piece("one", {"a.txt": "1!\n2\n3\n4\n5\n"})
    two = await shop.piece("two", {"a.txt": "1\n2\n3\n4\n5!\n", "café.py": "x\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    message = "Land piece 2 “Orders page”\n\nwith a body\x00\n"
    merged = await shop.hub.merge("shop", shop.lead, two, message)
    assert (merged.onto, merged.failure) == (one, "")
    assert merged == await shop.hub.merge("shop", shop.lead, two, message)
    hub = shop.hub.path("shop")
    assert git(hub, "show", "-s", "--format=%P", merged.commit) == f"{one} {two}"
    assert git(hub, "show", f"{merged.commit}:a.txt") == "1!\n2\n3\n4\n5!"
    assert git(hub, "show", "-s", "--format=%B", merged.commit) == (
        "Land piece 2 “Orders page”\n\nwith a body"
    )
    assert await shop.hub.head("shop", shop.lead) == one


async def test_a_conflict_names_its_paths_and_moves_nothing(shop: Shop) -> None:
    one = await shop.piece("one", {"a.txt": "one\n", "b.txt": None})
    two = await shop.piece("two", {"a.txt": "two\n", "b.txt": "changed\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    merged = await shop.hub.merge("shop", shop.lead, two, "Land two")
    assert merged.commit == ""
    assert merged.conflict_paths == ("a.txt", "b.txt")
    assert "CONFLICT (content): Merge conflict in a.txt" in merged.failure
    assert "CONFLICT (modify/delete): b.txt" in merged.failure
    assert await shop.hub.head("shop", shop.lead) == one


async def test_what_is_in_the_branch_already_says_there_is_nothing_to_land(shop: Shop) -> None:
    """BR-94."""
    one = await shop.piece("one", {"c.txt": "c\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    merged = await shop.hub.merge("shop", shop.lead, one, "Land one")
    assert merged.contained
    assert "nothing to land" in merged.failure


async def test_a_history_of_its_own_is_not_joined(shop: Shop) -> None:
    other = repository(shop.repo.parent / "other", {"x": "x"})
    git(other, "branch", "quarterdeck/worker-x")
    made = git(other, "rev-parse", "HEAD")
    await shop.hub.collect("shop", "p-1", "quarterdeck/worker-x", SERVE, str(other), made)
    merged = await shop.hub.merge("shop", shop.lead, made, "Land")
    assert (merged.commit, merged.failure) == ("", f"it shares no history with {shop.lead}")


async def test_of_two_landings_at_once_one_finds_the_head_moved(shop: Shop) -> None:
    one = await shop.piece("one", {"c.txt": "c\n"})
    two = await shop.piece("two", {"d.txt": "d\n"})
    merges = await asyncio.gather(
        shop.hub.merge("shop", shop.lead, one, "1"), shop.hub.merge("shop", shop.lead, two, "2")
    )
    landed = await asyncio.gather(
        *(shop.hub.land("shop", shop.lead, made.commit, made.onto) for made in merges)
    )
    assert sorted(landed) == [False, True]
    late = two if landed[0] else one
    again = await shop.hub.merge("shop", shop.lead, late, "again")
    assert await shop.hub.land("shop", shop.lead, again.commit, again.onto)
    names = git(shop.hub.path("shop"), "ls-tree", "--name-only", shop.lead)
    assert names.split() == ["a.txt", "b.txt", "c.txt", "d.txt"]


async def test_landing_again_finds_it_landed(shop: Shop) -> None:
    one = await shop.piece("one", {"c.txt": "c\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    two = await shop.piece("two", {"d.txt": "d\n"})
    assert not await shop.hub.land("shop", shop.lead, two, shop.base)
    assert await shop.hub.head("shop", shop.lead) == one


async def test_the_owners_main_is_not_touched_by_a_landing(shop: Shop) -> None:
    """BR-79."""
    (shop.repo / "a.txt").write_text("unsaved\n")
    before = everything(shop.repo)
    one = await shop.piece("one", {"c.txt": "c\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    assert everything(shop.repo) == before


async def test_a_mode_bit_alone_is_landed(shop: Shop) -> None:
    """BR-94."""
    tree = shop.repo.parent / "tree"
    git(shop.repo.parent, "clone", "-q", str(shop.repo), str(tree))
    (tree / "a.txt").chmod(0o755)
    branch = "quarterdeck/worker-mode"
    git(tree, "checkout", "-q", "-b", branch)
    made = commit(tree, "make it run", {})
    await shop.hub.collect("shop", "p-1", branch, SERVE, str(tree), made)
    merged = await shop.hub.merge("shop", shop.lead, made, "Land")
    assert await shop.hub.land("shop", shop.lead, merged.commit, merged.onto)
    assert await shop.hub.stats("shop", shop.base, shop.lead) == Stats(1, 1, 0, 0)
    assert git(shop.hub.path("shop"), "ls-tree", shop.lead, "a.txt").startswith("100755")


async def test_the_lock_of_a_process_that_died_is_taken_away(shop: Shop) -> None:
    one = await shop.piece("one", {"c.txt": "c\n"})
    lock = shop.hub.path("shop") / f"refs/heads/{shop.lead}.lock"
    lock.touch()
    with pytest.raises(Unavailable, match="File exists"):
        await shop.hub.land("shop", shop.lead, one, shop.base)
    os.utime(lock, (1, 1))
    assert await shop.hub.land("shop", shop.lead, one, shop.base)


async def test_a_cancelled_git_leaves_no_process(shop: Shop) -> None:
    told = shop.repo.parent / "told"
    os.mkfifo(told)
    serve = ("sh", "-c", f"echo $$ > {shlex.quote(str(told))}; exec sleep 600")
    task = asyncio.create_task(
        shop.hub.collect("shop", "p-1", "quarterdeck/worker-x", serve, "/tree", shop.base)
    )
    pid = int(await asyncio.to_thread(told.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(500):
        if not _alive(pid):
            break
        await asyncio.sleep(0.01)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# ---- what is shown


async def test_names_that_are_no_ascii_are_shown_as_they_are(shop: Shop) -> None:
    """BR-92."""
    made = await shop.piece(
        "one",
        {
            "café.py": "é\n",
            "Äbc.txt": "x\n",
            "two\nlines.txt": "x\n",
            ".claude/settings.json": "{}",
            "b.txt": None,
            "b2.txt": "b\n",
        },
    )
    assert set(await shop.hub.changed("shop", shop.base, made)) == {
        ".claude/settings.json",
        "b.txt",
        "b2.txt",
        "café.py",
        "two\nlines.txt",
        "Äbc.txt",
    }
    assert "+++ b/café.py" in await shop.hub.diff("shop", shop.base, made)
    only = await shop.hub.diff("shop", shop.base, made, "Äbc.txt")
    assert "Äbc.txt" in only
    assert "café.py" not in only
    assert await shop.hub.stats("shop", shop.base, made) == Stats(1, 5, 4, 0)
    assert await shop.hub.risks("shop", shop.base, made) == (
        "changes what agents are told or allowed: .claude/settings.json",
    )


async def test_bytes_that_are_no_text_can_be_kept_and_shown(shop: Shop) -> None:
    """BR-92."""
    tree = shop.repo.parent / "tree"
    git(shop.repo.parent, "clone", "-q", str(shop.repo), str(tree))
    branch = "quarterdeck/worker-bytes"
    git(tree, "checkout", "-q", "-b", branch)
    (tree / os.fsdecode(b"na\xffme")).write_bytes(b"\xff\n")
    (tree / "binary").write_bytes(bytes(range(256)))
    (tree / "link").symlink_to("/etc/passwd")
    made = commit(tree, "bytes", {})
    await shop.hub.collect("shop", "p-1", branch, SERVE, str(tree), made)
    changed = await shop.hub.changed("shop", shop.base, made)
    assert changed == ("binary", "link", "na\\xffme")
    (await shop.hub.diff("shop", shop.base, made)).encode("utf-8")
    assert (await shop.hub.stats("shop", shop.base, made)).files == 3
    assert await shop.hub.risks("shop", shop.base, made) == (
        "adds or changes symbolic links: link",
    )


async def test_commits_are_counted_without_merges(shop: Shop) -> None:
    one = await shop.piece("one", {"c.txt": "c\n"})
    two = await shop.piece("two", {"d.txt": "d\nd\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    merged = await shop.hub.merge("shop", shop.lead, two, "Land")
    assert await shop.hub.land("shop", shop.lead, merged.commit, merged.onto)
    assert await shop.hub.stats("shop", shop.base, shop.lead) == Stats(2, 2, 3, 0)


# ---- shipping


async def ready(shop: Shop) -> str:
    one = await shop.piece("one", {"c.txt": "c\n"})
    assert await shop.hub.land("shop", shop.lead, one, shop.base)
    return one


async def test_locks_that_a_push_left_at_a_remote_of_this_box_are_taken_away_once_old(
    shop: Shop,
) -> None:
    """What serves such a remote is ours, and dies with us between its lock and its rename."""
    head, url = await ready(shop), str(shop.origin)
    locks = [shop.origin / "HEAD.lock", shop.origin / "refs/heads/main.lock"]
    for lock in locks:
        lock.touch()
    done = await shop.hub.push("shop", url, "main", head, shop.base)
    assert not done.landed
    assert "main.lock" in done.words or "HEAD.lock" in done.words
    for lock in locks:
        os.utime(lock, (1, 1))
    assert (await shop.hub.push("shop", url, "main", head, shop.base)).landed
    assert git(shop.origin, "rev-parse", "main") == head


async def test_a_push_moves_the_remote_and_reads_it_back(shop: Shop) -> None:
    head, url = await ready(shop), str(shop.origin)
    taken = await shop.hub.take_remote("shop", url, "main", head, "Take in main")
    assert (taken.remote_head, taken.commit, taken.moved) == (shop.base, head, False)
    done = await shop.hub.push("shop", url, "main", head, taken.remote_head)
    assert (done.landed, done.where) == (True, f"branch main at {url}")
    assert git(shop.origin, "rev-parse", "main") == head
    assert await shop.hub.push("shop", url, "main", head, taken.remote_head) == done
    assert (await shop.hub.take_remote("shop", url, "main", head, "again")).commit == head


async def test_a_push_is_made_once_even_when_others_went_on_from_it(shop: Shop) -> None:
    head, url = await ready(shop), str(shop.origin)
    assert (await shop.hub.push("shop", url, "main", head, shop.base)).landed
    other = shop.repo.parent / "other"
    git(shop.repo.parent, "clone", "-q", url, str(other))
    after = commit(other, "after", {"z": "z"})
    git(other, "push", "-q", "origin", "main")
    assert (await shop.hub.push("shop", url, "main", head, shop.base)).landed
    assert git(shop.origin, "rev-parse", "main") == after


async def test_a_remote_that_moved_is_taken_in_and_not_overwritten(shop: Shop) -> None:
    head, url = await ready(shop), str(shop.origin)
    moved = commit(shop.repo, "the owner went on", {"z.txt": "z\n"})
    git(shop.repo, "push", "-q", "origin", "main")
    late = await shop.hub.push("shop", url, "main", head, shop.base)
    assert (late.landed, late.moved) == (False, True)
    taken = await shop.hub.take_remote("shop", url, "main", head, "Take in main")
    assert (taken.remote_head, taken.moved, taken.failure) == (moved, True, "")
    assert (await shop.hub.push("shop", url, "main", taken.commit, moved)).landed
    assert git(shop.origin, "show", "-s", "--format=%P", "main") == f"{moved} {head}"


async def test_a_remote_that_conflicts_says_so(shop: Shop) -> None:
    head = await ready(shop)
    commit(shop.repo, "the owner went on", {"c.txt": "other\n"})
    git(shop.repo, "push", "-q", "origin", "main")
    taken = await shop.hub.take_remote("shop", str(shop.origin), "main", head, "Take in main")
    assert (taken.commit, taken.conflict_paths) == ("", ("c.txt",))
    assert "CONFLICT" in taken.failure


async def test_a_push_that_would_drop_commits_is_not_made(shop: Shop) -> None:
    head = await ready(shop)
    moved = commit(shop.repo, "the owner went on", {"z.txt": "z\n"})
    git(shop.repo, "push", "-q", "origin", "main")
    done = await shop.hub.push("shop", str(shop.origin), "main", head, moved)
    assert not done.landed
    assert "would drop commits" in done.words
    assert git(shop.origin, "rev-parse", "main") == moved


async def test_a_refused_push_comes_back_with_the_remotes_words(shop: Shop) -> None:
    head = await ready(shop)
    hook = shop.origin / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'main is protected: ask Ö'\nexit 1\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    done = await shop.hub.push("shop", str(shop.origin), "main", head, shop.base)
    assert (done.landed, done.moved) == (False, False)
    assert "pre-receive hook declined" in done.words
    assert "main is protected: ask Ö" in done.words


async def test_without_a_remote_a_branch_is_made_and_the_checkout_is_left(shop: Shop) -> None:
    head = await ready(shop)
    (shop.repo / "a.txt").write_text("unsaved\n")
    branch, url = "quarterdeck/g-3", str(shop.repo)
    assert await shop.hub.remote_head("shop", url, branch) == ""
    done = await shop.hub.push("shop", url, branch, head, "")
    assert (done.landed, done.where) == (True, f"branch quarterdeck/g-3 at {url}")
    assert git(shop.repo, "rev-parse", branch) == head
    assert git(shop.repo, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(shop.repo, "rev-parse", "main") == shop.base
    assert git(shop.repo, "status", "--porcelain") == "M a.txt"


async def test_a_branch_of_that_name_made_meanwhile_is_not_overwritten(shop: Shop) -> None:
    head = await ready(shop)
    mine = commit(shop.repo, "the owner's own", {"z": "z"})
    git(shop.repo, "branch", "quarterdeck/g-3")
    done = await shop.hub.push("shop", str(shop.repo), "quarterdeck/g-3", head, "")
    assert (done.landed, done.moved) == (False, True)
    assert git(shop.repo, "rev-parse", "quarterdeck/g-3") == mine


async def test_the_owners_settings_push_nothing_else_along(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = await ready(shop)
    home = shop.repo.parent / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[push]\nfollowTags = true\n[core]\nhooksPath = /nope\n")
    monkeypatch.setenv("HOME", str(home))
    git(shop.hub.path("shop"), "tag", "-a", "v1", "-m", "v1", head)
    assert (await shop.hub.push("shop", str(shop.origin), "main", head, shop.base)).landed
    assert git(shop.origin, "tag") == ""


async def test_an_ssh_remote_uses_the_owners_own_command(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = await ready(shop)
    ssh = shop.repo.parent / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", shlex.quote(str(ssh)))
    url = f"ssh://git@example.org{shop.origin}"
    assert await shop.hub.remote_head("shop", url, "main") == shop.base
    assert (await shop.hub.push("shop", url, "main", head, shop.base)).landed


async def test_a_remote_out_of_reach_is_tried_again_and_a_refused_login_is_not(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "ssh://git@example.org/shop.git"
    monkeypatch.setenv("GIT_SSH_COMMAND", "echo 'ssh: connect to host: No route' >&2; false")
    with pytest.raises(Unavailable, match="No route"):
        await shop.hub.remote_head("shop", url, "main")
    monkeypatch.setenv("GIT_SSH_COMMAND", "echo 'Permission denied (publickey).' >&2; false")
    with pytest.raises(Refused, match="Permission denied"):
        await shop.hub.remote_head("shop", url, "main")


# ---- tidying


async def test_a_branch_goes_only_when_its_commits_are_where_they_landed(shop: Shop) -> None:
    """BR-76."""
    head = await ready(shop)
    assert not await shop.hub.tidy("shop", shop.lead, shop.base)
    assert await shop.hub.head("shop", shop.lead) == head
    assert not await shop.hub.tidy("shop", shop.lead, "quarterdeck/nowhere")
    assert await shop.hub.tidy("shop", shop.lead, head)
    assert await shop.hub.head("shop", shop.lead) == ""
    assert await shop.hub.tidy("shop", shop.lead, head)


async def test_no_branch_comes_back_by_a_late_landing(shop: Shop) -> None:
    """BR-76."""
    head = await ready(shop)
    assert await shop.hub.tidy("shop", shop.lead, head)
    assert not await shop.hub.land("shop", shop.lead, head, shop.base)
    assert await shop.hub.head("shop", shop.lead) == ""


async def test_the_hub_is_read_the_same_in_any_locale(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    assert sys.getfilesystemencoding() == "utf-8"
    with pytest.raises(Refused, match="has no branch nope any more"):
        await shop.hub.bring("shop", str(shop.repo), "nope")


async def test_commits_and_branches_are_on_the_disk_before_anybody_hears_of_them(
    shop: Shop, tmp_path: Path
) -> None:
    """Else a power cut leaves a ledger that says landed, and a hub of empty objects."""
    trace = tmp_path / "trace"
    hub, tree = shop.hub.path("shop"), f"{shop.base}^{{tree}}"
    traced = {"GIT_TRACE2_EVENT": str(trace)}
    for who in ("AUTHOR", "COMMITTER"):
        traced |= {f"GIT_{who}_NAME": "Somebody", f"GIT_{who}_EMAIL": "somebody@example.org"}
    made = await run_git("commit-tree", "-m", "Synced", tree, at=hub, env=traced)
    await run_git("update-ref", "refs/heads/synced", made.line, at=hub, env=traced)
    flushed = [line for line in trace.read_text().splitlines() if "fsync/hardware-flush" in line]
    assert len(flushed) == 2, "git 2.36 and newer are told to sync both"
