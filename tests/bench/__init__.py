"""How fast we are, as ratios to a floor that is timed in the same run: `make bench`.

    python -m tests.bench                      every row, as a table
    python -m tests.bench tap card             some of them; `--only tap,card` is the same
    python -m tests.bench --write docs/bench.md

Nothing is asserted and nothing fails for being slow: the table is read by people. The outside is a
bot API that answers at once (cloud.py) and an agent that does nothing (agent.c); all else is the real
thing, in processes of its own (stage.py), many runs at a time where that is the question (crowd.py).
What the floor of a row is stands in that row's module.

    taps.py      a button pressed -> decided on disk, and the phone told
    turns.py     a goal sent -> its agent runs; the agent's last line -> its card
    pooled.py    a session's tree, from one that is free again
    landings.py  a finished piece -> in its lead's branch
    runners.py   a detached runner: how soon its agent runs, and what it weighs
    crowds.py    thirty goals at once; thirty turns that end in one second
    events.py    what an agent's line costs the engine, and a run more
    restarts.py  the engine killed -> every live run followed again
    bots.py      the bot started -> it hears; what was sent meanwhile
    remotes.py   a line on another machine -> known here, over SSH
    idles.py     what it costs to do nothing
"""
