"""The `quarterdeck` command. Under construction: setup, up, project and account come next."""

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def quarterdeck() -> None:
    """Command many coding agents from a Telegram chat."""


def main() -> None:
    app()
