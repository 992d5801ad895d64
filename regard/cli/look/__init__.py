"""`regard look`: which word looks at which, in the terminal or as a picture."""

from regard.cli.look.command import look

__all__ = ["look"]
