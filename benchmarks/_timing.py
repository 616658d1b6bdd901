"""Time two ways of doing the same work against each other, and print the outcome."""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Work = Callable[[], Any]
#: Compares the answer of ours with the peer's: false, or an AssertionError, where they differ.
Agreement = Callable[[Any, Any], bool | None]

#: Shorter work is repeated until one measurement lasts this long, far above the clock's grain.
SHORTEST_MEASUREMENT = 0.02
#: Each contestant is measured this often and the best time counts: noise only ever adds.
MEASUREMENTS = 3
#: Work that takes longer than this many seconds is measured once more only.
LONG = 3.0
#: Work that takes less than this many seconds is done once, uncounted, before each measurement.
BRIEF = 0.2


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
    title
        What the races that it was printed with have in common.
    """

    work: str
    ours: float
    peer: str
    theirs: float
    title: str = ""

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs / self.ours


#: Every race that was printed, for the summary at the end.
RACES: list[Race] = []


def race(work: str, ours: Work, peer: str, theirs: Work, *, same: Agreement) -> Race:
    """Time `ours` and `theirs` by turns, once their answers have been compared.

    The first call, whose answer is compared, compiles, fills caches and imports, and is not
    counted; taking turns spreads whatever else the machine is doing over both.

    Raises
    ------
    AssertionError
        If the answers differ.
    """
    contestants = (ours, theirs)
    verdict = same(*(contestant() for contestant in contestants))
    if verdict is not None and not verdict:
        raise AssertionError(f"{work}: ours and {peer} do not give the same answer.")
    best = [_seconds(contestant, 1) for contestant in contestants]
    calls = [max(1, round(SHORTEST_MEASUREMENT / max(seconds, 1e-7))) for seconds in best]
    for _ in range(1 if max(best) > LONG else MEASUREMENTS):
        for place, contestant in enumerate(contestants):
            # Memory that the other one freed is put in order by whoever asks for some next.
            if best[place] < BRIEF:
                contestant()
            best[place] = min(best[place], _seconds(contestant, calls[place]))
    return Race(work, best[0], peer, best[1])


def close(rtol: float = 1e-7, atol: float = 0.0) -> Agreement:
    """Return a comparison of arrays, or of numbers, up to a relative and an absolute difference."""

    def same(ours: Any, theirs: Any) -> None:
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)

    return same


def alike(share: float = 0.999) -> Agreement:
    """Return a comparison of labels: equal but for the few rows that lie on a border."""

    def same(ours: Any, theirs: Any) -> None:
        agreement = np.mean(np.asarray(ours) == np.asarray(theirs))
        assert agreement >= share, f"the answers agree on {agreement:.2%} of the rows"

    return same


def alone(work: str, ours: Work) -> str:
    """Return a line with the best time of ours where there is no peer, timed as in a race."""
    best = best_time(ours)
    return f"{work}: ours {duration(best)}"


def once(work: Work) -> float:
    """Return the time of one call, to choose among peers by."""
    return _seconds(work, 1)


def best_time(work: Work) -> float:
    """Return the best time of one call, after one that is not counted."""
    work()
    calls = max(1, round(SHORTEST_MEASUREMENT / max(_seconds(work, 1), 1e-7)))
    return min(_seconds(work, calls) for _ in range(MEASUREMENTS))


def print_races(title: str, races: Sequence[Race]) -> None:
    """Print one line per race: the work, both times, and how many times faster ours is."""
    RACES.extend(replace(entry, title=title) for entry in races)
    heads = ("work", "ours", "peer", "peer's time", "ratio")
    rows = [
        (each.work, duration(each.ours), each.peer, duration(each.theirs), f"{each.ratio:.2f}x")
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
    """Return the geometric mean of the ratios, and how many races the peer won.

    Races against our own code, or a loop written for the race, do not count.
    """
    counted = [entry for entry in races if not entry.peer.startswith(("our", "plain"))]
    if not counted:
        return "No races."
    mean = math.exp(sum(math.log(entry.ratio) for entry in counted) / len(counted))
    slower, far = (sum(entry.ratio < limit for entry in counted) for limit in (1.0, 0.8))
    return (
        f"{len(counted)} races: {mean:.2f}x on average (geometric mean), {slower} below 1x, "
        f"{far} of them below 0.8x"
    )


def _seconds(contestant: Work, calls: int) -> float:
    # Of one thread the processor's time counts, which other programs on the machine hardly change.
    clock = time.process_time if os.environ.get("VERULAM_THREADS") == "1" else time.perf_counter
    start = clock()
    for _ in range(calls):
        contestant()
    return (clock() - start) / calls


def duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e6:.0f} µs"
