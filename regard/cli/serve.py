"""`regard serve`: models over HTTP, for pages and programs."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching
from regard.counting import counted


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]MODEL...",
            help="Model folders; a name such as zh-en says the languages too.",
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Show the training runs below this folder; repeatable."),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=zh-en", help="The languages of a model; repeatable."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; others than this machine need a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    api_key: Annotated[
        list[str] | None,
        typer.Option(help="Answer only who has this key; repeatable, or REGARD_API_KEYS=a,b."),
    ] = None,
    is_open: Annotated[
        bool, typer.Option("--open", help="Answer everyone who can reach the host.")
    ] = False,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Let pages of another place ask; repeatable."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name the service is called by; repeatable."),
    ] = None,
    max_characters: Annotated[int, typer.Option(min=1, help="Of all texts of a request.")] = 20_000,
    max_sentences: Annotated[int, typer.Option(min=1, help="Of a request.")] = 128,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Of a sentence; a longer one is refused.")
    ] = 512,
    queue: Annotated[int, typer.Option(min=1, help="Sentences that may wait.")] = 512,
    seconds: Annotated[float, typer.Option(min=0.1, help="Until a request is given up.")] = 30.0,
    max_connections: Annotated[
        int, typer.Option(min=1, help="At the same time; one more is refused with 503.")
    ] = 256,
    head_seconds: Annotated[
        float, typer.Option(min=0.1, help="For the head of a request to arrive.")
    ] = 10.0,
    body_seconds: Annotated[float, typer.Option(min=0.1, help="For its body to arrive.")] = 30.0,
    idle_seconds: Annotated[
        float, typer.Option(min=0.1, help="Until a connection that asks nothing is closed.")
    ] = 15.0,
    batch: searching.Batch = 64,
    engine: searching.Engine = None,
    precision: searching.Precision = "float32",
    shortlist: searching.Shortlist = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="Log only what goes wrong.")] = False,
) -> None:
    """Serve models over HTTP: our own API, LibreTranslate's and OpenAI's, and a page."""
    from regard.errors import MissingExtraError, ServiceError

    try:
        from regard.serving import Bounds, Server, Settings, create_app, open_models
        from regard.serving.languages import checked_pair
        from regard.serving.logs import write_logs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "regard":
            raise
        raise MissingExtraError("serving over HTTP", "serve") from error

    from regard.devices import choose_device
    from regard.engine import keep_heap

    settings = Settings(
        host=host,
        port=port,
        keys=frozenset([*(api_key or []), *_keys_of_the_environment()]),
        is_open=is_open,
        origins=tuple(cors or ()),
        names=tuple(allow_host or ()),
        rows=batch,
        bounds=Bounds(
            characters=max_characters,
            sentences=min(max_sentences, queue),  # what cannot wait cannot be asked for
            tokens=max_tokens,
            waiting=queue,
            seconds=seconds,
            connections=max_connections,
            head_seconds=head_seconds,
            body_seconds=body_seconds,
            idle_seconds=idle_seconds,
        ),
    )
    told = {}
    for one in languages or []:
        name, is_named, pair = one.partition("=")
        if not is_named:
            raise ServiceError(f"--languages {one!r} names no model: give NAME=zh-en")
        told[name] = checked_pair(pair)
    chosen = choose_device(device)
    if chosen.type == "cpu":
        keep_heap()
    searching.set_threads(threads)
    searching.is_another(engine, has_ensemble=False, is_short=shortlist)
    catalogue = open_models(
        models or [],
        languages=told,
        device=chosen,
        max_tokens=max_tokens,
        engine=engine,
        precision=precision,
        shortlist=shortlist,
        roots=runs or [],
    )
    server = Server(create_app(catalogue, settings), settings)
    write_logs(sys.stderr, is_quiet=quiet)
    names = ", ".join(catalogue.names)
    n_runs = len(catalogue.runs.all())
    if n_runs:
        names = f"{names or 'recorded sentences'}, {counted(n_runs, 'run')}"

    def began(address: str) -> None:
        searching.tell(f"{names or 'recorded sentences'} at {address} (Ctrl-C stops)")

    server.serve_until_stopped(began)


def _keys_of_the_environment() -> list[str]:
    return [key for key in os.environ.get("REGARD_API_KEYS", "").split(",") if key.strip()]
