"""Plain text tables that read the same in a terminal, a pipe and a notebook."""

from collections.abc import Sequence

#: So many characters of a message say what it is about.
MESSAGE_LENGTH = 240


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with the first column to the left and the others to the right.

    Examples
    --------
    >>> print(text_table(["learner", "error"], [["nearest mean", "0.08"]]))
    learner       error
    ------------  -----
    nearest mean   0.08
    """
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    lines = [_line(row, widths) for row in [header, ["-" * width for width in widths], *rows]]
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def number_text(value: float) -> str:
    """Return a number with four decimals, or four figures where it is large."""
    if value != value:
        return "-"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.4g}"


def numbers_text(values: Sequence[float]) -> list[str]:
    """Return the numbers of one column, all with the decimals that suit the largest.

    Examples
    --------
    >>> numbers_text([36.7146, 112.94, 133.0]), numbers_text([0.5, float("nan")])
    (['36.7', '112.9', '133.0'], ['0.5000', '-'])
    """
    largest = max((abs(value) for value in values if value == value), default=0.0)
    if not 100 <= largest < 1e7:
        return [number_text(value) for value in values]
    decimals = max(0, 4 - len(f"{largest:.0f}"))
    return ["-" if value != value else f"{value:.{decimals}f}" for value in values]


def seconds_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds != seconds:
        return "-"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def counted(count: int, word: str) -> str:
    """Return a number of things, with an s unless there is one.

    Examples
    --------
    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def shortened(text: str, length: int = MESSAGE_LENGTH) -> str:
    """Return the beginning of a text that is too long, cut between words.

    Examples
    --------
    >>> shortened("choose a simpler form", 15)
    'choose a ...'
    """
    if len(text) <= length:
        return text
    kept = text[: length - 3]
    return f"{kept[: kept.rfind(' ') + 1] or kept}..."
