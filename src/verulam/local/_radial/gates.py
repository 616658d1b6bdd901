r"""Radial gates: how rows are shared among units, as logarithms and their slopes."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from verulam.local._radial.units import FloatArray, UnitLayout

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class Shares:
    """What a gate says of rows.

    Attributes
    ----------
    logarithms : ndarray of shape (n_rows, n_units)
        Logarithms of the shares of the units.
    state
        What the gate remembers for its gradient.
    """

    logarithms: FloatArray
    state: Any


class Gate(Protocol):
    """Shares of units as a function of a flat vector of parameters."""

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        ...

    @property
    def n_units(self) -> int:
        """Number of units."""
        ...

    def shares(self, theta: FloatArray, X: FloatArray) -> Shares:
        """Return the shares of all units in all rows."""
        ...

    def gradient(
        self, theta: FloatArray, X: FloatArray, shares: Shares, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the logarithms of the shares."""
        ...


#: Tables of at most so many columns are turned over to be searched for the largest of a row.
FEW_COLUMNS = 32


def row_sums(table: FloatArray) -> FloatArray:
    """Return the sum of each row, as a column.

    A product with ones takes a fraction of the time of a sum over a short axis.
    """
    return table @ np.ones((table.shape[1], 1))


def row_maxima(table: FloatArray) -> FloatArray:
    """Return the largest number of each row, as a column.

    Of few columns, comparing them as wholes pays for turning the table over.
    """
    if table.shape[1] > FEW_COLUMNS:
        return table.max(axis=1, keepdims=True)
    return np.ascontiguousarray(table.T).max(axis=0)[:, None]


def log_normalised(sums: FloatArray) -> FloatArray:
    """Return sums minus the logarithm of the sum of their exponentials, row by row."""
    shifted = sums - row_maxima(sums)
    shifted -= np.log(row_sums(np.exp(shifted)))
    return shifted


@dataclass(frozen=True)
class BellGate:
    r"""Bells :math:`p_h` as they are, whose sum may be anything (Alpaydin 12.13).

    Attributes
    ----------
    layout
        Places of centres and shapes.
    """

    layout: UnitLayout

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return self.layout.n_parameters

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.layout.n_units

    def shares(self, theta: FloatArray, X: FloatArray) -> Shares:
        """Return the activations of all units in all rows."""
        squares = self.layout.squares(theta, X)
        return Shares(-0.5 * squares, squares)

    def gradient(
        self, theta: FloatArray, X: FloatArray, shares: Shares, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the logarithms of the bells."""
        return self.layout.gradient(theta, X, shares.state, -0.5 * slopes)


@dataclass(frozen=True)
class RadialGate:
    r"""Bells that share every row, :math:`g_h = a_h p_h / \sum_l a_l p_l` (Alpaydin 12.24, 12.31).

    Attributes
    ----------
    layout
        Places of centres and shapes; the logarithms of :math:`a_h` follow them.
    """

    layout: UnitLayout

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return self.layout.n_parameters + self.layout.n_units

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.layout.n_units

    def shares(self, theta: FloatArray, X: FloatArray) -> Shares:
        """Return the shares of all units in all rows, which sum to 1."""
        squares = self.layout.squares(theta[: self.layout.n_parameters], X)
        return Shares(log_normalised(theta[self.layout.n_parameters :] - 0.5 * squares), squares)

    def gradient(
        self, theta: FloatArray, X: FloatArray, shares: Shares, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the logarithms of the shares."""
        by_sum = slopes - np.exp(shares.logarithms) * row_sums(slopes)
        units = theta[: self.layout.n_parameters]
        by_unit = self.layout.gradient(units, X, shares.state, -0.5 * by_sum)
        return np.concatenate([by_unit, by_sum.sum(axis=0)])

    def log_joint(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        r"""Return :math:`\ln a_h |S_h|^{-1/2} p_h (2\pi)^{-d/2}` where weights hold determinants.

        After a step of expectation-maximisation the weight of a unit is its prior times the root of
        its inverse determinant, so that this is the logarithm of a joint density.
        """
        squares = self.layout.squares(theta[: self.layout.n_parameters], X)
        constant = 0.5 * self.layout.n_inputs * LOG_TWO_PI
        return theta[self.layout.n_parameters :] - 0.5 * squares - constant
