"""`quarterdeck backup`, `restore` and `key`: what a person types so that a lost box is not a lost fleet.

Neighbours: cli.py, which these commands are added to; backup.py and restore.py do the work.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from engine.errors import Refused
from engine.paths import Home

key_app = typer.Typer(no_args_is_help=True, help="The key to the vault.")


def add_to(app: typer.Typer) -> None:
    """Give the command its subcommands."""
    app.command("backup")(backup)
    app.command("restore")(restore)
    app.add_typer(key_app, name="key")


def backup(
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Folder for the file; else the home's."),
    ] = None,
) -> None:
    """Write all that another box needs into one file, and print its path. Engine and bot may run.

    Keys are in it as only your recovery code opens them; the bot's token is not.
    """
    from engine import backup as making
    from engine.config import load

    home = Home.found()
    load(home)  # a home that was never set up is a mistyped one
    typer.echo(str(making.take(home, to and to.expanduser().absolute())))
    if not home.recovery.exists():
        typer.echo(
            "quarterdeck: nothing opens the keys in it on another box yet. `quarterdeck key "
            "recovery` makes a recovery code; then back up again.",
            err=True,
        )


def restore(
    file: Annotated[Path, typer.Argument(help="A backup, or a copy of one from another machine.")],
    into: Annotated[
        Path | None,
        typer.Option(
            "--home", metavar="DIR", help="Folder to restore into; else QUARTERDECK_HOME."
        ),
    ] = None,
    token_file: Annotated[
        str, typer.Option("--token-file", help="File with the bot's token; - reads it from stdin.")
    ] = "",
    recovery_file: Annotated[
        str,
        typer.Option("--recovery-file", help="File with the recovery code; - reads it from stdin."),
    ] = "",
    secrets: Annotated[
        Path | None,
        typer.Option(
            "--secrets",
            metavar="DIR",
            help="The old home's secrets/, if it is still there: asks nothing.",
        ),
    ] = None,
    without_keys: Annotated[
        bool,
        typer.Option("--without-keys", help="The recovery code is lost: leave all keys behind."),
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not ask Telegram whether the token is good.")
    ] = False,
) -> None:
    """Make a home from a backup, in a folder that is empty. Then `quarterdeck up` goes on from there.

    End Quarterdeck on the box it was taken from first: two on one bot take each other's messages.
    """
    from engine import setup as first
    from engine.restore import closed, unpacked
    from stores.vault import is_own

    ways = [bool(recovery_file), secrets is not None, without_keys]
    if sum(ways) > 1:
        raise typer.BadParameter("take one of --recovery-file, --secrets and --without-keys")
    if token_file == recovery_file == "-":
        raise typer.BadParameter("stdin holds the token or the recovery code, not both")
    home = Home(into.expanduser().absolute()) if into else Home.found()
    first.fits(home)
    file = file.expanduser().absolute()
    private: bytes | None = None
    if shut := closed(file):
        if without_keys:
            raise Refused(
                f"{file} was closed for another machine: without the recovery code, or --secrets, "
                "nothing of it can be read. Backups made on the box itself are open to --without-keys."
            )
        private = (
            shut.key_in(secrets.expanduser())
            if secrets is not None
            else shut.key(_given(recovery_file, "Recovery code"))
        )
    with unpacked(file, home, private) as found:
        named = token_file or (str(secrets / home.bot_token.name) if secrets else "")
        token = first.token(_given(named, "Bot token"))
        if not offline:
            first.ask_telegram(found.config.api_url, token)
        if without_keys or not found.has_keys:
            private = None
        elif private is not None:
            # One made before `key rotate` and closed for another machine after it: two keys, two codes.
            fits = found.fits(private)
            private = private if fits else found.key(_given("", "Recovery code before that one"))
        elif secrets is not None:
            private = found.key_in(secrets.expanduser())
        else:
            private = found.key(_given(recovery_file, "Recovery code"))
        lost = found.finish(token, private)
    typer.echo(f"Home     {home.root}")
    typer.echo(f"As of    {datetime.fromtimestamp(found.manifest.taken_at):%d %b %Y %H:%M}")
    if given := [name for name in lost if not is_own(name)]:
        typer.echo(f"Lost     {', '.join(given)}: give them again")
    if len(given) < len(lost):
        typer.echo(
            "Lost     the keys to forges and machines: /projects add and /machines add show new ones"
        )
    if private is None:
        print_code(first.recovery_code(home))
    typer.echo("Next     quarterdeck doctor")
    typer.echo("         quarterdeck up; the chat says what is not known since")


@key_app.command("recovery")
def key_recovery() -> None:
    """Make a new recovery code and show it, once. Backups made before keep the code of their time."""
    from engine import setup as first
    from engine.config import load

    home = Home.found()
    load(home)
    print_code(first.recovery_code(home, anew=True))


@key_app.command("rotate")
def key_rotate() -> None:
    """Give the vault a new key, whole or not at all. Stop Quarterdeck first; start it again afterwards.

    Every secret is closed anew. Backups made before are opened by the recovery code of their time: keep
    it for as long as you keep them. A new code is shown.
    """
    import asyncio
    import time

    from engine import backup as making
    from engine import setup as first
    from engine.config import load
    from engine.lock import EngineLock
    from stores.database import Database
    from stores.rotation import rotate
    from stores.sealing import NotOpened

    home = Home.found()
    load(home)

    async def anew() -> None:
        async with Database(home.vault_db, "vault", secure_delete=True) as database:
            await rotate(home, database, time.time())

    with EngineLock(home.engine_lock):
        try:
            asyncio.run(anew())
        except NotOpened as error:
            raise Refused(f"The key was not changed. {error.sentence}") from error
        code = first.recovery_code(home, anew=True)
        making.owned_as(home.root, *home.secrets.iterdir(), *home.root.glob("vault.sqlite3*"))
        try:
            newest = f"made at once: {making.take(home)}"  # what goes elsewhere next is of this key
        except Refused as no:
            newest = f"not made: {no.sentence} Run `quarterdeck backup`."
    typer.echo("Rotated  every secret is closed with a new key")
    print_code(code)
    typer.echo("         backups from before are opened by the code before: keep that with them")
    typer.echo(f"Backup   {newest}")
    typer.echo("Next     start Quarterdeck again, engine and bot")


def print_code(code: str) -> None:
    """Show a recovery code, the only time it is known."""
    typer.echo(f"Recovery {code}")
    typer.echo("         write it down: it opens the keys in your backups, and is not shown again")


def _given(file: str, what: str) -> str:
    if file == "-":
        return sys.stdin.read()
    if file:
        try:
            return Path(file).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"{file} cannot be read: {error}") from error
    if not sys.stdin.isatty():
        raise Refused(f"{what} is asked for in a terminal; elsewhere name a file. See --help.")
    return str(typer.prompt(f"{what} (not shown)", hide_input=True))
