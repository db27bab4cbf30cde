"""`quarterdeck pin off`: at the box, for an owner who has forgotten the PIN.

Neighbours: cli.py, which it is added to; requests/pins.py does it, and sets one from the phone alone.
"""

from __future__ import annotations

import typer

from engine.cli_ask import with_engine


def add_to(app: typer.Typer) -> None:
    """Give the command its subcommand."""
    pin = typer.Typer(no_args_is_help=True, help="The PIN that is asked for on the phone.")
    pin.command("off")(off)
    app.add_typer(pin, name="pin")


def off() -> None:
    """Take the PIN away; /settings on the phone sets another."""
    typer.echo(with_engine("pin_off")["verdict"])
