"""Time two ways of doing the same work against each other, and print the outcome."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Work = Callable[[], object]

#: Shorter work is repeated until one measurement lasts this long, far above the clock's grain.
SHORTEST_MEASUREMENT = 0.02
#: Each contestant is measured this often and the best time counts: noise only ever adds.
MEASUREMENTS = 3


@dataclass(frozen=True)
class Race:
    """Seconds that ours and a peer took for the same work.

    Attributes
    ----------
    work
        What was done, with its size.
    ours, theirs
        Best time of one call, in seconds.
    peer
        Name of the peer.
    """

    work: str
    ours: float
    peer: str
    theirs: float

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs / self.ours


#: Every race that was printed, for the summary at the end.
RACES: list[Race] = []


def race(work: str, ours: Work, peer: str, theirs: Work) -> Race:
    """Time `ours` and `theirs` by turns, after one call each that is not counted.

    The first call compiles, fills caches and imports; taking turns spreads whatever else the
    machine is doing over both.
    """
    contestants = (ours, theirs)
    calls = [_calls_per_measurement(contestant) for contestant in contestants]
    best = [float("inf"), float("inf")]
    for _ in range(MEASUREMENTS):
        for place, contestant in enumerate(contestants):
            best[place] = min(best[place], _seconds(contestant, calls[place]))
    return Race(work, best[0], peer, best[1])


def alone(work: str, ours: Work) -> str:
    """Return a line with the best time of ours where there is no peer, timed as in a race."""
    calls = _calls_per_measurement(ours)
    best = min(_seconds(ours, calls) for _ in range(MEASUREMENTS))
    return f"{work}: ours {_duration(best)}"


def print_races(title: str, races: Sequence[Race]) -> None:
    """Print one line per race: the work, both times, and how many times faster ours is."""
    RACES.extend(races)
    heads = ("work", "ours", "peer", "peer's time", "ratio")
    rows = [
        (each.work, _duration(each.ours), each.peer, _duration(each.theirs), f"{each.ratio:.2f}x")
        for each in races
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    print(f"\n{title} (best of {MEASUREMENTS}; ratio above 1: ours is faster)")
    for row in (heads, *rows):
        cells = (
            cell.rjust(width) if head in ("ours", "peer's time", "ratio") else cell.ljust(width)
            for head, cell, width in zip(heads, row, widths, strict=True)
        )
        print("  " + "  ".join(cells).rstrip())


def summary(races: Sequence[Race]) -> str:
    """Return the geometric mean of the ratios, and how many races the peer won."""
    if not races:
        return "No races."
    mean = math.exp(sum(math.log(entry.ratio) for entry in races) / len(races))
    slower = sum(entry.ratio < 1 for entry in races)
    return f"{len(races)} races: {mean:.2f}x on average (geometric mean), {slower} below 1x"


def _calls_per_measurement(contestant: Work) -> int:
    contestant()
    return max(1, round(SHORTEST_MEASUREMENT / max(_seconds(contestant, 1), 1e-7)))


def _seconds(contestant: Work, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        contestant()
    return (time.perf_counter() - start) / calls


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e6:.0f} µs"
