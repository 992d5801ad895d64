"""The command `regard`, also as `python -m regard`."""

import sys
import time

_BEGAN = time.monotonic()  # of a budget, reading the program is a part


def main() -> None:
    """Run the command; who interrupts it while it is still being read sees one line too."""
    try:
        from regard.cli import main as run

        run(began=_BEGAN)
    except KeyboardInterrupt:
        sys.stderr.write("regard: interrupted\n")
        sys.exit(130)  # as every command that is interrupted


if __name__ == "__main__":
    main()
