"""Dying at every point of node and runner over a run's life, for real, and going on from the disk.

    story.py     what is asked of a machine, a step at a time, as the engine would ask it
    machine.py   the far end of the link: nodes that are forked, counted, ended and opened again
    walk.py      a step is played once for each of its points, from a picture of the disk before it
    __main__.py  python -m tests.nodepoints: all of them, and one line that says how many
    spools.py    python -m tests.nodepoints.spools: spoiled spools by the thousand

The points are those of engine/node/points.py, and each git command of the scripts in trees.
"""
