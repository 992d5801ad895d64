"""Verbs that need no file of their own: any number of inputs, a line of output each."""

import json
from collections.abc import Callable
from typing import Annotated

import typer

from regard.cli import searching


def verb_of(name: str, purpose: str) -> Callable[..., None]:
    """The command that asks a model for what the method of that name does."""

    def use(
        model: searching.Model,
        inputs: Annotated[list[str], typer.Argument(help="What to read: files, or texts.")],
        beam: searching.Beam = 5,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
        threads: searching.Threads = None,
        device: searching.Device = "auto",
    ) -> None:
        from regard.devices import choose_device
        from regard.systems import open_model

        searching.set_threads(threads)
        opened = open_model(model, choose_device(device))
        method = getattr(opened, name)  # a model of another system says what it is for
        searching.write_utf8()
        for given in inputs:
            (found,) = method([given], beam=beam)
            if as_json:
                record = {"input": given, **found.to_dict()}
                typer.echo(json.dumps(record, ensure_ascii=False))
            else:
                typer.echo(str(found) if len(inputs) == 1 else f"{given}\t{found}")

    use.__doc__ = purpose
    return use
