#!/usr/bin/env python3
"""A program that signs in as agents' own do, for where theirs are not: it prints what those print.

    setup-token          as `claude setup-token` of 2.1.332: a link, a code typed back in raw mode, a token
    login --device-auth  as `codex login --device-auth` of 0.171.0: a link and a code, then a file
    stuck                a link, and then nothing
    flood                much without a line's end, with a code and a link in the midst of it

Strict where they are: without a terminal `setup-token` prints nothing and hangs; a code is taken whole,
with the state of this very link. Neighbour: tests/real_agents/test_login.py tries the real ones.
"""

from __future__ import annotations

import os
import sys
import termios
import time
import tty

TOKEN = "sk-ant-oat01-" + "standing-in_0123456789" * 4 + "AA"
STATE = "st4te-of-this-link"
LINK = f"https://claude.com/cai/oauth/authorize?code=true&response_type=code&state={STATE}"


def say(text: str) -> None:
    os.write(1, text.replace("\n", "\r\r\n").encode())


def setup_token() -> int:
    if not (os.isatty(0) and os.isatty(1)):
        time.sleep(600)
    say(
        "\x1b[?25l\x1b[?2004h\x1b[38;5;174mWelcome\x1b[9Gto\x1b[12GClaude\x1b[19GCode\x1b[39m\n....\n\n"
    )
    say(
        "\x1b[2GBrowser\x1b[10Gdidn't\x1b[17Gopen?\x1b[23GUse\x1b[27Gthe\x1b[31GURL\x1b[35Gbelow\n\n"
    )
    say(f"\x1b]8;id=1;{LINK}\x07\x1b[38;5;246m{LINK}\x1b[39m\x1b]8;;\x07\n\n")
    while True:
        say(
            "\x1b[2GPaste\x1b[8Gcode\x1b[13Ghere\x1b[18Gif\x1b[21Gprompted\n\x1b[2G\x1b[38;5;153m╭──╮\n"
        )
        tty.setraw(0, termios.TCSANOW)
        typed = b""
        while not typed.endswith(b"\r"):
            typed += os.read(0, 4096)
        code, _, state = typed.decode().strip().partition("#")
        say(f"\r\x1b[3C\x1b[2A{'*' * len(code)}{state[-6:]}\n")
        if state != STATE:
            say("✘\x1b[4GThat doesn't look like the full code.\n")
            continue
        say("\r\x1b[1C✽ Finishing sign-i\x1b[21G…\n")
        if code == "good":
            break
        say(
            "✘\x1b[4GOAuth error: That code\x1b[27Gwasn't\x1b[34Gaccepted.\n\n\x1b[2GPress\x1b[8GEnter\n"
        )
        os.read(0, 1)
    say(
        "\x1b[2G\x1b[38;5;114m✔\x1b[4GLong-lived\x1b[15Gauthentication\x1b[30Gtoken\x1b[36Gcreated\n"
    )
    for part in ("\x1b[2G\x1b[38;5;220m", TOKEN[:30], TOKEN[30:], "\x1b[39m\n\n"):
        say(part)  # also the token comes in parts
        time.sleep(0.05)
    say("\x1b[2GStore\x1b[8Gthis\x1b[13Gtoken\x1b[19Gsecurely.\n\x1b[?25h")
    return 0


def device_auth() -> int:
    say("\nWelcome to Codex [v\x1b[90m0.171.0\x1b[0m]\n\n1. Open this link in your browser\n")
    say("   \x1b[94mhttps://auth.openai.com/codex/device\x1b[0m\n\n2. Enter this one-time code ")
    say("\x1b[90m(expires in 15 minutes)\x1b[0m\n   \x1b[94mABCD-12345\x1b[0m\n\n")
    home = os.environ["CODEX_HOME"]
    wait = os.path.join(home, "go")
    while not os.path.exists(wait):
        time.sleep(0.02)
    with open(wait, encoding="ascii") as file:
        if file.read() == "refuse":
            say("Error logging in with device code: device auth failed with status 403\n")
            return 1
    with open(os.path.join(home, "auth.json"), "w", encoding="ascii") as file:
        file.write("{}")
    say("Successfully logged in\n")
    return 0


def stuck() -> int:
    say(f"Open {LINK} \n")
    time.sleep(600)
    return 0


def flood() -> int:
    for part in (
        "x" * 30_000,
        "\n ABCD-12345 \n",
        "\n" * 30_000,
        f"{LINK} ",
        "OAuth error: " * 3000,
    ):
        say(part)
    time.sleep(600)
    return 0


if __name__ == "__main__":
    ways = {"setup-token": setup_token, "login": device_auth, "stuck": stuck, "flood": flood}
    sys.exit(ways[sys.argv[1]]())
