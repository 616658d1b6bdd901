"""Learning vector quantisation: prototypes move towards rows of their class, and off others."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    DataWarning,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.cluster import KMeans
from verulam.local._prototypes.quantisation_loops import quantisation_pass
from verulam.numerics import Schedule

#: Rules by their number in the compiled loop.
RULES = {"lvq1": 1, "lvq2.1": 2, "lvq3": 3}


def first_prototypes(
    rows: np.ndarray,
    codes: np.ndarray,
    n_prototypes: int,
    init: Any,
    random: np.random.Generator,
    labels: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first prototypes and their classes: means, or rows, of each class by itself."""
    prototypes, classes, short = [], [], []
    for code, label in enumerate(labels):
        members = rows[codes == code]
        distinct = np.unique(members, axis=0)
        count = min(n_prototypes, len(distinct))
        if count < n_prototypes:
            short.append(f"{label!s} ({count})")
        if init == "random":
            units = distinct[random.choice(len(distinct), count, replace=False)]
        elif count == len(distinct):
            units = distinct
        else:
            means = KMeans(count, tol=1e-3, random_state=int(random.integers(2**31)))
            units = means.fit(members).cluster_centers_
        prototypes.append(units)
        classes.append(np.full(len(units), code, dtype=np.int64))
    if short:
        warn_caller(
            f"n_prototypes={n_prototypes} is more than the different rows of some classes, which "
            f"have a prototype for each: {', '.join(short)}.",
            DataWarning,
        )
    return np.vstack(prototypes), np.concatenate(classes)


class PrototypeClassifier(Classifier):
    """What classifiers by the nearest prototype have in common."""

    n_prototypes: int
    init: Any
    random_state: Seed
    prototypes_: np.ndarray
    prototype_classes_: np.ndarray

    def _begin(self, X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check the data and return rows, class codes and first prototypes."""
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__}: y needs at least two classes, and there is only one "
                f"class: {self.classes_[0]}."
            )
        random = generator(self.random_state)
        self._random = random
        prototypes, self._prototype_codes = first_prototypes(
            rows, codes, self.n_prototypes, self.init, random, self.classes_
        )
        self.prototype_classes_ = self.classes_[self._prototype_codes]
        return rows, codes, prototypes

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        prototypes = self.prototypes_

        def nearest(part: np.ndarray) -> np.ndarray:
            return cdist(part, prototypes, "sqeuclidean").argmin(axis=1)

        return map_rows(nearest, rows, (len(rows),), np.int64)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of the nearest prototype of each row."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return self.classes_[self._prototype_codes[self._nearest(rows)]]


class LearningVectorQuantisation(InSteps, PrototypeClassifier):
    r"""Classify by the nearest of a few prototypes, which rows attract and repel.

    Parameters
    ----------
    n_prototypes
        Prototypes of each class.
    rule
        "lvq1": the nearest prototype moves, towards rows of its class and off others. "lvq2.1": of
        the two nearest, where one is of the row's class and the row lies in the window between
        them, both move. "lvq3": the same, and two of the row's class both move towards it a little.
    learning_rate
        Step size: a number, which falls evenly to zero, or a `verulam.numerics.Schedule`.
    window_width
        Width of the window about the middle between two prototypes, from 0 to 1.
    agreeing_share
        Share of the rate with which two prototypes of the right class move.
    init
        Where prototypes start: "k-means" of each class, or "random" rows.
    max_iter
        Passes over the rows, each in a new random order.
    random_state
        Seed of the start and of the orders.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes_total, n_features)
        The prototypes.
    prototype_classes_ : ndarray
        Their classes.
    error_curve_ : list of float
        Share of the training rows that are put into a wrong class, at the start and after each
        pass; after the start by means it may well be least.
    classes_ : ndarray
        The classes.
    n_iter_ : int
        Passes made.

    Notes
    -----
    .. math:: \Delta m_i = \pm \eta\,(x^t - m_i), \qquad i = \arg\min_l \|x^t - m_l\|

    with plus if the labels of :math:`x^t` and :math:`m_i` agree, and minus otherwise, is LVQ1. A
    row lies in the window of width :math:`w` if the ratio of its smaller distance to the larger
    exceeds :math:`(1 - w)/(1 + w)` (Kohonen [kohonen1990]_). See Alpaydin 12.7 (equation 12.44),
    SIT1305 V.

    .. [kohonen1990] T. Kohonen, "The self-organizing map", Proceedings of the IEEE 78, 1464-1480,
       1990.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import LearningVectorQuantisation
    >>> iris = dataset("iris")
    >>> learner = LearningVectorQuantisation(2, random_state=0)
    >>> learner.fit(iris.inputs, iris.target_values).prototypes_.shape
    (6, 4)
    >>> round(learner.score(iris.inputs, iris.target_values), 2)
    0.95
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "rule": [StrOptions(set(RULES))],
        "learning_rate": [Interval(Real, 0, 1, closed="right"), Schedule],
        "window_width": [Interval(Real, 0, 1, closed="neither")],
        "agreeing_share": [Interval(Real, 0, 1, closed="both")],
        "init": [StrOptions({"k-means", "random"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_prototypes: int = 1,
        *,
        rule: str = "lvq1",
        learning_rate: Any = 0.05,
        window_width: float = 0.25,
        agreeing_share: float = 0.2,
        init: str = "k-means",
        max_iter: int = 20,
        random_state: Seed = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.rule = rule
        self.learning_rate = learning_rate
        self.window_width = window_width
        self.agreeing_share = agreeing_share
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["LearningVectorQuantisation"]:
        return [
            cls(2),
            cls(2, rule="lvq2.1", init="random"),
            cls(2, rule="lvq3"),
        ]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their classes.

        Parameters
        ----------
        X
            Rows.
        y
            Classes.
        """
        rows, codes, prototypes = self._begin(X, y)
        units = np.ascontiguousarray(prototypes.T)
        classes = self._prototype_codes
        n_steps = self.max_iter * len(rows)
        ratio = (1.0 - self.window_width) / (1.0 + self.window_width)
        self.error_curve_ = [self._error(rows, codes, prototypes)]
        for passes in self._steps(range(self.max_iter), "pass", self.max_iter):
            first = passes * len(rows)
            if isinstance(self.learning_rate, Schedule):
                rates = self.learning_rate.table(first + 1, len(rows))
            else:
                rates = self.learning_rate * (1.0 - np.arange(first, first + len(rows)) / n_steps)
            quantisation_pass(
                rows, codes, self._random.permutation(len(rows)), rates, RULES[self.rule], ratio,
                float(self.agreeing_share), units, classes,
            )  # fmt: skip
            if not np.isfinite(units).all():
                raise DataError(
                    f"learning_rate={self.learning_rate!r} drove prototypes to infinity; choose "
                    "a smaller one."
                )
            self.error_curve_.append(self._error(rows, codes, np.ascontiguousarray(units.T)))
        del self._random
        self.n_iter_ = self.max_iter
        self.prototypes_ = units.T.copy()
        return self

    def _error(self, rows: np.ndarray, codes: np.ndarray, prototypes: np.ndarray) -> float:
        self.prototypes_ = prototypes
        return float(np.mean(self._prototype_codes[self._nearest(rows)] != codes))
