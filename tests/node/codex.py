"""The real Codex in the fence of a worker and of a lead; tells what it said of each turn.

Runs as an ordinary user, in a process of its own that is the node to both: they are started as any run is,
by engine/node/runs.py, on the grounds that test_attempts.py robs. It speaks with `codex app-server` as far
as its sandboxes go, and no further: a driver is another matter. The environment says the rest, as JSON in
TALK: Codex's program, its model's address, and what is to be asked of it. Started and judged by
tests/real_agents/test_codex_in_the_fence.py. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engine.node import fence, folder, own_network
from engine.node.runs import Runs
from tests.node.attempts import Place
from tests.node.grounds import PATIENCE_S, Grounds, spec, spooled, wait_for

CONFIG = """\
model = {model}
model_provider = "scripted"
check_for_update_on_startup = false
[features]
plugins = false  # else it looks for more of them on the internet as it starts
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = {url}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
requires_openai_auth = false
"""


class Talk:
    """One run of `codex app-server`, spoken to by the run's inbox and heard by its spool."""

    def __init__(self, runs: Runs, home: str, run: str) -> None:
        self._runs, self._home, self._run = runs, home, run
        self._asked = 0
        self._spool = open(f"{home}/runs/{run}/out.jsonl", encoding="utf-8")  # noqa: SIM115
        self._rest = ""  # of a line that was still being written
        self.heard: list[dict[str, Any]] = []

    def say(self, method: str, **params: object) -> int:
        """Send a request, or a notification where it has no parameters; return its number."""
        self._asked += 1
        line = {"id": self._asked, "method": method, "params": params}
        if not params:
            line = {"method": method}
        self._runs.input(self._run, str(self._asked), "line", json.dumps(line))
        return self._asked

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request and return its result."""
        number = self.say(method, **params)
        answer = self.until(lambda line: line.get("id") == number and "method" not in line)
        if "result" not in answer:
            sys.exit(f"{method}: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    def until(self, fits: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Return the first line from here on that fits."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for line in self._new():
                self.heard.append(line)
                if fits(line):
                    return line
            if folder.ended(f"{self._home}/runs/{self._run}"):
                break
            time.sleep(0.01)
        sys.exit(f"it did not come: {json.dumps(spooled(self._home, self._run)[-20:], indent=1)}")

    def _new(self) -> Iterator[dict[str, Any]]:
        """Yield what it printed since; a line that was not asked for stays for the next time."""
        while (text := self._rest + self._spool.readline()).endswith("\n"):
            self._rest = ""
            if (line := json.loads(text))["k"] == "out":
                yield json.loads(line["d"])
        self._rest = text

    def turn(self, thread: str, prompt: str, **more: object) -> dict[str, Any]:
        """Play one turn; return how it ended, and the items and warnings that came with it."""
        begun = len(self.heard)
        given = [{"type": "text", "text": prompt}]
        self.say("turn/start", threadId=thread, input=given, **more)
        end = self.until(lambda line: line.get("method") == "turn/completed")
        told = [line for line in self.heard[begun:] if "method" in line]
        items = [line["params"]["item"] for line in told if line["method"] == "item/completed"]
        return {
            "status": end["params"]["turn"]["status"],
            "items": [item for item in items if item["type"] != "userMessage"],
            "requests": [line["method"] for line in told if "id" in line],
        }


def play(runs: Runs, place: Place, told: dict[str, Any], run: str, lead: bool) -> dict[str, Any]:
    """Have one agent do its turns; return them with all that it warned of."""
    home, session = place["home"], run.rpartition("-")[0]
    config = f"{home}/sessions/{session}/config"
    text = CONFIG.format(model=json.dumps(told["model"]), url=json.dumps(told["url"]))
    Path(config, "config.toml").write_text(text)
    for name in ("name", "email"):
        git = ["git", "-C", f"{home}/trees/{session}", "config", f"user.{name}", "worker@localhost"]
        subprocess.run(git, check=True)
    order = spec(place, run, session, [told["program"], "app-server"])
    order["env"] = {k: v for k, v in order["env"].items() if not k.startswith("PYTHON")}
    order["env"]["CODEX_HOME"] = config
    order["fence"]["read"] += told["read"]
    order["fence"]["tree_read_only"] = lead
    # All of this machine that a run with a network of its own reaches.
    order["fence"]["ports"] = [urlsplit(told["url"]).port]
    runs.start(order, {})
    wait_for(f"{home}/runs/{run}/child.json")
    talk = Talk(runs, home, run)
    client = {"name": "quarterdeck", "title": "Quarterdeck", "version": "0"}
    talk.ask("initialize", clientInfo=client, capabilities={"experimentalApi": True})
    talk.say("initialized")
    turns = {}
    for sandbox, prompts in told["lead" if lead else "worker"].items():
        start = {"cwd": f"{home}/trees/{session}", "approvalPolicy": "never", "sandbox": sandbox}
        thread = talk.ask("thread/start", **start)["thread"]["id"]
        for prompt, more in prompts.items():
            turns[prompt] = talk.turn(thread, prompt, **more)
    runs.input(run, "end", "end", "")
    end = wait_for(f"{home}/runs/{run}/exit.json")
    warnings = [line for line in talk.heard if "arning" in line.get("method", "")]
    lines = spooled(home, run)
    return {
        "turns": turns,
        "warnings": warnings,
        "stderr": [line["d"] for line in lines if line["k"] == "err"],
        "notes": [line["d"] for line in lines if line["k"] == "note"],
        "end": end,
    }


def main(stage: str) -> dict[str, Any]:
    told = json.loads(os.environ["TALK"])
    grounds = Grounds(stage)
    probe = own_network.tried(fence.probe(), grounds.home)
    if not probe.fenced:
        sys.exit(probe.describe())
    if not probe.nesting:
        return {"nesting": False}
    place = grounds.furnish()
    runs = Runs(grounds.home, probe)
    found: dict[str, Any] = {"nesting": True, "own network": bool(probe.network)}
    try:
        found["worker"] = play(runs, place, told, "s-1-t1", False)
        found["lead"] = play(runs, place, told, "s-2-t1", True)
        found["tree"] = sorted(os.listdir(f"{grounds.home}/trees/s-1"))
        found["lead's tree"] = sorted(os.listdir(f"{grounds.home}/trees/s-2"))
        log = ["git", "-C", f"{grounds.home}/trees/s-1", "log", "--format=%s"]
        found["commits"] = subprocess.run(log, check=True, capture_output=True, text=True).stdout
        return found
    finally:
        for run in ("s-1-t1", "s-2-t1"):
            runs.kill(run)
        runs.reap()
        grounds.clear()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))  # noqa: T201 - the test reads it
