"""Tests of the phone page in a real browser.

chromium.py        a headless Chromium, spoken to by its DevTools protocol
screen.py          one phone-sized tab of it: look, tap, type
test_page.py       what the page shows and does, against the emulator alone
test_goal.py       a whole goal to its push, through `quarterdeck demo`
"""
