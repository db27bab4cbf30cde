"""How fast we are, as ratios to a floor that is timed in the same run: `make bench`.

    python -m tests.bench                      every row, as a table
    python -m tests.bench tap card             some of them
    python -m tests.bench --write docs/bench.md

Nothing is asserted and nothing fails for being slow: the table is read by people. The outside is a
bot API that answers at once (cloud.py) and an agent that does nothing (agent.c); all else is the real
thing, in processes of its own (stage.py). What the floor of a row is stands in that row's module.

    taps.py      a button pressed -> decided on disk, and the phone told
    turns.py     a goal sent -> its agent runs; the agent's last line -> its card
    landings.py  a finished piece -> in its lead's branch
    restarts.py  the engine killed -> every live run followed again
    idles.py     what it costs to do nothing
"""
