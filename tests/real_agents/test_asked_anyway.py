"""What cannot be undone is asked for in every mode, on the real Claude Code: its own rules hold that."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.adapters.agents.claude import Claude
from engine.adapters.agents.driver import Asked, Ended, TurnSpec
from engine.rules.modes import Mode
from tests.adapters.agents.talk import Talk
from tests.real_agents.model_server import ModelServer
from tests.real_agents.test_cli_contract import bash, results, served, spec

__all__ = ["spec"]

pytestmark = pytest.mark.real_agent

driver = Claude()


def going(spec: TurnSpec, mode: Mode, api: ModelServer) -> Talk:
    # Root may not skip its asking, unless it says that it is in a sandbox.
    env = api.env() | {"IS_SANDBOX": "1"}
    return Talk(driver, replace(spec, mode=mode, account_env=env), str(Path(spec.tree).parent))


@pytest.mark.parametrize("mode", ["ask", "edit", "auto", "full"])
@pytest.mark.parametrize(
    "command",
    ["git push -f origin main", "cd . && git push", "npm publish", "true; gh release create v1"],
)
async def test_it_is_asked_for_in_every_mode(spec: TurnSpec, mode: Mode, command: str) -> None:
    with served(bash(command), "Over.") as api:
        async with going(spec, mode, api) as turn:
            asked = await turn.until(Asked)
            assert (asked.kind, asked.detail) == ("permission", command)
            await turn.send(driver.deny(asked, "No."))
            assert (await turn.until(Ended)).text == "Over."
        assert "No." in results(api)[0]


async def test_what_is_none_of_it_runs_unasked_in_full(spec: TurnSpec) -> None:
    with served(bash("touch made.txt"), "Made.") as api:
        async with going(spec, "full", api) as turn:
            await turn.until(Ended)
            assert turn.seen(Asked) == []
    assert (Path(spec.tree) / "made.txt").exists()
