"""Which resampling suits how many rows, and why."""

from dataclasses import dataclass

from verulam.base import DataError
from verulam.experiment._resampling import Resampling

#: Below so many rows, and below so many rows of the smallest class, a set is tiny.
TINY_ROWS, TINY_CLASS = 30, 5

#: From so many rows on, so many folds.
FOLDS = ((10_000, 5), (300, 10), (TINY_ROWS, 30))

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
    """Return the resampling that suits the number of rows: many folds where rows are few.

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
    sets, tested here on the rows not drawn, since those drawn have been learnt from.

    Examples
    --------
    >>> advice = suggest_resampling(5_000, n_classes=2)
    >>> str(advice.resampling), advice.reason
    ('10-fold', '5000 rows: 10 folds are the custom, with 4500 rows to learn from each time.')
    """
    if smallest_class is None:
        smallest_class = n_rows // n_classes if n_classes else n_rows // 2
    if smallest_class < 2:
        raise DataError(
            f"{n_rows} rows, {smallest_class} of them in the smallest class; "
            "at least 2 of each class are needed."
        )
    if n_rows < TINY_ROWS or smallest_class < TINY_CLASS:
        few = f"{n_rows} rows" if n_rows < TINY_ROWS else f"a class of {smallest_class} rows"
        return ResamplingAdvice(
            Resampling("out-of-bag", repeats=100),
            f"{few}: too few to cut into folds; the bootstrap learns from as many rows each time.",
        )
    if n_rows >= PLENTY:
        return ResamplingAdvice(
            Resampling("disjoint", folds=10),
            f"{n_rows} rows: enough for ten parts that share no row, whose scores are independent.",
        )
    ideal = next(folds for rows, folds in FOLDS if n_rows >= rows)
    folds = min(ideal, smallest_class)
    learnt = n_rows - round(n_rows / folds)
    words = {5: "few folds suffice", 10: "10 folds are the custom", 30: "many folds are needed"}
    reason = f"{n_rows} rows: {words[ideal]}, with {learnt} rows to learn from each time."
    if folds < ideal:
        reason += f" {folds} instead of {ideal}, because the smallest class has no more rows."
    return ResamplingAdvice(Resampling("k-fold", folds=folds), reason)
