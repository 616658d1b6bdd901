"""Which resampling suits how many rows, and why."""

from dataclasses import dataclass

from verulam.base import DataError
from verulam.experiment._resampling.resampling import Resampling

#: Below so many rows a set is tiny.
TINY_ROWS = 30

#: From so many rows on, so many folds.
FOLDS = ((10_000, 5), (TINY_ROWS, 10))

#: Repeats to begin with, and at the most, until the choice would survive other splits.
REPEATS, MOST_REPEATS = 2, 10

#: From so many rows on, each of ten parts is large enough by itself.
PLENTY = 1_000_000


@dataclass(frozen=True)
class ResamplingAdvice:
    """A resampling and why it is suggested.

    Attributes
    ----------
    resampling
        What to use.
    reason
        Why, in words.
    """

    resampling: Resampling
    reason: str


def suggest_resampling(
    n_rows: int, *, n_classes: int | None = None, smallest_class: int | None = None
) -> ResamplingAdvice:
    """Return the resampling that suits the number of rows, which is also what `compare` takes.

    Parameters
    ----------
    n_rows
        Rows to resample, without those that are locked away.
    n_classes
        Number of classes; None where the target is a number.
    smallest_class
        Rows of the smallest class; None takes classes of equal size.

    Notes
    -----
    Alpaydin 19.6: the more rows there are, the fewer folds do; the bootstrap is for very small
    sets, tested here on the rows not drawn, since those drawn have been learnt from. Two repeats
    of ten folds tell about as much of a difference as ten; more are added where the choice would
    not survive other splits.

    Examples
    --------
    >>> advice = suggest_resampling(5_000, n_classes=2)
    >>> str(advice.resampling)
    '2-10x10-fold'
    >>> print(advice.reason)
    5000 rows: 10 folds are the custom, with 4500 rows to learn from each time; repeated twice, and
    up to 10 times until the choice would survive other splits.
    """
    if smallest_class is None:
        smallest_class = n_rows // n_classes if n_classes else n_rows // 2
    if smallest_class < 2:
        raise DataError(
            f"{n_rows} rows, {smallest_class} of them in the smallest class; "
            "at least 2 of each class are needed."
        )
    if n_rows < TINY_ROWS:
        return ResamplingAdvice(
            Resampling("out-of-bag", repeats=100),
            f"{n_rows} rows: too few to cut into folds; the bootstrap learns from as many rows "
            "each time.",
        )
    if n_rows >= PLENTY:
        return ResamplingAdvice(
            Resampling("disjoint", folds=10),
            f"{n_rows} rows: enough for ten parts that share no row, whose scores are independent.",
        )
    folds = next(folds for rows, folds in FOLDS if n_rows >= rows)
    learnt = n_rows - round(n_rows / folds)
    words = {5: "few folds suffice", 10: "10 folds are the custom"}[folds]
    reason = (
        f"{n_rows} rows: {words}, with {learnt} rows to learn from each time; repeated twice, and "
        f"up to {MOST_REPEATS} times until the choice would survive other splits."
    )
    if smallest_class < folds:
        reason += f" The smallest class has {smallest_class} rows, so that some folds lack it."
    repeated = Resampling("k-fold", folds=folds, repeats=REPEATS, max_repeats=MOST_REPEATS)
    return ResamplingAdvice(repeated, reason)
