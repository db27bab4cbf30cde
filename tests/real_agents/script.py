"""The words a scripted model's parts are made of: whom it speaks for, and what it has them do.

    Part(system=WORKER, prompt="Orders page", steps=(write("page.py", "x = 1\\n"), commit("Add"), "Done."))

Used with model_server.py by the tests that play goals on quarterdeck.py.
"""

from __future__ import annotations

from tests.real_agents.model_server import Call, Json, Step, tree_of

LEAD = "You are the lead of one goal"
WORKER = "You are a worker in Quarterdeck"


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "a step"})


def desk(tool: str, **arguments: object) -> Call:
    return Call(f"mcp__quarterdeck__{tool}", arguments)


def write(name: str, text: str) -> Step:
    """Write a file of its tree, wherever that is."""

    def call(body: Json) -> Step:
        return Call("Write", {"file_path": f"{tree_of(body)}/{name}", "content": text})

    return call


def commit(message: str) -> Call:
    return bash(f'git add -A && git commit -q -m "{message}"')


def piece(title: str, *after: int) -> Json:
    return {"title": title, "task": f"Do this: {title}.", "size": "S", "after": list(after)}


def plan(summary: str, *pieces: Json) -> Call:
    return desk("propose_plan", summary=summary, pieces=list(pieces))
