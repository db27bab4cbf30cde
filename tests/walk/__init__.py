"""Walks over the whole story that die at every boundary of it, many deaths a play, far apart.

    python -m tests.walk      both walks, and one line of figures

engine_alone.py dies at the engine's boundaries, with_bot.py at the bot's; tests/crash.py is how one dies,
tests/engine/scenario.py the story, tests/history judges. One death a play is for tests/soak.
"""
