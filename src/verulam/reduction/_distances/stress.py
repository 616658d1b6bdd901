"""Scaling by stress: metric scaling, and Sammon's mapping in both weightings."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    TABLE,
    TEXT,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_arguments,
    checked_fit,
    generator,
    warn_caller,
)
from verulam.reduction._distances.classical import classical_places
from verulam.reduction._distances.inputs import (
    METRICS,
    checked_distances,
    new_distances,
    refuse_coincidence,
    training_distances,
    training_inputs,
)
from verulam.reduction._distances.stress_loops import guttman_product

#: Exponent of the distance in the weight of a pair.
EXPONENTS = {"none": 0, "sammon": 1, "squared": 2}
#: Steps by which a new row finds its place among known ones.
PLACING_STEPS = 100
#: Numbers that are worked on at a time when many rows are placed.
PLACED_NUMBERS = 2**18


@dataclass(frozen=True)
class StressGradient:
    """Stress of places, and how it changes with them.

    Attributes
    ----------
    stress
        Share of the weighted squares of the distances that is error.
    gradient : ndarray of shape (n_rows, n_components)
        Derivatives by the places.
    """

    stress: float
    gradient: np.ndarray


@checked_arguments(distances=TABLE, embedding=TABLE, weighting=TEXT)
def stress(
    distances: ArrayLike, embedding: ArrayLike, *, weighting: str = "none"
) -> StressGradient:
    r"""Return how far the distances of places are from those they should have.

    Parameters
    ----------
    distances
        Matrix of the distances :math:`d_{rs}` to keep.
    embedding
        Places :math:`z^r`, one row each.
    weighting
        Weight of a pair: "none" for 1, "sammon" for :math:`1/d_{rs}`, "squared" for
        :math:`1/d_{rs}^2`, so that errors are relative.

    Notes
    -----
    .. math:: E = \frac{\sum_{r<s} w_{rs} (\|z^r - z^s\| - d_{rs})^2}
              {\sum_{r<s} w_{rs} d_{rs}^2}

    "sammon" is Sammon's mapping [sammon1969]_ (R's ``MASS::sammon``), "squared" the criterion of
    SIT1305 II, in which the printed square is misplaced; "none" is the square of Kruskal's first
    formula. Pairs at distance zero weigh as the closest of the others.

    .. [sammon1969] J. W. Sammon, "A nonlinear mapping for data structure analysis", IEEE
       Transactions on Computers C-18, 401-409, 1969.

    Examples
    --------
    >>> from verulam.reduction import stress
    >>> stress([[0, 2], [2, 0]], [[0.0], [1.0]]).stress
    0.25
    """
    targets = checked_distances(np.asarray(distances, dtype=np.float64))
    refuse_coincidence(targets)
    places = np.asarray(embedding, dtype=np.float64)
    if places.ndim != 2 or len(places) != len(targets):
        raise DataError(
            f"embedding: expected {len(targets)} rows, one for each of the distances; got shape "
            f"{places.shape}."
        )
    if weighting not in EXPONENTS:
        raise DataError(f"weighting={weighting!r}; accepted are {', '.join(EXPONENTS)}.")
    return StressPairs(targets, weighting).evaluate(places)


class StressPairs:
    """Distances to keep, their weights, and what is needed to evaluate places again and again."""

    def __init__(self, targets: np.ndarray, weighting: str) -> None:
        self.targets = np.ascontiguousarray(targets)
        self.exponent = EXPONENTS[weighting]
        positive = targets[targets > 0.0]
        self.least = float(positive.min())
        # Of the weights only their sums over rows are kept: the loop makes them as it goes.
        floored = np.maximum(targets, self.least)
        self.total = 0.5 * float((targets**2 / floored**self.exponent).sum())
        self._buffer = np.empty(len(targets))
        self._factor: Any = None

    def guttman(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        """Return B(Z) Z, row by row, and the stress of Z."""
        columns = np.ascontiguousarray(places.T)
        product = np.empty_like(columns)
        raw = guttman_product(
            self.targets, self.exponent, self.least, columns, self._buffer, product
        )
        return product.T, raw / self.total

    def weighted(self, places: np.ndarray) -> np.ndarray:
        """Return V Z, where V is the Laplacian of the weights."""
        if self.exponent == 0:
            return len(places) * (places - places.mean(axis=0))
        weights = self._weights()
        return weights.sum(axis=1)[:, None] * places - weights @ places

    def _weights(self) -> np.ndarray:
        weights = np.maximum(self.targets, self.least) ** -float(self.exponent)
        np.fill_diagonal(weights, 0.0)
        return weights

    def evaluate(self, places: np.ndarray) -> StressGradient:
        """Return the stress and its gradient."""
        product, value = self.guttman(places)
        return StressGradient(value, 2.0 * (self.weighted(places) - product) / self.total)

    def majorised(self, product: np.ndarray) -> np.ndarray:
        """Return the places at the minimum of the quadratic that lies above the stress."""
        if self.exponent == 0:
            return product / len(product)
        if self._factor is None:
            laplacian = -self._weights()
            np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
            # The sum of places is free; any multiple of ones makes the matrix regular.
            laplacian += np.abs(np.diag(laplacian)).mean() / len(laplacian)
            self._factor = scipy.linalg.cho_factor(laplacian)
        return scipy.linalg.cho_solve(self._factor, product)


@dataclass(frozen=True)
class _Descent:
    places: np.ndarray
    curve: list[float]
    converged: bool


def _majorise(pairs: StressPairs, places: np.ndarray, max_iter: int, tol: float) -> _Descent:
    """Return the end of Guttman's steps, none of which raises the stress."""
    curve: list[float] = []
    for _ in range(max_iter):
        product, value = pairs.guttman(places)
        curve.append(value)
        if len(curve) > 1 and curve[-2] - value <= tol * curve[-2]:
            return _Descent(places, curve, converged=True)
        places = pairs.majorised(product)
    curve.append(pairs.guttman(places)[1])
    return _Descent(places, curve, converged=False)


class StressScaling(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Place rows so that their distances are kept, by steps that never raise the stress.

    Parameters
    ----------
    n_components
        Number of coordinates.
    weighting
        Weight of a pair: "none" for metric scaling, "sammon" for Sammon's mapping
        (:math:`1/d`), "squared" for relative errors (:math:`1/d^2`).
    metric
        Distance between rows by name, or "precomputed" where `X` is the matrix of distances.
    init
        Where the places start: "classical" scaling, or "random".
    n_init
        Number of random starts, of which the best result is taken.
    max_iter
        Most steps from one start.
    tol
        Relative gain of the stress at which the steps end.
    random_state
        Seed of the random starts.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows.
    stress_ : float
        Their stress, see `stress`.
    stress_curve_ : list of float
        Stress before each step.
    n_iter_ : int
        Steps made.
    training_ : ndarray
        Training rows, or their distances.

    Notes
    -----
    .. math:: Z \leftarrow V^+ B(Z)\, Z, \qquad
              b_{rs} = -\frac{w_{rs}\, d_{rs}}{\|z^r - z^s\|}

    moves to the minimum of a quadratic that touches the stress at :math:`Z` and lies above it
    elsewhere (Guttman; SMACOF [deleeuw1977]_). A new row is placed among the known ones, which stay
    where they are, by the same steps. See SIT1305 II.

    .. [deleeuw1977] J. de Leeuw, "Applications of convex analysis to multidimensional scaling",
       in Recent Developments in Statistics, North-Holland, 133-145, 1977.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.reduction import StressScaling
    >>> wine = dataset("wine").inputs
    >>> X = (wine - wine.mean()) / wine.std()
    >>> scaling = StressScaling(weighting="sammon").fit(X)
    >>> round(scaling.stress_, 3), scaling.embedding_.shape
    (0.062, (178, 2))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions(set(EXPONENTS))],
        "metric": [METRICS],
        "init": [StrOptions({"classical", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        weighting: str = "none",
        metric: str = "euclidean",
        init: str = "classical",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.metric = metric
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["StressScaling"]:
        return [cls(), cls(weighting="sammon", init="random", n_init=2)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the training rows."""
        self.training_ = training_inputs(self, X)
        targets = training_distances(self, self.training_)
        refuse_coincidence(targets)
        pairs = StressPairs(targets, self.weighting)
        best = min(
            (_majorise(pairs, places, self.max_iter, self.tol) for places in self._starts(targets)),
            key=lambda descent: descent.curve[-1],
        )
        if not best.converged:
            warn_caller(
                f"StressScaling had not converged after max_iter={self.max_iter} steps; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        self.embedding_ = best.places - best.places.mean(axis=0)
        self.stress_curve_ = best.curve
        self.stress_ = best.curve[-1]
        self.n_iter_ = len(best.curve) - 1
        return self

    def _starts(self, targets: np.ndarray) -> list[np.ndarray]:
        shape = (len(targets), self.n_components)
        if self.init == "classical":
            return [starting_places(targets, self.n_components)]
        random = generator(self.random_state)
        scale = float(targets.mean())
        return [scale * random.normal(size=shape) for _ in range(self.n_init)]

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Place the training rows and return their places."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Return places of rows among the training rows, which stay where they are."""
        check_is_fitted(self)
        targets = new_distances(self, X, self.training_)
        exponent = EXPONENTS[self.weighting]
        least = float(targets[targets > 0.0].min(initial=np.inf))
        weights = np.maximum(targets, least) ** -float(exponent)
        return place_rows(targets, self.embedding_, weights)


def starting_places(targets: np.ndarray, n_components: int) -> np.ndarray:
    """Return classical places, with zeros for dimensions that the distances do not have."""
    places = classical_places(targets**2, min(n_components, len(targets) - 1)).places
    missing = n_components - places.shape[1]
    return np.hstack([places, np.zeros((len(places), missing))]) if missing else places


def place_rows(targets: np.ndarray, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return places of new rows among known ones that stay.

    Parameters
    ----------
    targets
        Distances of new rows to the known ones.
    places
        Places of the known rows.
    weights
        Weights of these pairs.

    Notes
    -----
    Each row starts at the mean of its nearest known rows and moves to the minimum of the quadratic
    above its stress. A row that is a known one takes its place.
    """
    new = np.empty((len(targets), places.shape[1]))
    block = max(1, PLACED_NUMBERS // places.size)
    for start in range(0, len(targets), block):
        rows = slice(start, start + block)
        new[rows] = _place_block(targets[rows], places, weights[rows])
    same = targets.min(axis=1) == 0.0
    new[same] = places[targets[same].argmin(axis=1)]
    return new


def _place_block(targets: np.ndarray, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    nearest = np.argsort(targets, axis=1, kind="stable")[:, : places.shape[1] + 1]
    new = places[nearest].mean(axis=1)
    shares = weights / weights.sum(axis=1, keepdims=True)
    for _ in range(PLACING_STEPS):
        steps = new[:, None, :] - places
        lengths = np.sqrt((steps**2).sum(axis=2))
        ratios = targets / np.maximum(lengths, np.finfo(float).tiny)
        new = shares @ places + np.einsum("ij,ijc->ic", shares * ratios, steps)
    return new
