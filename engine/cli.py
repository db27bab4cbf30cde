"""The `quarterdeck` command: reads arguments, asks the person, prints; others do the work.

What changes state goes to the engine (cli_ask.py). Neighbours: setup.py, doctor.py, foreground.py,
service.py, cli_backup.py (backup, restore, key), cli_audit.py (audit, unlock) and cli_pin.py. Heavy modules are
imported inside the commands that need them, so that --help is quick.
Exit code 1: it failed, and the sentence says what to do; 2: the command was used wrongly.
"""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine import cli_audit, cli_backup, cli_pin
from engine.cli_ask import with_engine
from engine.errors import EngineError, Refused
from engine.paths import Home

if TYPE_CHECKING:
    from engine.doctor import Finding
    from engine.service import Step

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Command many coding agents, here and on your other machines, from a Telegram chat.",
)
project_app = typer.Typer(no_args_is_help=True, help="Repositories that goals are worked on in.")
machine_app = typer.Typer(no_args_is_help=True, help="Computers that agents run on.")
account_app = typer.Typer(no_args_is_help=True, help="Agents' subscriptions, and who pays.")
app.add_typer(project_app, name="project")
app.add_typer(machine_app, name="machine")
app.add_typer(account_app, name="account")
cli_backup.add_to(app)
cli_audit.add_to(app)
cli_pin.add_to(app)
service_app = typer.Typer(no_args_is_help=True, help="Start with the machine, and start again.")
app.add_typer(service_app, name="service")


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
OfSystem = Annotated[
    bool, typer.Option("--system", help="The machine's, under a user of its own; needs root.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; do nothing.")]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; our own errors are a sentence and exit code 1."""
    from stores.unusable import Unusable

    try:
        app(args=None if argv is None else list(argv))
    except EngineError as error:
        typer.echo(f"quarterdeck: {error}", err=True)
        sys.exit(1)
    except Unusable as damaged:
        from engine import backups

        way_back = backups.way_back(Home.found()) if damaged.lost else ""
        typer.echo(f"quarterdeck: {damaged.sentence}\n{way_back}".rstrip(), err=True)
        sys.exit(1)


# ---------------------------------------------------------------- starting


@app.command()
def demo(
    play: Annotated[
        bool, typer.Option("--play", help="Play a whole goal by itself, print the chat, end.")
    ] = False,
) -> None:
    """A rehearsal on this machine: the real engine and bot, with nobody's account."""
    # A process of its own: the engine's room never imports the bot's.
    _become("bot.demo", *(["--play"] if play else []))


@app.command()
def setup(
    token_file: Annotated[
        str, typer.Option("--token-file", help="File with the bot's token; - reads it from stdin.")
    ] = "",
    owner: Annotated[
        list[str] | None,
        typer.Option("--owner", help="Your numeric Telegram user id. More than one: repeat it."),
    ] = None,
    api_url: Annotated[
        str, typer.Option("--api-url", help="A Bot API server of your own.")
    ] = "https://api.telegram.org",
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not ask Telegram whether the token is good.")
    ] = False,
    pair: Annotated[
        bool, typer.Option("--pair", help="Only print a new pairing link: the last was too old.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
) -> None:
    """Say which bot this machine speaks through, and who may command it.

    Without --owner a link is printed: whoever presses it first is the owner.
    """
    from engine import setup as first
    from engine.config import check, owner_id

    home = Home.found()
    if pair:
        _pair_again(home, offline=offline)
        return
    bot_token = first.token(_token_text(token_file, ask=not yes))
    owners = [owner_id(one) for one in owner] if owner else list(first.owners(home))
    whose = {"owner_ids": owners} if owners else {"pairing": True}
    config = check({**whose, "api_url": api_url}, Path("--api-url"))
    if home.config.exists() and not yes:
        typer.confirm(f"{home.config} is there already. Replace it?", abort=True)
    bot = None if offline else first.ask_telegram(config.api_url, bot_token)
    first.write(home, config, bot_token)
    code = first.recovery_code(home)
    typer.echo(f"Home     {home.root}")
    typer.echo(f"Bot      {bot.name if bot else 'not asked'}")
    if owners:
        typer.echo(f"Owner    {', '.join(map(str, owners))}; nobody else is answered")
    if code:
        cli_backup.print_code(code)
    if bot and not bot.topics:
        typer.echo("Topics   off. With @BotFather you can switch them on: a thread for each goal")
    if not owners:
        typer.echo("Next     quarterdeck up (one that runs already must be started again)")
        _print_link(home, bot.name if bot else "")
        return
    typer.echo("Next     quarterdeck project add NAME PATH")
    typer.echo("         quarterdeck account add NAME --agent claude")
    typer.echo("         quarterdeck up (one that runs already must be started again)")


def _pair_again(home: Home, *, offline: bool) -> None:
    from engine import setup as first
    from engine.config import load

    config = load(home)
    if config.owner_ids:
        owners = ", ".join(map(str, config.owner_ids))
        raise Refused(
            f"This bot has its owner: {owners}. For another one: quarterdeck setup --owner NUMBER "
            f"--token-file {home.bot_token} --api-url {config.api_url} --yes"
        )
    bot_token = first.token(_token_text(str(home.bot_token), ask=False))
    bot = None if offline else first.ask_telegram(config.api_url, bot_token)
    _print_link(home, bot.name if bot else "")


def _print_link(home: Home, bot: str) -> None:
    """Print a new one-time link; it is the only place where its code is ever shown."""
    from engine import pairing

    code = pairing.make(home, time.time())
    typer.echo(
        "Then     press this on your phone within 15 minutes. Who presses it first commands:"
    )
    if bot:
        typer.echo(f"         https://t.me/{bot.removeprefix('@')}?start={code}")
    else:
        typer.echo(f"         send to your bot: /start {code}")


def _token_text(token_file: str, *, ask: bool) -> str:
    if token_file == "-":
        return sys.stdin.read()
    if token_file:
        try:
            return Path(token_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"{token_file} cannot be read: {error}") from error
    if not ask:
        raise typer.BadParameter("say where the bot's token is: --token-file FILE, or - for stdin")
    return str(typer.prompt("Bot token (not shown)", hide_input=True))


@app.command()
def up() -> None:
    """Run engine and bot here, until Ctrl-C or until one of them ends."""
    from engine import foreground
    from engine.config import load

    load(Home.found())  # a mistake in the file is told once, here, and not by both
    ended = asyncio.run(foreground.run())
    if ended.first:
        typer.echo(f"quarterdeck: the {ended.first} ended (exit {ended.code}).", err=True)
        sys.exit(1)


@app.command()
def engine() -> None:
    """Run the engine alone, as a service does."""
    _become("engine")


@app.command()
def bot() -> None:
    """Run the bot alone, as a service does."""
    _become("bot")


def _become(module: str, *arguments: str) -> None:
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", module, *arguments])


# ---------------------------------------------------------------- looking


@app.command()
def status(as_json: AsJson = False) -> None:
    """Say what waits on you, what runs, what starts next and what landed."""
    from engine.config import load
    from engine.doctor import engine_runs

    home = Home.found()
    board = with_engine("board")
    if as_json:
        _print_json(board)
        return
    if board["locked"]:
        typer.echo(f"{board['locked']}. `quarterdeck unlock` has taps and lines decide again.")
    for part in ("now", "running", "next", "landed"):
        if rows := board[part]:
            typer.echo(f"{part.capitalize()}:")
            for row in rows:
                typer.echo(f"  {row['goal']}  {row['title']}  {row['text']}".rstrip())
    if not any(board[part] for part in ("now", "running", "next", "landed")):
        typer.echo("Nothing runs and nothing waits. Give a goal in the chat.")
    if not load(home).owner_ids:
        typer.echo("Nobody owns the bot yet. `quarterdeck setup --pair` prints a link to press.")
    if home.bot_trouble.exists():
        typer.echo(home.bot_trouble.read_text(encoding="utf-8"))
    if not engine_runs(home):
        typer.echo("The engine does not run. `quarterdeck up` starts it, and the bot.")
        return
    for machine in board["machines"]:
        typer.echo(machine)


@app.command()
def doctor(
    as_json: AsJson = False,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask Telegram.")] = False,
) -> None:
    """Look at what this machine has and lacks, and say what mends it."""
    from dataclasses import asdict

    from engine.doctor import examine

    findings: list[Finding] = []
    for finding in examine(Home.found(), offline=offline):
        findings.append(finding)
        if not as_json:
            typer.echo(f"{_mark(finding)} {finding.name:<8} {finding.says}")
            if finding.mend:
                typer.echo(f"             -> {finding.mend}")
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    if any(finding.needed and not finding.good for finding in findings):
        sys.exit(1)


def _mark(finding: "Finding") -> str:
    if finding.good:
        return "ok  "
    return "BAD " if finding.needed else "hm  "


# ---------------------------------------------------------------- the service


@service_app.command("install")
def service_install(system: OfSystem = False, dry_run: DryRun = False) -> None:
    """Have systemd run engine and bot, from boot on; again, to bring the units up to date."""
    from engine import service

    chosen = service.of_system() if system else service.of_user(Home.found())
    if not dry_run:
        service.check(chosen)
        service.check_setup(chosen)
    _take(service.install(chosen), dry_run=dry_run)
    if not dry_run:
        typer.echo("Engine and bot run. `quarterdeck doctor` looks whether all is well.")


@service_app.command("uninstall")
def service_uninstall(system: OfSystem = False, dry_run: DryRun = False) -> None:
    """End the service and take its units away. Data stays; agents at work end their turn."""
    from engine import service

    chosen = service.of_system() if system else service.of_user(Home.found())
    if not dry_run:
        service.check(chosen)
    _take(service.uninstall(chosen), dry_run=dry_run)


def _take(steps: "Iterable[Step]", *, dry_run: bool) -> None:
    from engine import service

    for step in steps:
        typer.echo(f"{'would ' if dry_run else ''}{step}")
        if dry_run:
            typer.echo("".join(f"    {line}\n" for line in step.shown.splitlines()), nl=False)
            continue
        try:
            service.perform(step)
        except Refused as no:
            if step.needed:
                raise
            typer.echo(f"  {no.sentence}")


# ---------------------------------------------------------------- projects


@project_app.command("add")
def project_add(
    name: Annotated[str, typer.Argument(help="Short, as you would type it in the chat.")],
    source: Annotated[str, typer.Argument(metavar="PATH_OR_URL", help="Its repository.")],
    base: Annotated[str, typer.Option("--base", help="Branch to start from and ship to.")] = "",
    as_json: AsJson = False,
) -> None:
    """Add a repository. Nothing is written into it until you press Push."""
    added = with_engine("add_project", name=name, source=_place(source), base=base)
    if as_json:
        _print_json(added)
        return
    typer.echo(f"Added {name}. {_words(added)}".rstrip())


@project_app.command("list")
def project_list(as_json: AsJson = False) -> None:
    """List the projects."""
    _print_rows(with_engine("projects"), ("name", "base", "source", "push"), as_json)


@project_app.command("remove")
def project_remove(name: str) -> None:
    """Forget a project; your repository stays as it is."""
    removed = with_engine("remove_project", name=name)
    typer.echo(f"Removed {name}. {_words(removed)}".rstrip())


def _place(source: str) -> str:
    """Return a URL as it stands, and a path made whole: the engine's folder is not the caller's."""
    if not source.strip() or "://" in source or re.match(r"[\w.-]+@[\w.-]+:", source):
        return source
    return str(Path(source).expanduser().absolute())


# ---------------------------------------------------------------- machines


@machine_app.command("add")
def machine_add(
    name: Annotated[str, typer.Argument(help="What you call it.")],
    address: Annotated[str, typer.Argument(metavar="USER@HOST[:PORT]", help="As for ssh.")],
    max_runs: Annotated[int, typer.Option("--max-runs", help="Agents at once, at most.")] = 4,
    accept: Annotated[
        str,
        typer.Option(
            "--accept-fingerprint",
            metavar="SHA256:…",
            help="The host key you expect; without it you are shown the key and asked.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Add a computer, reached over SSH. It needs Python 3.9 and git; nothing is installed there."""
    if not accept and sys.stdin.isatty():
        accept = str(with_engine("look_at_machine", address=address)["fingerprint"])
        typer.echo(f"{address} shows the host key {accept}")
        typer.echo("Compare it there: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub")
        typer.confirm("Is it the same?", abort=True)
    about = with_engine(
        "add_machine", name=name, address=address, max_runs=max_runs, fingerprint=accept
    )
    if as_json:
        _print_json(about)
        return
    typer.echo(f"Added {name}: {max_runs} agents at once, at most.")
    _say_machine(about)


@machine_app.command("list")
def machine_list(as_json: AsJson = False) -> None:
    """List the machines; "here" is this one."""
    columns = ("name", "address", "state", "runs", "max_runs", "fence")
    _print_rows(with_engine("machines"), columns, as_json)


@machine_app.command("check")
def machine_check(name: str, as_json: AsJson = False) -> None:
    """Go to a machine and say what is there."""
    about = with_engine("check_machine", name=name)
    if as_json:
        _print_json(about)
        return
    typer.echo(f"{name} answers.")
    _say_machine(about)


@machine_app.command("pause")
def machine_pause(name: str) -> None:
    """Have a machine take no new runs; what runs there goes on."""
    typer.echo(with_engine("pause_machine", name=name, paused=True)["verdict"])


@machine_app.command("resume")
def machine_resume(name: str) -> None:
    """Have a paused machine take runs again."""
    typer.echo(with_engine("pause_machine", name=name, paused=False)["verdict"])


@machine_app.command("remove")
def machine_remove(name: str) -> None:
    """Forget a machine; what lies there stays."""
    removed = with_engine("remove_machine", name=name)
    typer.echo(f"Removed {name}. {_words(removed)}".rstrip())


def _say_machine(about: dict[str, Any]) -> None:
    if not about:
        return
    typer.echo(f"System   {about['system']}, Python {about['python']}")
    typer.echo(f"Git      {about['git'] or 'missing: install git there, nothing works without'}")
    typer.echo(f"Fence    {about['why']}")
    typer.echo(f"Agents   {', '.join(about['agents']) or 'none found there'}")
    typer.echo(f"Folder   {about['home']}")


# ---------------------------------------------------------------- accounts


@account_app.command("add")
def account_add(
    name: Annotated[str, typer.Argument(help="What you call it.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent", help="Which agent it is for: claude, or rehearsal (ours; asks no model)."
        ),
    ],
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="KEY=VALUE", help="Variable for its runs; no secrets."),
    ] = None,
    secret_env: Annotated[
        list[str] | None,
        typer.Option(
            "--secret-env",
            metavar="KEY",
            help="Secret variable: its value comes from your environment, else it is asked for.",
        ),
    ] = None,
    command: Annotated[str, typer.Option("--command", help="Path of the agent's CLI.")] = "",
    config_dir: Annotated[
        str, typer.Option("--config-dir", help="Folder with the agent's login and settings.")
    ] = "",
    login_command: Annotated[
        str,
        typer.Option("--login-command", help="What Log in runs, where not the agent's own way."),
    ] = "",
) -> None:
    """Add an account: who pays for an agent's turns. Secrets go to the vault, sealed here."""
    plain = [_pair(text) for text in env or []]
    for key in secret_env or []:
        if not ENV_NAME.fullmatch(key):
            raise typer.BadParameter("--secret-env takes the variable's name alone, not its value")
    for key in secret_env or []:
        _keep_secret(f"account/{name}/{key}", _secret_value(key))
    kept = with_engine(
        "add_account",
        name=name,
        agent=agent,
        command=str(Path(command).expanduser().absolute()) if command else "",
        config_dir=str(Path(config_dir).expanduser().absolute()) if config_dir else "",
        env=plain,
        secret_env=list(secret_env or []),
        login_command=login_command,
    )
    typer.echo(kept["verdict"])


@account_app.command("list")
def account_list(as_json: AsJson = False) -> None:
    """List the accounts; secrets by name only."""
    _print_rows(with_engine("accounts"), ("name", "agent", "command", "config_dir"), as_json)


@account_app.command("remove")
def account_remove(name: str) -> None:
    """Forget an account and its secrets."""
    with_engine("remove_account", name=name)
    typer.echo(f"Removed account {name}.")


ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEY_NAME = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
KEY_VALUE = re.compile(
    r"(sk|pk|rk)[-_]\w|gh[oprsu]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|hf_|npm_|pypi-"
    r"|eyJ[\w-]+\.|-----BEGIN |[0-9]{6,}:[\w-]{30}"
)


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not ENV_NAME.fullmatch(key):
        raise typer.BadParameter("--env takes KEY=VALUE")
    if KEY_NAME.search(key) or KEY_VALUE.match(value) or re.search(r"://[^/\s]*:[^/\s]*@", value):
        # The value is not said back: terminals are logged.
        raise typer.BadParameter(
            f"`{key}` looks like a secret, and --env is stored in clear. Use --secret-env {key}"
        )
    return key, value


def _secret_value(key: str) -> str:
    if value := os.environ.get(key, ""):
        return value
    if not sys.stdin.isatty():
        raise Refused(
            f"{key} is not set. Set it for this one command, or run it in a terminal to be asked."
        )
    return str(typer.prompt(f"{key} (not shown)", hide_input=True))


def _keep_secret(name: str, value: str) -> None:
    """Seal `value` with the vault's public key here, so that it crosses no socket in clear."""
    from stores.sealing import seal

    home = Home.found()
    if not home.vault_pub.exists():
        raise Refused("There is no vault yet. Run `quarterdeck setup` first.")
    sealed = seal(home.vault_pub.read_bytes(), value.encode())
    with_engine("keep_secret", name=name, sealed=sealed)


# ---------------------------------------------------------------- printing


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _print_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    if as_json:
        _print_json(rows)
        return
    if not rows:
        typer.echo("None yet.")
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:  # a pipe has no width: nothing is cut there
        console = Console(width=10_000)
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(str(row.get(column, "")) for column in columns))
    console.print(table, markup=False)


def _words(answer: Any) -> str:
    """Return what the engine had to say beside yes: a sentence, or notes."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, dict):
        return " ".join(str(note) for note in answer.get("notes", ()))
    return ""


if __name__ == "__main__":
    main()
