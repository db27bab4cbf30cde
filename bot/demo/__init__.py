"""`quarterdeck demo`: a whole goal on this machine, with nobody's account.

The engine and the bot are the real ones, started by the commands an owner would type. Three things
around them are not, and say so: the Bot API (bot/emulator), the agent (it plays goal.json, makes real
files and real commits), and the repository (sample.py makes it on the spot).

    __main__.py   builds the stage, starts `quarterdeck up`, ends all of it again
    sample.py     the repository, and the remote that Push goes to
    goal.json     what the lead and its workers do
    owner.py      the person at the phone: by itself (--play) or from the keyboard

Without --play it runs until Ctrl-C and shows the phone as a web page too (bot/emulator/page.py).
"""
