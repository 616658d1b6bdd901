"""Do contestants make the same errors: what an equal error rate does not tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from verulam.experiment._words.overlap_text import overlap_sentence, vote_sentence

if TYPE_CHECKING:
    from verulam.experiment._store.predictions import PooledPredictions, StoredPredictions
    from verulam.experiment._store.responses import StoredContestant


@dataclass(frozen=True)
class Vote:
    """What contestants would achieve together, beside the best of them.

    Attributes
    ----------
    rule
        How they vote: by the mean of their "probabilities" or of their "numbers", or by a
        "plurality" of their labels.
    members
        How many vote.
    error
        Share of the rows that the vote gets wrong; for numbers its mean squared error.
    best
        The contestant with the least error.
    best_error
        Its error.
    low, high
        An interval of 95% for the error of the vote less that of the best, over rows of this kind.
    """

    rule: str
    members: int
    error: float
    best: str
    best_error: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """What the vote says, in words."""
        return vote_sentence(self)


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
    by_contestant
        For each contestant the share of rows on which it errs, errs alone and is right alone; None
        for numbers.
    vote
        What they would achieve together; None where that is not known.
    """

    data: str
    shared: pd.DataFrame
    disagreement: pd.DataFrame
    rows: int
    all_wrong: float
    some_right: float
    numbers: bool = False
    by_contestant: pd.DataFrame | None = None
    vote: Vote | None = None

    @property
    def sentence(self) -> str:
        """What the overlap and the vote say, in words."""
        return overlap_sentence(self)

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
    predictions: "StoredPredictions",
    data: str,
    contestants: Sequence["StoredContestant"],
    *,
    together: bool = True,
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
    together
        Whether to say what they would achieve together, as a share of errors or by squares.

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
        overlap = overlap_of(data, names, wrong)
    else:
        errors = np.column_stack([rows.predicted - rows.targets for rows in pooled.values()])
        overlap = correlation_of(data, names, errors)
    return replace(overlap, vote=vote_of(pooled)) if together else overlap


def vote_of(pooled: Mapping[str, "PooledPredictions"]) -> Vote:
    """Return what contestants would achieve together, from what they predicted for the same rows.

    Parameters
    ----------
    pooled
        Predictions of each contestant.

    Notes
    -----
    Alpaydin 17.4: the sum rule where all give probabilities. A row that is validated in several
    repeats counts once, and the interval is one over rows: that training sets are drawn is not in
    it. The best contestant is the best on these very rows, which favours it.
    """
    first = next(iter(pooled.values()))
    targets, members = first.targets, list(pooled.values())
    if not first.classes:
        rule = "numbers"
        losses = np.column_stack([(member.predicted - targets) ** 2 for member in members])
        together = (np.mean([member.predicted for member in members], axis=0) - targets) ** 2
    else:
        losses = np.column_stack([member.predicted != targets for member in members])
        probabilities = [member.probabilities for member in members]
        known = [table for table in probabilities if table is not None]
        rule = "probabilities" if len(known) == len(members) else "plurality"
        labels = np.array(first.classes)
        if rule == "plurality":
            known = [member.predicted[:, None] == labels for member in members]
            # Ties go with the best of the contestants.
            leader = known[int(losses.mean(axis=0).argmin())]
            known = [*known, 0.5 * leader]
        together = labels[np.sum(known, axis=0).argmax(axis=1)] != targets
    rows = np.arange(len(targets)) if first.rows is None else first.rows
    _, places, counts = np.unique(rows, return_inverse=True, return_counts=True)

    def by_row(values: np.ndarray) -> np.ndarray:
        return np.bincount(places, values) / counts

    single = np.array([by_row(column).mean() for column in losses.T.astype(np.float64)])
    best = int(single.argmin())
    differences = by_row(together.astype(np.float64) - losses[:, best])
    half = 1.96 * differences.std(ddof=1) / np.sqrt(len(differences)) if len(counts) > 1 else np.inf
    gain = float(differences.mean())
    return Vote(
        rule,
        len(members),
        float(by_row(together.astype(np.float64)).mean()),
        list(pooled)[best],
        float(single[best]),
        gain - half,
        gain + half,
    )


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
    On 25.0 % of the rows all err, on 50.0 % only some do. Most different are a and b, which share
    33 % of their errors.
    """
    counts = wrong.astype(np.float64)
    # One product counts the errors in common of all pairs.
    both = counts.T @ counts
    totals = np.diag(both)
    either = totals[:, None] + totals[None, :] - both
    # Two that never err agree in all of their errors.
    shared = np.divide(both, either, out=np.ones_like(both), where=either > 0)
    every, some = wrong.all(axis=1), wrong.any(axis=1)
    n_wrong = wrong.sum(axis=1, keepdims=True)
    by_contestant = pd.DataFrame(
        {
            "errs": wrong.mean(axis=0),
            "errs_alone": (wrong & (n_wrong == 1)).mean(axis=0),
            "right_alone": (~wrong & (n_wrong == wrong.shape[1] - 1)).mean(axis=0),
        },
        index=list(names),
    )
    return Overlap(
        data,
        pd.DataFrame(shared, index=list(names), columns=list(names)),
        pd.DataFrame((either - both) / len(wrong), index=list(names), columns=list(names)),
        len(wrong),
        float(every.mean()),
        float((some & ~every).mean()),
        by_contestant=by_contestant,
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
