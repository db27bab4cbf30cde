"""The rehearsal agent: plays a scenario instead of asking a model, and does the work for real.

To its host it is Claude Code: the same flags, the same JSON lines on stdin and stdout, the same questions
before it may act, the same `--resume` and the same ways to fail. Files, commands, commits and desk calls
are real. It says what it is wherever the other would give its model and version.

    python rehearse.py [Claude Code's flags]       scenario: --scenario FILE or $QUARTERDECK_SCENARIO

A scenario is a JSON object {"parts": [part, …]}. A turn plays the first part that fits:

    role      "lead" or "worker" ($QUARTERDECK_ROLE)
    prompt    words that stand in this turn's prompt; a list: all of them
    session   words that stand in the first prompt of the session
    turn      its number within the session, from 1; a list: any of them
    steps     what it does, one after the other

What is left out fits anything. A turn that no part fits ends with an error that says so. A step is an
object with one verb; strings may hold {prompt}, {tree}, {session}, {turn}, {role} and whatever a step kept:

    {"say": "text"}                              words; the last ones are the turn's
    {"think": "text"}
    {"write": {"path": "a.py", "text": "…"}}     a file, asked for as the mode wants
    {"edit": {"path": "a.py", "old": "…", "new": "…"}}
    {"run": "command"}                           in the shell; "expect": words its output must hold
    {"commit": "message"}                        git add -A && git commit
    {"desk": "propose_plan", "with": {…}}        a tool of the desk; "expect" as for run
    {"desk": "run_with_secret", "with": {"names": ["STRIPE_KEY"], "argv": ["report", "--month", "May"],
        "why": "to see the balance"}}            a stored key for a command: the owner is asked, the turn
                                                 ends, and how it went is in the prompt of the next one
                                                 ("run_with_secret: exit 0 after 3 s", then what it printed)
    {"permission": {"tool": "WebFetch", "input": {…}}}      asked for, and not done
    {"question": {"question": "…", "header": "…", "options": ["…"], "multi": false}}   or a list of them
    {"approach": "text"}                         the plan it shows before it starts
    {"wait_for": "path", "timeout_s": 60}        until the file is there
    {"pause_s": 0.5}
    {"usage": {"window": "five_hour", "utilization": 0.84, "resets_in_s": 3600}}
    {"retry": {"status": 529, "attempt": 1, "wait_s": 0.5}}
    {"busy": 1}                                  so many tasks run behind it
    {"cost": 0.25}                               dollars, instead of one cent
    {"result": "text"}                           an end of the turn that is not its last
    {"limit": {"window": "five_hour", "resets_in_s": 3600}}         or "resets_at"; ends the turn
    {"api_error": {"status": 529, "text": "…"}}  401: the login, 404: the model; ends the turn
    {"hang": true}                               silent until interrupted or killed; "deaf": until killed
    {"crash": true}                              killed by itself, as by kill -9
    {"exit": 3}
    {"stderr": "text"}
    {"garbage": "text", "glued": false}          a line that is no JSON; glued: before the next line
    {"line": {…}}                                any other line
    {"huge": 300000}                             so many characters in one line

`run`, `desk`, `question` and the verbs that ask take "keep": "name" (output, answer or the words of a
refusal) and "denied": [steps], played after a refusal. Neighbours: runner.py runs it like any agent;
engine/adapters/agents/rehearsal.py drives it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import time
from typing import Any, Callable

from engine.node.standin import (
    CENT,
    DESK,
    Agent,
    Failed,
    TurnOver,
    config_dir,
    open_agent,
    run,
    text_of,
)

Json = dict[str, Any]

WAIT_S = 60.0
MODIFIERS = {"keep", "denied", "expect", "with", "timeout_s", "glued"}


def load(path: str) -> list[Json]:
    """Return the parts of a scenario, or raise Failed with what is wrong with it."""
    if not path:
        raise Failed("Rehearsal: no scenario was given ($QUARTERDECK_SCENARIO or --scenario).")
    try:
        with open(path, encoding="utf-8") as file:
            parts = json.load(file)["parts"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"Rehearsal: the scenario cannot be read: {error}") from error
    for part in parts:
        odd = set(part) - {"role", "prompt", "session", "turn", "steps"}
        if odd:
            raise Failed(
                f"Rehearsal: a part of the scenario has {sorted(odd)}, which means nothing."
            )
        check(part.get("steps", []))
    return list(parts)


def check(steps: list[Json]) -> None:
    for step in steps:
        verb_of(step)
        check(step.get("denied", []))


def verb_of(step: Json) -> str:
    verbs = [key for key in step if key not in MODIFIERS]
    if len(verbs) != 1 or verbs[0] not in STEPS:
        raise Failed(f"Rehearsal: this step has no one verb that is known: {json.dumps(step)}")
    return verbs[0]


def fits(part: Json, role: str, first: str, prompt: str, turn: int) -> bool:
    turns = listed(part.get("turn", turn))
    words = listed(part.get("prompt", ""))
    return (
        part.get("role", role) == role
        and all(word in prompt for word in words)
        and part.get("session", "") in first
        and turn in turns
    )


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# ----------------------------------------------------------------------------------------- play


def perform(agent: Agent) -> None:
    """Play the part that fits the turn."""
    prompts = agent.session.prompts
    for part in load(agent.flags.scenario or os.environ.get("QUARTERDECK_SCENARIO", "")):
        if fits(part, agent.role, prompts[0], agent.prompt, len(prompts)):
            play(agent, part["steps"])
            return
    words = " ".join(agent.prompt.split())[:120]
    raise Failed(
        f"Rehearsal: no part of the scenario fits turn {len(prompts)} of this "
        f"{agent.role or 'session'}: {words}"
    )


def play(agent: Agent, steps: list[Json]) -> None:
    for step in steps:
        verb = verb_of(step)
        STEPS[verb](agent, filled(agent, step[verb]), step)


def filled(agent: Agent, value: Any) -> Any:
    """Return the value with every {name} in it that is known replaced."""
    if isinstance(value, list):
        return [filled(agent, one) for one in value]
    if isinstance(value, dict):
        return {key: filled(agent, one) for key, one in value.items()}
    if not isinstance(value, str):
        return value
    known = {
        "prompt": agent.prompt,
        "tree": agent.tree,
        "session": agent.session.id,
        "turn": str(len(agent.session.prompts)),
        "role": agent.role,
        **agent.session.kept,
    }
    return re.sub(r"\{(\w+)\}", lambda at: known.get(at.group(1), at.group(0)), value)


def attempt(agent: Agent, tool: str, given: Json, step: Json) -> tuple[str, Json | None]:
    """Use a tool; where it is refused, play what the step has for that, and return None."""
    use_id, allowed, words = agent.attempt(tool, given)
    if allowed is None:
        keep(agent, step, words)
        play(agent, step.get("denied", []))
    return use_id, allowed


def keep(agent: Agent, step: Json, words: str) -> None:
    if "keep" in step:
        agent.session.keep(step["keep"], words)


def expect(step: Json, words: str) -> None:
    if step.get("expect", "") not in words:
        raise Failed(f"Rehearsal: expected {step['expect']!r}, and there came: {words}")


# ---------------------------------------------------------------------------------------- steps


def step_say(agent: Agent, text: Any, _: Json) -> None:
    agent.say(text)


def step_think(agent: Agent, text: Any, _: Json) -> None:
    agent.block({"type": "thinking", "thinking": text})


def step_write(agent: Agent, what: Any, step: Json) -> None:
    path = os.path.join(agent.tree, what["path"])
    given = {"file_path": path, "content": what["text"]}
    use_id, allowed = attempt(agent, "Write", given, step)
    if allowed is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(allowed["content"])
        agent.done(use_id, f"File created successfully at: {path}")


def step_edit(agent: Agent, what: Any, step: Json) -> None:
    path = os.path.join(agent.tree, what["path"])
    given = {"file_path": path, "old_string": what["old"], "new_string": what["new"]}
    use_id, allowed = attempt(agent, "Edit", given, step)
    if allowed is None:
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if what["old"] not in text:
        agent.done(use_id, "String to replace not found in file.", error=True)
        raise Failed(f"Rehearsal: {what['path']} does not hold {what['old']!r}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(what["old"], what["new"], 1))
    agent.done(use_id, f"The file {path} has been updated.")


def step_run(agent: Agent, command: Any, step: Json) -> None:
    given = {"command": command, "description": "a step of the scenario"}
    use_id, allowed = attempt(agent, "Bash", given, step)
    if allowed is not None:
        code, output = run(agent, allowed["command"])
        words = output if code == 0 else f"Exit code {code}\n{output}"
        agent.done(use_id, words, error=code != 0)
        keep(agent, step, words)
        expect(step, words)


def step_commit(agent: Agent, message: Any, step: Json) -> None:
    step_run(agent, f"git add -A && git commit -q -m {shlex.quote(message)}", step)


def step_desk(agent: Agent, name: Any, step: Json) -> None:
    tool = f"mcp__{DESK}__{name}"
    use_id, given = attempt(agent, tool, filled(agent, step.get("with", {})), step)
    if given is None:
        return
    if agent.desk is None:
        agent.open_desk()
    answer = agent.call_desk("tools/call", {"name": name, "arguments": given})
    if answer is None:
        agent.done(use_id, "Connection closed", error=True)
        raise Failed(f"Rehearsal: the desk was not there for {name}.")
    words = text_of(answer.get("content", []))
    agent.done(use_id, words, error=bool(answer.get("isError")))
    keep(agent, step, words)
    expect(step, words)


def step_permission(agent: Agent, what: Any, step: Json) -> None:
    use_id, given = attempt(agent, what["tool"], what.get("input", {}), step)
    if given is not None:
        agent.done(use_id, "Done, in rehearsal.")


def step_question(agent: Agent, what: Any, step: Json) -> None:
    questions = [
        {
            "question": one["question"],
            "header": one.get("header", ""),
            "multiSelect": bool(one.get("multi", False)),
            "options": [{"label": label, "description": ""} for label in one.get("options", [])],
        }
        for one in listed(what)
    ]
    use_id, given = attempt(agent, "AskUserQuestion", {"questions": questions}, step)
    if given is None:
        return
    answers = given.get("answers", {})
    said = ". ".join(f'"{text}"="{answer}"' for text, answer in answers.items())
    agent.done(use_id, f"Your questions have been answered: {said}")
    keep(agent, step, "\n".join(str(answer) for answer in answers.values()))


def step_approach(agent: Agent, text: Any, step: Json) -> None:
    path = os.path.join(config_dir(), "plans", f"{agent.session.id}.md")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    agent.done(agent.use("Write", {"file_path": path, "content": text}), "File created")
    use_id, given = attempt(agent, "ExitPlanMode", {"plan": text, "planFilePath": path}, step)
    if given is not None:
        agent.done(use_id, "User has approved your plan. You can now start coding.")


def step_wait_for(agent: Agent, path: Any, step: Json) -> None:
    until = time.monotonic() + float(step.get("timeout_s", WAIT_S))
    while not os.path.exists(os.path.join(agent.tree, path)):
        if time.monotonic() > until:
            raise Failed(f"Rehearsal: {path} did not come.")
        agent.hear()


def step_pause(agent: Agent, seconds: Any, _: Json) -> None:
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        agent.hear()


def step_usage(agent: Agent, what: Any, _: Json) -> None:
    info = window(what, "allowed_warning") | {"utilization": what["utilization"]}
    agent.put({"type": "rate_limit_event", "rate_limit_info": info})


def step_retry(agent: Agent, what: Any, _: Json) -> None:
    agent.put(
        {
            "type": "system",
            "subtype": "api_retry",
            "attempt": what.get("attempt", 1),
            "max_retries": 10,
            "retry_delay_ms": 1000 * what.get("wait_s", 0.5),
            "error_status": what.get("status"),
            "error": what.get("error", "overloaded"),
        }
    )


def step_busy(agent: Agent, count: Any, _: Json) -> None:
    tasks = [{"task_id": f"task{number}", "task_type": "local_agent"} for number in range(count)]
    agent.put({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})


def step_cost(agent: Agent, dollars: Any, _: Json) -> None:
    agent.cost = float(dollars)


def step_result(agent: Agent, text: Any, _: Json) -> None:
    agent.end(text)
    agent.cost = CENT


def step_limit(agent: Agent, what: Any, _: Json) -> None:
    info = window(what, "rejected")
    agent.put({"type": "rate_limit_event", "rate_limit_info": info})
    text = f"You've hit your {info['rateLimitType'].replace('_', ' ')} limit"
    more = {"api_error": "usage_limit_reached", "api_error_status": 429}
    agent.synthetic(text, {"error": "rate_limit", **more})
    agent.end(text, reason="api_error", error=True, more=more)
    raise TurnOver


def step_api_error(agent: Agent, what: Any, _: Json) -> None:
    status = what.get("status", 500)
    words = {401: "authentication_failed", 403: "oauth_org_not_allowed", 404: "model_not_found"}
    text = what.get("text", f"API Error: {status}")
    agent.synthetic(text, {"error": words.get(status, "unknown"), "api_error_status": status})
    agent.end(text, reason="api_error", error=True, more={"api_error_status": status})
    raise TurnOver


def step_hang(agent: Agent, how: Any, _: Json) -> None:
    while how == "deaf":
        time.sleep(WAIT_S)
    while True:
        agent.hear(WAIT_S)


def step_crash(agent: Agent, _how: Any, _: Json) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def step_exit(agent: Agent, code: Any, _: Json) -> None:
    agent.leave(int(code))


def step_stderr(agent: Agent, text: Any, _: Json) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def step_garbage(agent: Agent, text: Any, step: Json) -> None:
    sys.stdout.write(text if step.get("glued") else f"{text}\n")
    sys.stdout.flush()


def step_line(agent: Agent, line: Any, _: Json) -> None:
    agent.put(line)


def step_huge(agent: Agent, count: Any, _: Json) -> None:
    agent.say("x" * int(count))


STEPS: dict[str, Callable[[Agent, Any, Json], None]] = {
    "say": step_say,
    "think": step_think,
    "write": step_write,
    "edit": step_edit,
    "run": step_run,
    "commit": step_commit,
    "desk": step_desk,
    "permission": step_permission,
    "question": step_question,
    "approach": step_approach,
    "wait_for": step_wait_for,
    "pause_s": step_pause,
    "usage": step_usage,
    "retry": step_retry,
    "busy": step_busy,
    "cost": step_cost,
    "result": step_result,
    "limit": step_limit,
    "api_error": step_api_error,
    "hang": step_hang,
    "crash": step_crash,
    "exit": step_exit,
    "stderr": step_stderr,
    "garbage": step_garbage,
    "line": step_line,
    "huge": step_huge,
}


def window(what: Json, status: str) -> Json:
    resets_at = what.get("resets_at", int(time.time() + what.get("resets_in_s", 3600)))
    name = what.get("window", "five_hour")
    return {
        "status": status,
        "rateLimitType": name,
        "resetsAt": int(resets_at),
        "isUsingOverage": False,
    }


def main() -> int:
    agent = open_agent(perform)
    if isinstance(agent, int):
        return agent
    agent.live()


if __name__ == "__main__":
    sys.exit(main())
