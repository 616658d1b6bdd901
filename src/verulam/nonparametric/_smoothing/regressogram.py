"""Regressogram: the mean, or a line, of the targets in each bin of the inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from verulam.base import DataError, Interval
from verulam.nonparametric._smoothing.base import Smoother, TrainingSmooth, left_out_values
from verulam.nonparametric._smoothing.kernel_smoother import (
    BANDWIDTH,
    EMPTY,
    BandwidthChoice,
    Empty,
)
from verulam.nonparametric._smoothing.local_polynomial import checked_bandwidth, choose_bandwidth
from verulam.nonparametric._smoothing.neighbourhoods import LocalValues
from verulam.nonparametric._tuning import WEIGHTS_AT_ONCE


class Regressogram(Smoother):
    r"""Cut the inputs into bins and predict the mean of a bin's targets, or a line through them.

    Parameters
    ----------
    bandwidth
        Width of the bins; one number, or one for each input. "loo" takes the one with the least
        leave-one-out error, "gcv" with the least generalised cross-validation error.
    origin
        An edge of the bins; one number, or one for each input. None stands for the smallest
        training input.
    degree
        0 for the mean of each bin, 1 for a line, or plane, of its own in each bin.
    empty
        What to say in bins without training points: the mean of the "nearest" bin with some, or
        "nan".

    Attributes
    ----------
    inputs_, targets_
        As in `KernelSmoother`.
    bandwidth_ : float or ndarray of shape (n_features,)
        Width of the bins in use.
    origin_ : ndarray of shape (n_features,)
        An edge of the bins.

    Notes
    -----
    .. math:: \hat g(x) = \frac{\sum_t b(x, x^t)\, r^t}{\sum_t b(x, x^t)}

    where :math:`b(x, x^t)` is 1 if both lie in the same bin, else 0. A bin includes its lower edge.
    See Alpaydin 8.8.1 (8.24) and exercise 7.

    Examples
    --------
    >>> from verulam.nonparametric import Regressogram
    >>> bins = Regressogram(bandwidth=2.0, origin=0.0).fit([[0.5], [1.5], [3.0]], [1.0, 2.0, 7.0])
    >>> bins.predict([[0.0], [1.9], [2.0]])
    array([1.5, 1.5, 7. ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": BANDWIDTH,
        "origin": [Real, "array-like", None],
        "degree": [Interval(Integral, 0, 1, closed="both")],
        "empty": EMPTY,
    }

    def __init__(
        self,
        *,
        bandwidth: BandwidthChoice = "loo",
        origin: float | Sequence[float] | None = None,
        degree: int = 0,
        empty: Empty = "nearest",
    ) -> None:
        self.bandwidth = bandwidth
        self.origin = origin
        self.degree = degree
        self.empty = empty

    def _prepare(self) -> None:
        self.origin_ = _checked_origin(self.origin, self.inputs_)
        if isinstance(self.bandwidth, str):
            self.bandwidth_ = choose_bandwidth(
                lambda width, rows: self._engine_for(width).training(rows),
                self.inputs_,
                self.bandwidth,
            )
        else:
            self.bandwidth_ = checked_bandwidth(self.bandwidth, self.n_features_in_)

    def _engine_for(self, width: float | np.ndarray) -> "BinEngine":
        return BinEngine(self.inputs_, self.targets_, width, self.origin_, self.degree)

    def _engine(self) -> "BinEngine":
        return self._engine_for(self.bandwidth_)


def _checked_origin(origin: float | Sequence[float] | None, inputs: np.ndarray) -> np.ndarray:
    if origin is None:
        return inputs.min(axis=0)
    edges = np.asarray(origin, dtype=np.float64)
    if edges.size not in (1, inputs.shape[1]) or not np.isfinite(edges).all():
        raise DataError(
            f"origin is {origin!r}; accepted are None, one finite number, or one for each of the "
            f"{inputs.shape[1]} columns of X."
        )
    return np.broadcast_to(edges.ravel(), inputs.shape[1:]).copy()


@dataclass(frozen=True)
class BinFits:
    """What was fitted in each bin.

    Attributes
    ----------
    bins : ndarray of shape (n_bins, n_features)
        Numbers of the bins that have training points.
    members : ndarray of shape (n_samples,)
        Bin of each training point.
    counts, means
        Number of points and mean target of each bin.
    centres, inverses, slopes
        Mean input, inverse scatter matrix and slopes of each bin.
    """

    bins: np.ndarray
    members: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    centres: np.ndarray
    inverses: np.ndarray
    slopes: np.ndarray


@dataclass(frozen=True)
class BinEngine:
    """Means or lines in bins: how the regressogram computes."""

    inputs: np.ndarray
    targets: np.ndarray
    width: float | np.ndarray
    origin: np.ndarray
    degree: int

    def numbers(self, inputs: np.ndarray) -> np.ndarray:
        """Return the number of the bin of each row along each input."""
        # Adding zero turns -0.0 into 0.0, so that equal numbers are equal bytes too.
        return np.floor((inputs - self.origin) / self.width) + 0.0

    def fits(self) -> BinFits:
        """Return what the training points say in each bin."""
        bins, members = np.unique(self.numbers(self.inputs), axis=0, return_inverse=True)
        members = members.ravel()
        counts = np.bincount(members).astype(np.float64)
        means = np.bincount(members, self.targets) / counts
        n_columns = self.inputs.shape[1]
        sums = np.column_stack([np.bincount(members, column) for column in self.inputs.T])
        centres = sums / counts[:, None]
        scatter = np.zeros((len(bins), n_columns, n_columns))
        products = np.zeros((len(bins), n_columns))
        if self.degree:
            offsets = self.inputs - centres[members]
            np.add.at(scatter, members, offsets[:, :, None] * offsets[:, None, :])
            np.add.at(products, members, offsets * (self.targets - means[members])[:, None])
        inverses = np.linalg.pinv(scatter, rcond=1e-10, hermitian=True)
        slopes = (inverses @ products[..., None])[..., 0]
        return BinFits(bins, members, counts, means, centres, inverses, slopes)

    def _find(self, fits: BinFits, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the bin of each query, and where it is the nearest one for want of its own."""
        numbers = self.numbers(queries)
        asked, members = np.unique(numbers, axis=0, return_inverse=True)
        # Looked up by their bytes: one step for each bin, not one for each pair of bins.
        known = {number.tobytes(): place for place, number in enumerate(fits.bins)}
        places = np.array([known.get(number.tobytes(), -1) for number in asked])
        lost = places < 0
        if lost.any():
            places[lost] = nearest_bins(asked[lost], fits.bins)
        return places[members.ravel()], lost[members.ravel()]

    def values(self, queries: np.ndarray, *, with_squares: bool = False) -> LocalValues:
        """Return the means or lines at some inputs."""
        fits = self.fits()
        places, lost = self._find(fits, queries)
        offsets = np.where(lost[:, None], 0.0, queries - fits.centres[places])
        values = fits.means[places] + (offsets * fits.slopes[places]).sum(axis=1)
        shares = 1.0 / fits.counts[places]
        shares += np.einsum("qi,qij,qj->q", offsets, fits.inverses[places], offsets)
        return LocalValues(values, shares, shares, lost)

    def squares(self) -> np.ndarray:
        """Return the sum of squared weights at each training input."""
        return self.values(self.inputs).squares

    def training(self, rows: np.ndarray | None = None) -> TrainingSmooth:
        """Return the fits at the training inputs, with and without each point."""
        rows = np.arange(len(self.inputs)) if rows is None else rows
        fitted = self.values(self.inputs[rows])
        fits, targets = self.fits(), self.targets[rows]
        left_out, unknown = left_out_values(targets, fitted.values, fitted.leverage)
        places = fits.members[rows]
        counts = fits.counts[places]
        shared = unknown & (counts > 1)
        # A line that goes through the point whatever the others say cannot do without it: the mean
        # of the others stands in.
        left_out[shared] = (counts * fits.means[places] - targets)[shared] / (counts[shared] - 1)
        alone = counts == 1
        if alone.any() and len(fits.bins) > 1:
            others = nearest_bins(fits.bins[places[alone]], fits.bins, skip_own=True)
            left_out[alone] = fits.means[others]
        return TrainingSmooth(targets, fitted.values, fitted.leverage, left_out)

    def weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weight of each training target at some inputs."""
        fits = self.fits()
        places, lost = self._find(fits, queries)
        offsets = np.where(lost[:, None], 0.0, queries - fits.centres[places])
        along = np.einsum("qi,qij->qj", offsets, fits.inverses[places])
        from_centres = self.inputs - fits.centres[fits.members]
        weights = 1.0 / fits.counts[places][:, None] + along @ from_centres.T
        return np.where(places[:, None] == fits.members, weights, 0.0)


def nearest_bins(asked: np.ndarray, bins: np.ndarray, *, skip_own: bool = False) -> np.ndarray:
    """Return the place of the bin nearest to each of those asked for."""
    nearest = np.empty(len(asked), dtype=np.int64)
    step = max(1, WEIGHTS_AT_ONCE // len(bins))
    for start in range(0, len(asked), step):
        gaps = cdist(asked[start : start + step], bins)
        if skip_own:
            gaps[gaps == 0.0] = np.inf
        nearest[start : start + step] = gaps.argmin(axis=1)
    return nearest
