"""Dying before every system call that changes something, on six paths where a half-done step costs most.

    python -m tests.strace [--path land] [--every 7] [--full]

tracer.py stops a play before its N-th call, counted over all its processes and threads, and ends them all
or answers "no space left". walk.py does so at each N, plays on from what is on disk and has it judged.
The paths: accept (a decision into the ledger), land and ship (git and ledger), follow (a run's output and
how far it was read), send (the outbox, and what is in the chat), keep (a backup on another machine).

strace itself counts each thread on its own, so that most calls of a path could never be named to it;
hence a tracer of our own, with the same kernel interface. Neighbours: tests/crash.py (deaths between
commits, in process), tests/soak (deaths of whole processes).
"""
