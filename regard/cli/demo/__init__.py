"""`regard demo`: train, measure, translate and look inside, in a few minutes."""

from regard.cli.demo.command import demo

__all__ = ["demo"]
