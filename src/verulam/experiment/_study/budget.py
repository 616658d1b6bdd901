"""What a study may spend, and which of its runs that pays for."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any

from verulam.base import DataError, nearest_names
from verulam.experiment._text import counted

if TYPE_CHECKING:
    from verulam.experiment._plan.records import PlannedRun


@dataclass(frozen=True)
class Budget:
    """What a study may spend.

    Attributes
    ----------
    runs
        Most runs; None for no limit.
    seconds
        Most seconds of fitting and predicting, all runs together, however many at once; None
        for no limit. Where repeats are added until the choice is settled, no more of them are
        begun then, and the one that has begun is finished.
    total_runs, total_seconds
        What the whole investigation may take, of which this study is the first: it gets
        `first_share` of that where it has no limit of its own.
    first_share
        Part of the total that the first study may spend.

    Notes
    -----
    Alpaydin 19.5: much is learnt from the first experiment, so that most of the means are kept
    for those that follow; a quarter is a good share.

    Examples
    --------
    >>> Budget(total_runs=2000).most_runs
    500
    """

    runs: int | None = None
    seconds: float | None = None
    total_runs: int | None = None
    total_seconds: float | None = None
    first_share: float = 0.25

    def __post_init__(self) -> None:
        for key in ("runs", "total_runs", "seconds", "total_seconds"):
            limit = getattr(self, key)
            whole = key.endswith("runs")
            expected = int if whole else Real
            if limit is None:
                continue
            if isinstance(limit, bool) or not isinstance(limit, expected) or limit <= 0:
                words = "a whole number above 0" if whole else "a number above 0"
                raise DataError(f"budget.{key}: {limit!r}; expected {words}.")
        if isinstance(self.first_share, bool) or not 0 < self.first_share <= 1:
            raise DataError(
                f"budget.first_share: {self.first_share!r}; expected a number above 0, up to 1."
            )

    @property
    def most_runs(self) -> int | None:
        """The number of runs that the study may spend."""
        if self.runs is not None or self.total_runs is None:
            return self.runs
        return max(1, int(self.first_share * self.total_runs))

    @property
    def most_seconds(self) -> float | None:
        """The seconds that the study may spend."""
        if self.seconds is not None or self.total_seconds is None:
            return self.seconds
        return self.first_share * self.total_seconds

    @property
    def title(self) -> str:
        """What may be spent, in words."""
        parts = []
        if self.most_runs is not None:
            parts.append(counted(self.most_runs, "run"))
        if self.most_seconds is not None:
            parts.append(f"{self.most_seconds:g} seconds")
        return " and ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a study file has it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def budget(limits: Mapping[str, Any] | Budget | None) -> Budget | None:
    """Return the budget that a table of a study file stands for; None for none.

    Parameters
    ----------
    limits
        A mapping with fields of `Budget`.

    Examples
    --------
    >>> budget({"runs": 40, "seconds": 600}).title
    '40 runs and 600 seconds'
    """
    if limits is None or isinstance(limits, Budget):
        return limits
    keys = [limit.name for limit in fields(Budget)]
    if not isinstance(limits, Mapping):
        raise DataError(f"budget: {limits!r}; expected a table with {', '.join(keys)}.")
    for key in limits:
        if key not in keys:
            nearest = nearest_names(key, keys, count=1)[0]
            raise DataError(f"budget.{key}: no such key. Nearest: {nearest}.")
    return Budget(**limits)


def affordable(
    runs: Sequence["PlannedRun"],
    limits: Budget | None,
    settled: Set[str] = frozenset(),
    among: Set[int] | None = None,
) -> list[int]:
    """Return where the runs are that are to be carried out, the same identity just once.

    With a budget they come split by split: all contestants on one split before any on the next,
    so that whatever a study is stopped by, its contestants can be compared. Splits that the
    number of runs does not pay for as a whole are left out.

    Parameters
    ----------
    runs
        The runs of a plan.
    limits
        What may be spent; None for everything.
    settled
        Runs that have been carried out already, and count as spent.
    among
        Positions of the runs to choose from; None for all.
    """
    first: dict[str, int] = {}
    for place, run in enumerate(runs):
        if among is None or place in among:
            first.setdefault(run.run_id, place)
    if limits is None:
        return [place for run_id, place in first.items() if run_id not in settled]
    blocks: dict[tuple[int, int, int], list[int]] = {}
    for run_id, place in first.items():
        if run_id not in settled:
            run = runs[place]
            blocks.setdefault((run.data, run.split.repeat, run.split.fold), []).append(place)
    # What an earlier run of the study has done counts against the budget, which is for all of it.
    spent = len({run.run_id for run in runs} & settled)
    left = len(first) if limits.most_runs is None else limits.most_runs - spent
    paid: list[int] = []
    for block in blocks.values():
        if len(paid) + len(block) <= left:
            paid += block
    if not paid and blocks and not spent:
        # Less than one split: some runs are better than none.
        paid = next(iter(blocks.values()))[:left]
    return paid
