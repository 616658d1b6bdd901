"""Boosting by three learners: the second learns from mistakes, the third from disagreements."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    NUMBERS,
    RANDOM_STATE,
    WHOLE,
    DataError,
    HasMethods,
    Interval,
    Seed,
    checked_arguments,
    checked_fit_with_parts,
    generator,
)
from verulam.ensemble._members.base import EnsembleClassifier
from verulam.ensemble._members.members import FloatArray, class_outputs, fit_member, seeded
from verulam.ensemble._members.tables import prepared_member, take_rows
from verulam.tree import DecisionTreeClassifier

#: Rows that each of three parts must have.
FEWEST_ROWS = 2


@checked_arguments(p=NUMBERS, levels=WHOLE)
def three_learner_error(p: ArrayLike, levels: int = 1) -> Any:
    r"""Return the error of three learners that err independently and decide by majority.

    Parameters
    ----------
    p
        Error of a single learner.
    levels
        How often three such systems make up the next.

    Notes
    -----
    .. math:: p \to 3 p^2 - 2 p^3

    which is less than :math:`p` where :math:`p < 1/2`; Schapire (1990) shows that learners taught
    on mistakes and disagreements reach it. See Alpaydin 17.7.

    Examples
    --------
    >>> from verulam.ensemble import three_learner_error
    >>> round(three_learner_error(0.3), 3), round(three_learner_error(0.3, levels=3), 4)
    (0.216, 0.0396)
    """
    error = np.asarray(p, dtype=np.float64)
    if not ((error >= 0) & (error <= 1)).all():
        raise DataError(f"p must lie between 0 and 1; got {error.tolist()}.")
    for _ in range(levels):
        error = 3.0 * error**2 - 2.0 * error**3
    return error if np.ndim(error) else float(error)


class ThreeLearnerBoosting(EnsembleClassifier):
    r"""Boost by three learners on three parts of the data.

    Parameters
    ----------
    estimator
        Weak classifier; None takes a tree of two levels.
    levels
        How often it is done: with 2, each of the three learners is such a system itself.
    random_state
        Seed of the parts, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list
        The three learners; the second or third is None where there was nothing to teach it.
    n_taught_ : tuple
        Rows that each was taught with.
    evaluations_ : float
        Members that the prediction of a training row asks, in the mean: the third only where the
        others disagree.

    Notes
    -----
    The rows are divided into three parts. The second learner is taught with those of the second
    part that the first gets wrong, and as many that it gets right; the third with those of the
    third part on which they disagree. Where they agree, that is the answer; otherwise it is that of
    the third. It takes many rows. See Alpaydin 17.7 (Schapire 1990).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import ThreeLearnerBoosting
    >>> digits = dataset("digits")
    >>> boost = ThreeLearnerBoosting(random_state=0).fit(digits.inputs, digits.target_values)
    >>> boost.n_taught_
    (599, 599, 511)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "levels": [Interval(Integral, 1, 5, closed="both")],
        "random_state": RANDOM_STATE,
    }
    estimators = None

    def __init__(
        self, estimator: Any = None, *, levels: int = 1, random_state: Seed = None
    ) -> None:
        self.estimator = estimator
        self.levels = levels
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Divide the rows and teach the three."""
        table, codes = self._read(X, y)
        if len(codes) < 3 * FEWEST_ROWS:
            raise DataError(
                f"X has {len(codes)} rows; three parts need n_samples={3 * FEWEST_ROWS} or more."
            )
        random = generator(self.random_state)
        first_rows, second_rows, third_rows = _three_parts(codes, random)
        first = self._taught(table, codes, first_rows, random)
        self.estimators_ = [first, None, None]
        right = self._codes(first, take_rows(table, second_rows)) == codes[second_rows]
        wrong_rows, right_rows = second_rows[~right], second_rows[right]
        chosen_rows = np.sort(
            np.concatenate([wrong_rows, random.permutation(right_rows)[: len(wrong_rows)]])
        )
        rows = np.empty(0, dtype=np.intp)
        if len(wrong_rows) and np.ptp(codes[chosen_rows]):
            second = self.estimators_[1] = self._taught(table, codes, chosen_rows, random)
            part = take_rows(table, third_rows)
            rows = third_rows[self._codes(first, part) != self._codes(second, part)]
            if len(rows) and np.ptp(codes[rows]):
                self.estimators_[2] = self._taught(table, codes, rows, random)
        self.n_taught_ = (len(first_rows), len(chosen_rows), len(rows))
        self.evaluations_ = float(self.evaluations(X).mean())
        return self

    def _taught(
        self, table: Any, codes: NDArray[Any], rows: NDArray[Any], random: np.random.Generator
    ) -> Any:
        part, labels = take_rows(table, rows), self.classes_[codes[rows]]
        seed = int(random.integers(2**31 - 1))
        if self.levels > 1 and len(rows) >= 3 * FEWEST_ROWS:
            inner = ThreeLearnerBoosting(self.estimator, levels=self.levels - 1, random_state=seed)
            return inner.fit(part, labels)
        base = DecisionTreeClassifier(max_depth=2) if self.estimator is None else self.estimator
        copy = seeded(prepared_member(base, table), seed)
        return fit_member((type(base).__name__, copy), part, labels)

    def _codes(self, learner: Any, table: Any) -> NDArray[np.intp]:
        return class_outputs(learner, table, self.classes_, "labels").argmax(axis=1)

    def evaluations(self, X: Any) -> NDArray[np.intp]:
        """Return how many of the three the prediction of each row asks."""
        table = self._checked(X)
        first, second, third = self.estimators_
        if second is None or third is None:
            return np.full(len(table), 1 + (second is not None), dtype=np.intp)
        return 2 + (self._codes(first, table) != self._codes(second, table)).astype(np.intp)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return a whole vote for the class of each row."""
        table = self._checked(X)
        first, second, third = self.estimators_
        codes = self._codes(first, table)
        if second is not None and third is not None:
            doubtful = np.flatnonzero(codes != self._codes(second, table))
            if len(doubtful):
                codes[doubtful] = self._codes(third, take_rows(table, doubtful))
        return np.eye(len(self.classes_))[codes]


def _three_parts(codes: NDArray[Any], random: np.random.Generator) -> list[NDArray[np.intp]]:
    """Divide rows into three parts at random, the classes shared out evenly."""
    order = random.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    return [np.sort(order[part::3]) for part in range(3)]
