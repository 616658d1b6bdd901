"""Kernel (Parzen) density: a window at every stored point."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    DataError,
    Density,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    generator,
    validate_data,
)
from verulam.nonparametric._density.bandwidths import find_bandwidth
from verulam.nonparametric._density.grid import (
    BINS_PER_BANDWIDTH,
    MOST_BINS,
    GridDensity,
    density_on_grid,
    reflected_on_grid,
)
from verulam.nonparametric._density.line import (
    check_line,
    check_shares,
    cumulative_shares,
    line_quantiles,
)
from verulam.nonparametric._density.window_shapes import (
    LocalWindows,
    inverse_roots,
    local_covariances,
    shape_units,
)
from verulam.nonparametric._neighbours.inputs import check_at_least
from verulam.nonparametric._windows.bounded_support import (
    Bounds,
    Image,
    check_support,
    fold,
    images,
)
from verulam.nonparametric._windows.functions import Profile, Window, find_window
from verulam.nonparametric._windows.window_sums import (
    StoredPoints,
    log_window_sums,
    store_points,
    tree_pays,
)

#: Bandwidths within which a window with tails is taken to lie, where an end is needed.
TAIL_REACH = 9.0


class KernelDensity(Density):
    r"""Estimate a density as the mean of windows centred on the stored points.

    Parameters
    ----------
    kernel
        The window: "gaussian", "exponential", "tophat", "linear", "epanechnikov", "biweight",
        "triweight", "tricube", "cosine", or a function of an array of distances.
    bandwidth
        The width :math:`h`, or how to find it: "scott" or "silverman" (rules of thumb),
        "plug_in" (one column, any number of modes) or "likelihood" (leave one out).
    shape
        What :math:`h` is measured in: "spherical", the units of the inputs; "diagonal", the
        standard deviation of each column; "full", the covariance of the inputs; "local", the
        covariance of the `n_neighbors` rows around each stored point.
    n_neighbors
        Rows for each covariance of the local shape, the point among them; by default the square
        root of their number, and at least two more than there are columns.
    adaptive
        Sensitivity of the windows to the density at their centres: 0 gives all the same width,
        0.5 makes widths fall with the square root of the density.
    support
        One pair (low, high) per column, with None where there is no bound. Windows are mirrored
        at the bounds. Not for the full and the local shape.
    rtol
        Relative error allowed in a density, for speed; 0 sums to the last digit.
    evaluation
        "sum" adds up every window; "tree" leaves out, or takes as one, blocks of points whose
        bounding boxes show that the error stays within `rtol`; "auto" takes the tree where boxes
        can be far from a query: with many points in few columns.

    Attributes
    ----------
    bandwidth_ : float
        The width :math:`h`.
    inputs_ : ndarray of shape (n_samples, n_features)
        The stored points :math:`x^t`: rows whose weight is above 0.
    weights_ : ndarray of shape (n_samples,)
        Share of each point; they sum to 1.
    whitening_ : ndarray of shape (n_features, n_features)
        Matrix that maps inputs to units of the bandwidth.
    local_factors_ : ndarray of shape (n_samples,)
        Factor of the bandwidth at each stored point.
    local_covariances_ : ndarray of shape (n_samples, n_features, n_features) or None
        Covariance around each stored point; None but for the local shape.

    Notes
    -----
    .. math:: \hat p(x) = \frac{1}{N h^d} \sum_t K\left(\frac{x - x^t}{h}\right)

    where :math:`K` integrates to one; the full shape has
    :math:`K(u) \propto e^{-u^T S^{-1} u / 2}`, the local shape a matrix :math:`S_t` of its own at
    each point; directions in which the neighbours do not vary get a small share of their mean
    variance. Rules of thumb are for the Gaussian window and rescaled for others; for the local
    shape they go by the number of neighbours. See Alpaydin 8.2.2, 8.3 (8.10)-(8.12), Bartkowiak
    4.2, SIT1305 III.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import KernelDensity
    >>> density = KernelDensity(kernel="tophat", bandwidth=1.0).fit([[0.0], [1.0], [3.0], [6.0]])
    >>> np.exp(density.score_samples([[0.5], [2.0], [4.5]]))
    array([0.25, 0.25, 0.  ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, callable, Window],
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scott", "silverman", "plug_in", "likelihood"}),
        ],
        "shape": [StrOptions({"spherical", "diagonal", "full", "local"})],
        "n_neighbors": [Interval(Integral, 2, None, closed="left"), None],
        "adaptive": [Interval(Real, 0, 1, closed="both")],
        "support": ["array-like", None],
        "rtol": [Interval(Real, 0, 1, closed="left")],
        "evaluation": [StrOptions({"auto", "sum", "tree"})],
    }

    def __init__(
        self,
        *,
        kernel: str | Window | Profile = "gaussian",
        bandwidth: float | str = "scott",
        shape: str = "spherical",
        n_neighbors: int | None = None,
        adaptive: float = 0.0,
        support: Bounds = None,
        rtol: float = 0.0,
        evaluation: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.shape = shape
        self.n_neighbors = n_neighbors
        self.adaptive = adaptive
        self.support = support
        self.rtol = rtol
        self.evaluation = evaluation

    @classmethod
    def _example_learners(cls) -> list["KernelDensity"]:
        adaptive = cls(kernel="epanechnikov", shape="diagonal", adaptive=0.5)
        return [cls(), adaptive, cls(shape="local")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Store the points; `sample_weight` says how often each counts."""
        inputs = validate_data(self, X, dtype=np.float64, order="C")
        weights = check_weights(sample_weight, inputs)
        counts = np.ones(len(inputs)) if weights is None else weights
        inputs, counts = inputs[counts > 0], counts[counts > 0]
        if not len(inputs):
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        window = find_window(self.kernel)
        self._bounds = check_support(self.support, inputs)
        self._check_options()
        self.inputs_ = inputs.copy()
        self.weights_ = counts / counts.sum()
        units = shape_units(inputs, counts, self.shape)
        share = 1.0
        if self.shape == "local":
            share = self._neighbour_count(counts) / counts.sum()
        self.bandwidth_ = find_bandwidth(self.bandwidth, inputs @ units, counts, window, share)
        self.whitening_ = units / self.bandwidth_
        self.local_factors_ = np.ones(len(inputs))
        if self.adaptive:
            self.local_factors_ = self._adaptive_factors(window)
        self.local_covariances_: np.ndarray | None = None
        self._local: LocalWindows | None = None
        if self.shape == "local":
            self._fit_local(units, counts)
        self._stored = self._scaled_points()
        return self

    def _check_options(self) -> None:
        """Raise where options do not go together."""
        if self._bounds is not None and self.shape in {"full", "local"}:
            raise DataError(
                f"support: windows of shape={self.shape!r} cannot be mirrored; use 'diagonal'."
            )
        if self.shape != "local":
            return
        if self.adaptive:
            raise DataError("adaptive: windows of shape='local' adapt already; leave it at 0.")
        if self.evaluation == "tree":
            raise DataError("evaluation='tree' needs windows of one shape; use 'sum' or 'auto'.")
        if self.bandwidth in {"plug_in", "likelihood"}:
            raise DataError(
                f"bandwidth={self.bandwidth!r} needs windows of one shape. With shape='local' give "
                "a number, 'scott' or 'silverman'."
            )

    def _neighbour_count(self, counts: np.ndarray) -> float:
        """Return what the weights of a neighbourhood add up to."""
        total = float(counts.sum())
        if self.n_neighbors is None:
            return min(total, max(np.ceil(np.sqrt(total)), self.n_features_in_ + 2.0))
        if self.n_neighbors > total * (1.0 + 1e-12):
            raise DataError(
                f"n_neighbors = {self.n_neighbors} is more than the rows, whose weights add up "
                f"to {total:.6g}."
            )
        return self.n_neighbors

    def _fit_local(self, units: np.ndarray, counts: np.ndarray) -> None:
        """Store the windows of the local shape; on a line they differ in their widths alone."""
        count = self._neighbour_count(counts)
        covariances = local_covariances(self.inputs_ @ units, counts, count)
        spreads = 1.0 / np.diag(units)
        self.local_covariances_ = covariances * np.outer(spreads, spreads)
        if len(units) == 1:
            self.local_factors_ = np.sqrt(covariances[:, 0, 0])
        else:
            roots = self.whitening_ @ inverse_roots(covariances)
            self._local = LocalWindows(self.inputs_, self.weights_, roots)

    def _adaptive_factors(self, window: Window) -> np.ndarray:
        """Return factors that fall where the density with one width is high."""
        points = self.inputs_ @ self.whitening_
        logs = log_window_sums(points, store_points(points, self.weights_), window)
        # Silverman's adaptive kernel: less the mean logarithm, so that the geometric mean of the
        # factors is one.
        return np.exp(-self.adaptive * (logs - self.weights_ @ logs))

    def _scaled_points(self) -> StoredPoints:
        """Return the stored points in units of the bandwidth, ready for sums of windows."""
        # A window that is wider by f is lower by f^d.
        weights = self.weights_ * self.local_factors_ ** -float(self.inputs_.shape[1])
        return store_points(self.inputs_ @ self.whitening_, weights, self.local_factors_**-2.0)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row: minus infinity where no window reaches."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if self._bounds is None:
            return self._log_density(inputs)
        total = np.full(len(inputs), -np.inf)
        for image in self._images(self._bounds):
            total = np.logaddexp(total, self._log_density(image(inputs)))
        inside = ((inputs >= self._bounds[0]) & (inputs <= self._bounds[1])).all(axis=1)
        return np.where(inside, total, -np.inf)

    def _log_density(self, inputs: np.ndarray) -> np.ndarray:
        window = find_window(self.kernel)
        if self._local is not None:
            return self._local.log_sums(inputs, window) - window.log_norm(inputs.shape[1])
        by_tree = self.evaluation == "tree"
        if self.evaluation == "auto":
            by_tree = tree_pays(*self.inputs_.shape)
        rtol = self.rtol if by_tree else None
        sums = log_window_sums(inputs @ self.whitening_, self._stored, window, rtol=rtol)
        log_determinant = np.linalg.slogdet(self.whitening_)[1]
        return sums + log_determinant - window.log_norm(inputs.shape[1])

    def _images(self, bounds: np.ndarray) -> list[Image]:
        radius = find_window(self.kernel).radius
        reach = TAIL_REACH if np.isinf(radius) else radius
        reaches = reach * self.local_factors_.max() / np.diag(self.whitening_)
        return list(images(bounds, reaches))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the density."""
        check_is_fitted(self)
        chance = generator(random_state)
        # A sum of windows is a mixture: first a stored point, then a step from its window.
        rows = chance.choice(len(self.inputs_), size=n_samples, p=self.weights_)
        shape = (n_samples, self.inputs_.shape[1])
        steps = find_window(self.kernel).draw(shape, chance) * self.local_factors_[rows, None]
        if self._local is not None:
            return self._local.move(rows, steps)
        drawn = self.inputs_[rows] + np.linalg.solve(self.whitening_.T, steps.T).T
        return drawn if self._bounds is None else fold(drawn, self._bounds)

    def cumulative(self, values: ArrayLike) -> np.ndarray:
        """Return the share of the density below each value; one column only."""
        points = check_line(self, "cumulative", values)
        widths = self.local_factors_ / self.whitening_[0, 0]
        window = find_window(self.kernel)

        def below(ends: np.ndarray) -> np.ndarray:
            return cumulative_shares(ends, self.inputs_[:, 0], widths, self.weights_, window)

        if self._bounds is None:
            return below(points)
        low, high = self._bounds[:, 0]
        inside = np.clip(points, low, high)
        total = np.zeros(points.shape)
        for image in self._images(self._bounds):
            sign, shift = image.signs[0], image.shifts[0]
            total += sign * (below(sign * inside + shift) - below(np.array([sign * low + shift])))
        return total

    def quantile(self, shares: ArrayLike) -> np.ndarray:
        """Return the values below which the given shares of the density lie; one column only."""
        levels = check_shares(self, shares)
        # Beyond 40 bandwidths the tail of every window by name is less than rounding.
        reach = 40.0 * self.local_factors_.max() / self.whitening_[0, 0]
        low, high = self.inputs_.min() - reach, self.inputs_.max() + reach
        if self._bounds is not None:
            low, high = max(low, self._bounds[0, 0]), min(high, self._bounds[1, 0])
        return line_quantiles(self.cumulative, levels, low, high)

    def on_grid(self, n_points: int = 1024) -> GridDensity:
        """Return the density on a grid over the data, within its support; one column only.

        Windows of one width take one convolution; adaptive ones are added up at each point.
        """
        check_line(self, "on_grid", 0.0)
        check_at_least(n_points, 2, "n_points")
        column, width = self.inputs_[:, 0], float(1.0 / self.whitening_[0, 0])
        window = find_window(self.kernel)
        alike = (self.local_factors_ == 1.0).all()
        if self._bounds is None and alike:
            return density_on_grid(
                column, width, kernel=window, weights=self.weights_, n_points=n_points
            )
        margin = min(3.0, window.radius) * width * self.local_factors_.max()
        ends = np.array([column.min() - margin, column.max() + margin])
        if self._bounds is not None:
            ends = np.clip(ends, *self._bounds[:, 0])
        points = np.linspace(ends[0], ends[1], n_points)
        # Windows too narrow for any bins are added up too.
        narrow = BINS_PER_BANDWIDTH * (np.ptp(column) / width + 2.0 * TAIL_REACH) > MOST_BINS
        if self._bounds is None or not alike or narrow:
            return GridDensity(points, np.exp(self.score_samples(points[:, None])), width)
        mirrors = self._images(self._bounds)
        density = reflected_on_grid(column, width, window, self.weights_, points, mirrors)
        return GridDensity(points, density, width)
