"""A desk with one tool, as an MCP server on stdio: enough to see that an agent reaches one.

    small_desk.py FILE      `note` adds its text to FILE and answers "Noted: …"

Run as a program by the agent under test, so it imports nothing but the standard library.
"""

import json
import sys

TOOL = {
    "name": "note",
    "description": "Keep a line of text.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def answer(method: str, params: dict[str, object], file: str) -> dict[str, object]:
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "quarterdeck", "version": "0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        arguments = params["arguments"]
        assert isinstance(arguments, dict)
        with open(file, "a", encoding="utf-8") as notes:
            notes.write(f"{arguments['text']}\n")
        return {"content": [{"type": "text", "text": f"Noted: {arguments['text']}"}]}
    return {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {}, sys.argv[1])
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": result}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
