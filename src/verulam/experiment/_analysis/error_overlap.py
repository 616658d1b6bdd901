"""Do contestants make the same errors: what an equal error rate does not tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from verulam.experiment._text import spoken_name

if TYPE_CHECKING:
    from verulam.experiment._store.predictions import StoredPredictions
    from verulam.experiment._store.responses import StoredContestant


@dataclass(frozen=True, eq=False)
class Overlap:
    """How far contestants agree in their errors, over all validated rows of a data set.

    Attributes
    ----------
    data
        Label of the data set.
    shared
        For each pair the share of rows that both predict wrongly, among those that at least one
        does; for numbers the correlation of the errors.
    disagreement
        For each pair the share of rows on which exactly one errs; for numbers the mean absolute
        difference of the predictions.
    rows
        Validated rows.
    all_wrong
        Share of the rows that every contestant gets wrong; NaN for numbers.
    some_right
        Share of the rows on which some contestants err and some do not; NaN for numbers.
    numbers
        Whether the target is a number.
    """

    data: str
    shared: pd.DataFrame
    disagreement: pd.DataFrame
    rows: int
    all_wrong: float
    some_right: float
    numbers: bool = False

    @property
    def sentence(self) -> str:
        """What the overlap says, in words."""
        *pair, least = self.most_different
        first, second = (spoken_name(str(name)) for name in pair)
        if self.numbers:
            return (
                f"The errors of {first} and {second} are the least alike (correlation {least:.2f})."
            )
        return (
            f"On {self.all_wrong:.1%} of the rows all err, on {self.some_right:.1%} only some do. "
            f"Most different are {first} and {second}, which share {least:.0%} of their errors."
        )

    @property
    def most_different(self) -> tuple[str, str, float]:
        """The pair whose errors are the least alike, and how alike they are."""
        names = [str(name) for name in self.shared.index]
        values = self.shared.to_numpy()
        pairs = [(float(values[i, j]), i, j) for i, j in combinations(range(len(names)), 2)]
        # An undefined correlation is not a small one.
        least, i, j = min(pairs, key=lambda pair: np.inf if np.isnan(pair[0]) else pair[0])
        return names[i], names[j], least


def error_overlaps(
    predictions: "StoredPredictions", data: str, contestants: Sequence["StoredContestant"]
) -> Overlap | None:
    """Return how far contestants agree in their errors; None where fewer than two can be compared.

    Parameters
    ----------
    predictions
        The predictions of a study.
    data
        Label of the data set.
    contestants
        Whom to compare; those that lack splits are left out.

    Notes
    -----
    Alpaydin 19.15: equal error rates need not mean equal errors, and learners that err on
    different rows are worth combining.
    """
    pooled = {
        contestant.name: rows
        for contestant in contestants
        if (rows := predictions.pooled(data, contestant.learner, contestant.setting)) is not None
    }
    most = max((len(rows.targets) for rows in pooled.values()), default=0)
    pooled = {name: rows for name, rows in pooled.items() if len(rows.targets) == most}
    if len(pooled) < 2 or most < 2:
        return None
    names = list(pooled)
    first = next(iter(pooled.values()))
    if first.classes:
        wrong = np.column_stack([rows.predicted != rows.targets for rows in pooled.values()])
        return overlap_of(data, names, wrong)
    errors = np.column_stack([rows.predicted - rows.targets for rows in pooled.values()])
    return correlation_of(data, names, errors)


def overlap_of(data: str, names: Sequence[str], wrong: np.ndarray) -> Overlap:
    """Return the overlap of errors of classes.

    Parameters
    ----------
    data
        Label of the data set.
    names
        The contestants.
    wrong
        Whether each contestant, in columns, errs on each row.

    Examples
    --------
    >>> import numpy as np
    >>> wrong = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> overlap = overlap_of("some", ["a", "b"], wrong)
    >>> overlap.shared.round(3)
           a      b
    a  1.000  0.333
    b  0.333  1.000
    >>> print(overlap.sentence)
    On 25.0% of the rows all err, on 50.0% only some do. Most different are a and b, which share 33%
    of their errors.
    """
    counts = wrong.astype(np.float64)
    # One product counts the errors in common of all pairs.
    both = counts.T @ counts
    totals = np.diag(both)
    either = totals[:, None] + totals[None, :] - both
    # Two that never err agree in all of their errors.
    shared = np.divide(both, either, out=np.ones_like(both), where=either > 0)
    every, some = wrong.all(axis=1), wrong.any(axis=1)
    return Overlap(
        data,
        pd.DataFrame(shared, index=list(names), columns=list(names)),
        pd.DataFrame((either - both) / len(wrong), index=list(names), columns=list(names)),
        len(wrong),
        float(every.mean()),
        float((some & ~every).mean()),
    )


def correlation_of(data: str, names: Sequence[str], errors: np.ndarray) -> Overlap:
    """Return how the errors of numbers go together.

    Parameters
    ----------
    data
        Label of the data set.
    names
        The contestants.
    errors
        Predicted less true numbers, a column per contestant.
    """
    centred = errors - errors.mean(axis=0)
    sizes = np.sqrt((centred**2).sum(axis=0))
    scale = np.outer(sizes, sizes)
    covariance = centred.T @ centred
    correlations = np.divide(covariance, scale, out=np.full_like(scale, np.nan), where=scale > 0)
    apart = np.abs(errors[:, :, None] - errors[:, None, :]).mean(axis=0)
    return Overlap(
        data,
        pd.DataFrame(correlations, index=list(names), columns=list(names)),
        pd.DataFrame(apart, index=list(names), columns=list(names)),
        len(errors),
        float("nan"),
        float("nan"),
        numbers=True,
    )
