"""Curvilinear component analysis: distances are kept where the map is local."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
)
from verulam.reduction._distances.inputs import (
    METRICS,
    new_distances,
    refuse_coincidence,
    training_distances,
    training_inputs,
)
from verulam.reduction._distances.stress import place_rows, starting_places
from verulam.reduction._distances.stress_loops import curvilinear_pass

#: Radii shrink to this share of the first over all passes, as do the rates.
LAST_SHARE = 0.01


class CurvilinearComponents(InSteps, ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Unfold rows into few dimensions, keeping distances between places that are close.

    Parameters
    ----------
    n_components
        Number of coordinates.
    metric
        Distance between rows by name, or "precomputed" where `X` is the matrix of distances.
    n_iter
        Passes, in each of which every row is pinned once.
    learning_rate
        First rate; it falls to a hundredth of it.
    first_radius
        First radius :math:`\lambda` of the places whose distances count, in units of `X`; it falls
        to a hundredth. None for the largest distance.
    weighting
        "step" counts places within the radius, "exponential" by
        :math:`e^{-\|z^r - z^s\| / \lambda}`.
    random_state
        Seed of the order in which rows are pinned.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows.
    last_radius_ : float
        Radius of the last pass.
    training_ : ndarray
        Training rows, or their distances.

    Notes
    -----
    .. math:: \min \tfrac12 \sum_{r \ne s} (X_{rs} - Y_{rs})^2\, F(Y_{rs}, \lambda)

    where :math:`X_{rs}` are distances of rows and :math:`Y_{rs}` of places. Since only distances
    *in the map* decide what counts, surfaces may be torn and unfolded. One row :math:`r` is pinned
    at a time and all others move along the lines to it,

    .. math:: \Delta z^s = \alpha\, F(Y_{rs}, \lambda)\, (X_{rs} - Y_{rs})
              \frac{z^s - z^r}{Y_{rs}},

    which may raise the sum for a moment and so leaves poor minima [demartines1997]_. The places
    start at classical scaling. `transform` puts new rows among the known ones. See Bartkowiak 8.3.

    .. [demartines1997] P. Demartines and J. Herault, "Curvilinear component analysis: a
       self-organizing neural network for nonlinear mapping of data sets", IEEE Transactions on
       Neural Networks 8, 148-154, 1997.

    Examples
    --------
    A half circle is unrolled to a line:

    >>> import numpy as np
    >>> from verulam.reduction import CurvilinearComponents
    >>> angle = np.linspace(0, np.pi, 60)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> line = CurvilinearComponents(1, random_state=0).fit_transform(X).ravel()
    >>> steps = np.diff(line)
    >>> bool((steps > 0).all() or (steps < 0).all()), round(float(np.ptp(line)), 1)
    (True, 3.1)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "metric": [METRICS],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "first_radius": [Interval(Real, 0, None, closed="neither"), None],
        "weighting": [StrOptions({"step", "exponential"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str = "euclidean",
        n_iter: int = 50,
        learning_rate: float = 0.5,
        first_radius: float | None = None,
        weighting: str = "step",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_iter = n_iter
        self.learning_rate = learning_rate
        self.first_radius = first_radius
        self.weighting = weighting
        self.random_state = random_state

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
        random = generator(self.random_state)
        places = np.ascontiguousarray(starting_places(targets, self.n_components))
        n_turns = self.n_iter * len(targets)
        decay = LAST_SHARE ** (np.arange(n_turns) / max(n_turns - 1, 1))
        first = float(targets.max()) if self.first_radius is None else float(self.first_radius)
        smooth = self.weighting == "exponential"
        for number in self._steps(range(self.n_iter), "pass", self.n_iter):
            turns = slice(number * len(targets), (number + 1) * len(targets))
            order = random.permutation(len(targets))
            curvilinear_pass(
                targets,
                places,
                order,
                self.learning_rate * decay[turns],
                first * decay[turns],
                smooth,
            )
        self.embedding_ = places - places.mean(axis=0)
        self.last_radius_ = first * float(decay[-1])
        return self

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
        # As wide as the closest few of the known rows: a narrower radius may hold none.
        count = min(targets.shape[1], self.embedding_.shape[1] + 2)
        radii = np.maximum(np.partition(targets, count - 1, axis=1)[:, count - 1 : count], 1e-300)
        return place_rows(targets, self.embedding_, np.exp(-np.minimum(targets / radii, 700.0)))
