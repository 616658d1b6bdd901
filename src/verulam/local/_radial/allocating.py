r"""A radial network that adds a unit wherever what it knows does not reach."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    Interval,
    Regressor,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    numeric_targets,
    validate_data,
    warn_caller,
)
from verulam.local._radial.allocating_loops import INTERCEPT, learn_rows
from verulam.local._radial.training import POSITIVE, check_lengths
from verulam.local._radial.units import FloatArray, RadialUnits
from verulam.numerics import announced


class ResourceAllocatingNetwork(Regressor):
    r"""Radial network that learns row by row, and adds a unit for a row that is new to it.

    A row is new where the error is large, :math:`|r - y| > \epsilon`, and the nearest unit far,
    :math:`\min_h \|x - m_h\| > \delta`. Its unit has :math:`m = x`, :math:`w = r - y` and the
    spread :math:`\kappa \min_h \|x - m_h\|`; all other rows move weights and centres against the
    gradient of their error. The distance :math:`\delta` shrinks from row to row, so that coarse
    units come first.

    Parameters
    ----------
    max_units
        Most units.
    least_error
        Error :math:`\epsilon`, in standard deviations of the targets, from which on a row is new.
    first_distance, least_distance
        First and last :math:`\delta`, in root-mean-square deviations of the columns.
    distance_rows
        Rows after which :math:`\delta` has shrunk to :math:`1/e` of what it was.
    overlap
        Share :math:`\kappa` of the distance to the nearest unit that is the spread of a new one.
    learning_rate
        Rate of the steps.
    max_iter
        Passes over the rows.
    random_state
        Seed of their order.

    Attributes
    ----------
    units_ : RadialUnits
        Centres and squared spreads.
    coef_ : ndarray of shape (n_units,)
        Weight of each unit.
    intercept_ : float
        The output where no unit is active.
    n_units_ : list of int
        Units after each pass; they come to an end.
    losses_ : list of float
        Mean squared error of each pass while it learns, for targets of deviation 1.
    n_iter_ : int
        Passes.

    Notes
    -----
    See Alpaydin 12.10, after Platt (1991), with bells :math:`e^{-\|x-m\|^2 / 2 s^2}`. Scales are
    those of the rows of the first call of `fit` or `partial_fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import ResourceAllocatingNetwork
    >>> x = np.linspace(-1, 1, 300)[:, None]
    >>> network = ResourceAllocatingNetwork(random_state=0).fit(x, np.sin(6 * x[:, 0]))
    >>> bool(network.score(x, np.sin(6 * x[:, 0])) > 0.98), len(network.coef_) < 50
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_units": [Interval(Integral, 1, None, closed="left")],
        "least_error": [Interval(Real, 0, None, closed="left")],
        "first_distance": [POSITIVE],
        "least_distance": [POSITIVE],
        "distance_rows": [POSITIVE],
        "overlap": [POSITIVE],
        "learning_rate": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        max_units: int = 500,
        *,
        least_error: float = 0.05,
        first_distance: float = 2.0,
        least_distance: float = 0.1,
        distance_rows: float = 100.0,
        overlap: float = 0.87,
        learning_rate: float = 0.05,
        max_iter: int = 20,
        random_state: Seed = None,
    ) -> None:
        self.max_units = max_units
        self.least_error = least_error
        self.first_distance = first_distance
        self.least_distance = least_distance
        self.distance_rows = distance_rows
        self.overlap = overlap
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows in random order, several times over.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Numbers to predict.
        """
        if hasattr(self, "_numbers"):
            del self._numbers
        rows, targets = self._read(X, y)
        random = generator(self.random_state)
        for _ in range(int(self.max_iter)):
            self._learn(rows, targets, random.permutation(len(rows)))
        self._warn_if_full()
        return self

    @checked_fit
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from further rows, once and in their order.

        Parameters
        ----------
        X, y
            Rows and the numbers to predict.
        """
        rows, targets = self._read(X, y)
        self._learn(rows, targets, np.arange(len(rows)))
        self._warn_if_full()
        return self

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        first = not hasattr(self, "_numbers")
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=first)
        targets = numeric_targets(self, y)
        check_lengths(targets, rows)
        if first:
            self._begin(rows, targets)
        scaled = (rows - self._origin) / self._scale
        return scaled, (targets - self._target_origin) / self._target_scale

    def _begin(self, rows: FloatArray, targets: FloatArray) -> None:
        if self.least_distance > self.first_distance:
            raise DataError(
                f"least_distance={self.least_distance:g} must not be above "
                f"first_distance={self.first_distance:g}."
            )
        self._origin = rows.mean(axis=0)
        self._scale = float(np.sqrt(rows.var(axis=0).mean())) or 1.0
        self._target_origin, spread = float(targets.mean()), float(targets.std())
        flat = spread <= 1e-12 * abs(self._target_origin)
        self._target_scale = 1.0 if flat else spread
        self._numbers = np.array(
            [
                self.least_error, self.first_distance, self.least_distance,
                np.exp(-1.0 / self.distance_rows), self.overlap, self.learning_rate, 0.0,
            ]
        )  # fmt: skip
        size = int(self.max_units)
        self._centers = np.zeros((size, rows.shape[1]))
        self._widths, self._weights = np.ones(size), np.zeros(size)
        self._count = 0
        self.n_units_: list[int] = []
        self.losses_: list[float] = []

    def _learn(self, rows: FloatArray, targets: FloatArray, order: np.ndarray) -> None:
        with announced("verulam.local"):
            self._count, total = learn_rows(
                rows, targets, order, self._centers, self._widths, self._weights,
                self._numbers, np.int64(self._count),
                np.empty(int(self.max_units)),
            )  # fmt: skip
        if not (np.isfinite(total) and np.isfinite(self._weights[: self._count]).all()):
            raise DataError(f"Training diverged at learning_rate={self.learning_rate:g}; lower it.")
        self.n_units_ = [*self.n_units_, int(self._count)]
        self.losses_ = [*self.losses_, float(total) / len(rows)]
        self.n_iter_ = len(self.losses_)

    def _warn_if_full(self) -> None:
        if self._count == int(self.max_units):
            warn_caller(
                f"All max_units={self.max_units} units are in use: further rows that are new only "
                "move them. Raise max_units, least_error or least_distance.",
                DataWarning,
            )

    @property
    def units_(self) -> RadialUnits:
        """Centres and squared spreads."""
        check_is_fitted(self)
        used = slice(0, self._count)
        units = RadialUnits(self._centers[used], self._widths[used] ** 2, "spherical")
        return units.moved_back(self._origin, self._scale)

    @property
    def coef_(self) -> FloatArray:
        """Weight of each unit."""
        check_is_fitted(self)
        return self._weights[: self._count] * self._target_scale

    @property
    def intercept_(self) -> float:
        """The output where no unit is active."""
        check_is_fitted(self)
        return float(self._numbers[INTERCEPT] * self._target_scale + self._target_origin)

    def predict(self, X: Any) -> FloatArray:
        """Return the number for each row."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        units = self.units_.moved(self._origin, 1.0)

        def of_part(part: FloatArray) -> FloatArray:
            return units.activations(part - self._origin) @ self.coef_ + self.intercept_

        return map_rows(of_part, rows, (len(rows),))
