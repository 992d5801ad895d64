"""`regard explain`: attention step by step, with real numbers."""

import typer

app = typer.Typer(help="Step through attention with real numbers.", no_args_is_help=True)
