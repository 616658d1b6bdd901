"""Metrics learned for nearest neighbours: large margin nearest neighbours and components."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    one_blas_thread,
    validate_data,
    warn_caller,
)
from verulam.kernel._kernels.inputs import read_classes
from verulam.kernel._metric.large_margin_problem import (
    LearnedMetric,
    MarginProblem,
    best_scale,
    condition,
    learn_projection,
    margin_problem,
)


class _LargeMargin(ClassNamePrefixFeaturesOutMixin, Classifier, Transformer):
    """Both methods: a projection is learned, and neighbours vote in it."""

    n_neighbors: int
    push_weight: float
    impostors: str
    max_iter: int
    tol: float

    def _initial_projections(self, inputs: np.ndarray) -> list[np.ndarray]:
        """Return projections to begin with; `best_scale` takes care of their scale."""
        raise NotImplementedError

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the projection."""
        inputs = validate_data(
            self, X, dtype=np.float64, order="C", ensure_min_samples=2, copy=True
        )
        self.classes_, self.codes_ = read_classes(y, len(inputs))
        # Products are small here: BLAS's threads would wait for one another longer than they work.
        with one_blas_thread():
            problem = margin_problem(
                # Distances do not change with the origin, and near it fewer digits cancel.
                inputs - inputs.mean(axis=0),
                self.codes_.astype(np.int64),
                self.n_neighbors,
                self.push_weight,
                nearby=self.impostors == "nearby",
            )
            conditioned = condition(problem)
            learned = min(
                (
                    self._learn(conditioned.problem, projection @ conditioned.forth)
                    for projection in self._initial_projections(problem.inputs)
                ),
                key=lambda metric: metric.losses[-1],
            )
        if not learned.converged:
            warn_caller(
                f"the metric was still improving after max_iter={self.max_iter} steps.",
                ConvergenceWarning,
            )
        self.components_ = learned.projection @ conditioned.back
        # The metric of a projection is positive semidefinite by its form, with no constraint.
        self.metric_ = self.components_.T @ self.components_
        self.loss_curve_ = np.array(learned.losses)
        self.n_iter_ = learned.n_steps
        self.n_violations_ = learned.n_active
        self.projected_ = inputs @ self.components_.T
        return self

    def _learn(self, problem: MarginProblem, projection: np.ndarray) -> LearnedMetric:
        scaled = best_scale(problem, projection) * projection
        return learn_projection(problem, scaled, self.max_iter, self.tol)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the rows in the space where the Euclidean distance is the learned one."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return inputs @ self.components_.T

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of each class among the nearest neighbours."""
        projected = self.transform(X)
        count = min(self.n_neighbors, len(self.projected_))
        # Euclidean neighbours of projections are neighbours by the learned metric.
        finder = NearestNeighbors(n_neighbors=count).fit(self.projected_)
        votes = self.codes_[finder.kneighbors(projected, return_distance=False)]
        return np.stack([(votes == k).mean(axis=1) for k in range(len(self.classes_))], axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most frequent class among the nearest neighbours."""
        winners = self.predict_proba(X).argmax(axis=1)
        return self.classes_[winners]


_SHARED_CONSTRAINTS: dict[str, Any] = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "push_weight": [Interval(Real, 0, 1, closed="neither")],
    "impostors": [StrOptions({"any", "nearby"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "random_state": RANDOM_STATE,
}


class LargeMarginNeighbours(_LargeMargin):
    r"""Nearest neighbours under a metric that keeps other classes a margin further away.

    Parameters
    ----------
    n_neighbors
        Number of targets of a row, the nearest of its class, and of neighbours that vote.
    push_weight
        Weight :math:`\mu` of impostors; the rest is that of near targets.
    impostors
        "any" row of another class that violates the margin is an impostor; "nearby" restricts
        them to the nearest `n_neighbors` rows by the metric of the inputs.
    init
        Metric to start from: "identity" or "random". The problem is convex in the metric, so this
        changes the way and not the end.
    max_iter
        Most steps of the optimiser.
    tol
        A round of steps that gains less than this share of the objective is the last.
    random_state
        Seed of a random start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    components_ : ndarray of shape (n_features, n_features)
        Projection :math:`L`.
    metric_ : ndarray of shape (n_features, n_features)
        Matrix :math:`M = L^T L` of the squared distance :math:`(x - y)^T M (x - y)`.
    loss_curve_ : ndarray
        Objective at the start and after each round of steps.
    n_iter_ : int
        Number of steps.
    n_violations_ : int
        Triples of row, target and impostor without their margin at the end.
    codes_, projected_ : ndarray
        Classes and projections of the training rows.

    Notes
    -----
    .. math:: \min_{M \succeq 0} (1 - \mu) \sum_{i, j} D(x^i, x^j) + \mu \sum_{i, j, l} \xi_{ijl},
              \qquad D(x^i, x^l) \ge D(x^i, x^j) + 1 - \xi_{ijl}, \quad \xi_{ijl} \ge 0

    where :math:`j` runs over the targets of :math:`i` and :math:`l` over its impostors. The text
    takes impostors from the nearest neighbours alone; the published method, and the default here,
    takes any row. It is solved for :math:`L`, square, so that no minimum is only a local one, and
    in coordinates of equal variance, so that units of the columns do not slow it down. See Alpaydin
    13.13 (13.63-13.65), 8.5 (8.20).

    Examples
    --------
    The second column is noise, ten times as wide as what matters:

    >>> import numpy as np
    >>> from verulam.kernel import LargeMarginNeighbours
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.column_stack([y + 0.2 * rng.normal(size=100), 10 * rng.normal(size=100)])
    >>> learner = LargeMarginNeighbours().fit(X[::2], y[::2])
    >>> learner.score(X[1::2], y[1::2])
    1.0
    >>> bool(learner.metric_[1, 1] < 0.01 * learner.metric_[0, 0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED_CONSTRAINTS,
        "init": [StrOptions({"identity", "random"})],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        push_weight: float = 0.5,
        impostors: str = "any",
        init: str = "identity",
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.push_weight = push_weight
        self.impostors = impostors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["LargeMarginNeighbours"]:
        return [cls(), cls(impostors="nearby", init="random", random_state=0)]

    def _initial_projections(self, inputs: np.ndarray) -> list[np.ndarray]:
        width = inputs.shape[1]
        if self.init == "identity":
            return [np.eye(width)]
        return [generator(self.random_state).normal(size=(width, width))]


class LargeMarginComponents(_LargeMargin):
    r"""A projection to few dimensions in which neighbours of other classes are a margin away.

    Parameters
    ----------
    n_components
        Number of dimensions :math:`k`; no more than columns are used.
    n_neighbors
        Number of targets of a row, the nearest of its class, and of neighbours that vote.
    push_weight
        Weight :math:`\mu` of impostors; the rest is that of near targets.
    impostors
        "any" row of another class that violates the margin is an impostor; "nearby" restricts
        them to the nearest `n_neighbors` rows by the metric of the inputs.
    n_init
        Number of starts: the first is from the principal components, further ones from random
        projections, and the best end counts, for this problem has local minima.
    max_iter
        Most steps of the optimiser from each start.
    tol
        A round of steps that gains less than this share of the objective is the last.
    random_state
        Seed of the random projections.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    components_ : ndarray of shape (n_components, n_features)
        Projection :math:`L`.
    metric_ : ndarray of shape (n_features, n_features)
        Matrix :math:`M = L^T L`, of rank `n_components` at most.
    loss_curve_ : ndarray
        Objective at the best start and after each round of steps from it.
    n_iter_ : int
        Number of those steps.
    n_violations_ : int
        Triples of row, target and impostor without their margin at the end.
    codes_, projected_ : ndarray
        Classes and projections of the training rows.

    Notes
    -----
    .. math:: D(x^i, x^j) = \|L x^i - L x^j\|^2, \qquad L: k \times d

    in the objective of `LargeMarginNeighbours`. See Alpaydin 13.13 (13.66), 8.5 (8.21).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import LargeMarginComponents
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = LargeMarginComponents(n_components=1, random_state=0).fit(X[::2], y[::2])
    >>> learner.transform(X[:3]).shape
    (3, 1)
    >>> round(learner.score(X[1::2], y[1::2]), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 3,
        push_weight: float = 0.5,
        impostors: str = "any",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.push_weight = push_weight
        self.impostors = impostors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["LargeMarginComponents"]:
        return [cls(1, n_init=2, random_state=0)]

    def _initial_projections(self, inputs: np.ndarray) -> list[np.ndarray]:
        shape = min(self.n_components, inputs.shape[1]), inputs.shape[1]
        # Inputs are centred, so these are the principal components, the least of them first.
        _, directions = np.linalg.eigh(inputs.T @ inputs)
        rng = generator(self.random_state)
        principal = np.ascontiguousarray(directions[:, ::-1].T[: shape[0]])
        return [principal, *(rng.normal(size=shape) for _ in range(self.n_init - 1))]
