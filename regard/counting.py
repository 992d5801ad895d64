"""Numbers of things, as English writes them: 1 update, 2 updates, 1,000 updates."""


def counted(n: float, one: str, several: str | None = None) -> str:
    """A number and its noun; ``several`` is the plural where an "s" does not make it."""
    number = f"{n:,}" if isinstance(n, int) else f"{n:g}"
    return f"{number} {noun(n, one, several)}"


def noun(n: float, one: str, several: str | None = None) -> str:
    """The noun alone, in the singular for 1 and in the plural for all else."""
    return one if n == 1 else several or f"{one}s"


def duration(seconds: float) -> str:
    """A length of time in the unit a person would take: "40 seconds", "12 minutes", "3.5 hours"."""
    if seconds < 90:
        return counted(max(1, round(seconds)), "second")
    if seconds < 90 * 60:
        return counted(round(seconds / 60), "minute")
    return counted(round(seconds / 3600, 1), "hour")
