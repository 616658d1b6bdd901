"""Relevance-weighted adaptive nearest neighbours: columns weigh what they tell around a point."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.model_selection import KFold

from verulam.base import Interval, StrOptions, clone, thread_map
from verulam.nonparametric._metrics.base import COMMON_CONSTRAINTS, AdaptiveNeighbours, Locality
from verulam.nonparametric._tuning import METRIC_QUERIES

#: Values of sharpness to choose from.
SHARPNESSES = (0.0, 2.0, 5.0, 10.0, 20.0, 40.0)
#: Folds by which one is chosen, the rows asked in all of them, and rows below which none is asked.
N_FOLDS, HELD_OUT_ROWS, FEWEST_ROWS = 3, 450, 12
#: Rows of each class added to a slice, as a share of it: a few rows that agree by chance must not
#: make a column look certain, and its loss large wherever it is not.
ADDED_SHARE = 0.1


class RelevanceAdaptiveNeighbours(AdaptiveNeighbours):
    r"""Nearest neighbours by distances in which columns count for what they tell around a point.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote.
    neighbourhood
        Rows around a point over which columns are judged; None for a fifth of the rows, at least
        50, at most all.
    slice_share
        Share of a row's neighbourhood, nearest to it in one column, that says what this column
        alone tells.
    sharpness
        How much more a relevant column counts; 0 is plain k-nn. "folds" takes whichever of some
        values errs least on training rows left out: sharp weights help among columns of noise and
        harm where many columns tell a little.
    n_iter
        How often columns are judged again in the neighbourhood that they lead to; 0 is plain k-nn.
    locality
        As in `DiscriminantAdaptiveNeighbours`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    inputs_ : ndarray of shape (n_samples, n_features)
        The training rows.
    codes_ : ndarray of shape (n_samples,)
        Class of each, as a position in `classes_`.
    spreads_ : ndarray of shape (n_features,)
        Standard deviation of each column, by which distances are measured at first.
    sharpness_ : float
        The sharpness in use.
    losses_ : ndarray of shape (n_samples, n_features)
        What each column misses of the classes at each training row.

    Notes
    -----
    .. math:: r_i(z) = \sum_j \frac{(P(j \mid z) - P(j \mid x_i = z_i))^2}{P(j \mid x_i = z_i)},
              \qquad w_i(x) \propto e^{c (\max_l \bar r_l(x) - \bar r_i(x))}

    where :math:`\bar r_i(x)` is the mean over the rows :math:`z` around :math:`x`, and distances
    are :math:`\sum_i w_i (x_i - x_i^t)^2`. Shares of classes at a training row, from all columns
    and along one, are found with the metric at first. See Alpaydin 8.6 [domeniconi2002]_.

    References
    ----------
    .. [domeniconi2002] C. Domeniconi, J. Peng, D. Gunopulos, "Locally adaptive metric
       nearest-neighbor classification", IEEE Transactions on Pattern Analysis and Machine
       Intelligence 24, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import RelevanceAdaptiveNeighbours
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> classifier = RelevanceAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    >>> weights = np.diag(classifier.metrics([[0.1, 0.0, 0.0]])[0])
    >>> bool(weights[0] > 3 * weights[1:].max())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "slice_share": [Interval(Real, 0, 1, closed="right")],
        "sharpness": [Interval(Real, 0, None, closed="left"), StrOptions({"folds"})],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        neighbourhood: int | None = None,
        slice_share: float = 0.5,
        sharpness: float | Literal["folds"] = "folds",
        n_iter: int = 1,
        locality: Locality = "query",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.neighbourhood = neighbourhood
        self.slice_share = slice_share
        self.sharpness = sharpness
        self.n_iter = n_iter
        self.locality = locality

    def _prepare(self) -> None:
        stored, size = self._index.stored, self._neighbourhood_size()
        slice_size = max(1, round(self.slice_share * size))
        self.losses_ = np.empty(stored.shape)

        def fill(start: int) -> None:
            block = slice(start, start + METRIC_QUERIES)
            rows = self._index.query(stored[block], size).rows
            self.losses_[block] = column_losses(
                stored[rows] - stored[block, None],
                self.codes_[rows],
                len(self.classes_),
                min(max(self.n_neighbors, 2), size),
                slice_size,
            )

        thread_map(fill, range(0, len(stored), METRIC_QUERIES))
        by_folds = self.sharpness == "folds"
        self.sharpness_ = float(self._sharpness_by_folds() if by_folds else self.sharpness)

    def _sharpness_by_folds(self) -> float:
        """Return the sharpness with the least error on rows left out; the least of several."""
        n_rows = len(self.inputs_)
        if n_rows < FEWEST_ROWS or self.n_neighbors > n_rows // 2:
            return SHARPNESSES[1]
        errors = np.zeros(len(SHARPNESSES))
        learner = clone(self).set_params(sharpness=0.0, locality="query")
        for training, held_out in KFold(N_FOLDS, shuffle=True, random_state=0).split(self.inputs_):
            fitted = clone(learner).fit(self.inputs_[training], self.codes_[training])
            asked = held_out[: HELD_OUT_ROWS // N_FOLDS]
            # Losses do not depend on the sharpness: one fit serves all of its values.
            for place, sharpness in enumerate(SHARPNESSES):
                fitted.sharpness_ = sharpness
                errors[place] += (fitted.predict(self.inputs_[asked]) != self.codes_[asked]).sum()
        return SHARPNESSES[int(errors.argmin())]

    def _metrics_at(self, points: np.ndarray) -> np.ndarray:
        metrics = None
        for _ in range(self.n_iter):
            rows = self._around(points, metrics)[0]
            metrics = relevance_metrics(self.losses_[rows].mean(axis=1), self.sharpness_)
        if metrics is None:
            return np.tile(np.eye(points.shape[1]), (len(points), 1, 1))
        return metrics


def column_losses(
    offsets: np.ndarray, codes: np.ndarray, n_classes: int, around: int, slice_size: int
) -> np.ndarray:
    r"""Return how much worse each column alone tells the classes at each point than all do.

    Parameters
    ----------
    offsets
        Rows of each neighbourhood (points, rows, columns), from their point, nearest first.
    codes
        Their classes.
    n_classes
        Number of classes.
    around
        Nearest rows that tell the classes at the point.
    slice_size
        Rows of the neighbourhood nearest in one column, which tell them along that column.

    Notes
    -----
    :math:`r_i(z) = \sum_j (P(j \mid z) - P(j \mid x_i = z_i))^2 / P(j \mid x_i = z_i)`, where some
    rows of each class are added to the slices to keep their shares off zero.
    """
    classes = np.arange(n_classes)
    shares = (codes[:, :around, None] == classes).mean(axis=1)
    nearest = np.argpartition(np.abs(offsets), slice_size - 1, axis=1)[:, :slice_size]
    labels = np.take_along_axis(np.broadcast_to(codes[:, :, None], offsets.shape), nearest, axis=1)
    counts = (labels[..., None] == classes).sum(axis=1)
    by_column = (counts + ADDED_SHARE * slice_size) / (slice_size * (1.0 + ADDED_SHARE * n_classes))
    return (np.square(shares[:, None] - by_column) / by_column).sum(axis=2)


def relevance_metrics(losses: np.ndarray, sharpness: float) -> np.ndarray:
    r"""Return diagonal metrics whose weights grow with what the columns tell.

    Parameters
    ----------
    losses
        Loss of each column around each point.
    sharpness
        The factor :math:`c` in weights proportional to :math:`e^{c R_i}`, where the relevance
        :math:`R_i` is the largest loss less the column's own.
    """
    relevance = losses.max(axis=1, keepdims=True) - losses
    # Relative to the most relevant column, so that nothing overflows.
    weights = np.exp(sharpness * (relevance - relevance.max(axis=1, keepdims=True)))
    weights *= weights.shape[1] / weights.sum(axis=1, keepdims=True)
    return weights[:, :, None] * np.eye(losses.shape[1])
