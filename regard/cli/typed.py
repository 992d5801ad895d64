"""Lines typed at a terminal, with arrow keys and history where the system has them."""

import sys
from collections.abc import Iterator
from contextlib import suppress

import typer

_PROMPT = "› "


def typed_lines(greeting: str) -> Iterator[str]:
    """What is typed, line by line, until Ctrl-D; the greeting goes to standard error."""
    typer.secho(greeting, err=True, dim=True)
    with_prompt = sys.stdout.isatty()
    with suppress(ImportError):  # not on every system
        import readline  # noqa: F401 - arrow keys and history
    try:
        while True:
            if not with_prompt:  # the prompt would go where the answers go
                typer.echo(_PROMPT, nl=False, err=True)
            yield input(_PROMPT if with_prompt else "")
    except EOFError:
        typer.echo(err=True)
