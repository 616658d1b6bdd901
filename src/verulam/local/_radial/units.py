r"""Bell-shaped units: how far rows are from their centres, and how that changes with them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.numerics import precision_root

FloatArray = NDArray[Any]

#: Forms of the units: one spread, one for each column, or a matrix.
UNIT_TYPES = ("spherical", "diag", "full")


@dataclass(frozen=True, eq=False)
class RadialUnits:
    r"""Places and shapes of radial units.

    Attributes
    ----------
    centers : ndarray of shape (n_units, n_inputs)
        Centres :math:`m_h`.
    covariances : ndarray
        Squared spreads: of shape (n_units,) for "spherical", (n_units, n_inputs) for "diag" and
        (n_units, n_inputs, n_inputs) for "full". An infinite one leaves a column out.
    covariance_type
        "spherical", "diag" or "full".
    """

    centers: FloatArray
    covariances: FloatArray
    covariance_type: str

    @property
    def layout(self) -> "UnitLayout":
        """How these units lie in a flat vector."""
        n_units, n_inputs = self.centers.shape
        return UnitLayout(n_units, n_inputs, self.covariance_type)

    def activations(self, X: FloatArray) -> FloatArray:
        r"""Return :math:`p_h = \exp(-\frac12 (x-m_h)^T S_h^{-1} (x-m_h))`, rows by units."""
        layout = self.layout
        return np.exp(-0.5 * layout.squares(layout.flat(self), X))

    def moved(self, origin: FloatArray, scale: float) -> "RadialUnits":
        """Return the same units for rows from which an origin is taken, divided by a scale."""
        return RadialUnits(
            (self.centers - origin) / scale, self.covariances / scale**2, self.covariance_type
        )

    def moved_back(self, origin: FloatArray, scale: float) -> "RadialUnits":
        """Undo `moved`."""
        return RadialUnits(
            self.centers * scale + origin, self.covariances * scale**2, self.covariance_type
        )


@dataclass(frozen=True)
class UnitLayout:
    r"""Units as a flat vector: centres, then shapes that any numbers may stand for.

    Spreads are written as logarithms, a matrix as the upper triangle of :math:`R` with
    :math:`S^{-1} = R R^T`: descent can then never leave the valid ones.

    Attributes
    ----------
    n_units, n_inputs
        Numbers of units and of columns.
    covariance_type
        One of `UNIT_TYPES`.
    """

    n_units: int
    n_inputs: int
    covariance_type: str

    @property
    def n_shape(self) -> int:
        """Numbers that describe the shape of a unit."""
        sizes = {"spherical": 1, "diag": self.n_inputs}
        return sizes.get(self.covariance_type, self.n_inputs * (self.n_inputs + 1) // 2)

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return self.n_units * (self.n_inputs + self.n_shape)

    def split(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return views of the centres and of the shapes, a row for each unit."""
        end = self.n_units * self.n_inputs
        centers = theta[:end].reshape(self.n_units, self.n_inputs)
        return centers, theta[end:].reshape(self.n_units, self.n_shape)

    def standard(self) -> RadialUnits:
        """Return units at the origin with spreads of 1."""
        shapes = {
            "spherical": np.ones(self.n_units),
            "diag": np.ones((self.n_units, self.n_inputs)),
        }
        matrices = np.tile(np.eye(self.n_inputs), (self.n_units, 1, 1))
        covariances = shapes.get(self.covariance_type, matrices)
        return RadialUnits(
            np.zeros((self.n_units, self.n_inputs)), covariances, self.covariance_type
        )

    def _upper(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.triu_indices(self.n_inputs)

    def _roots(self, shapes: FloatArray) -> FloatArray:
        roots = np.zeros((self.n_units, self.n_inputs, self.n_inputs))
        roots[:, *self._upper()] = shapes
        return roots

    def flat(self, units: RadialUnits) -> FloatArray:
        """Return the vector of units."""
        if self.covariance_type == "full":
            roots = np.stack([precision_root(matrix)[0] for matrix in units.covariances])
            shapes = roots[:, *self._upper()]
        else:
            # A column that is left out: e^-200 is nothing beside any other term.
            shapes = np.minimum(0.5 * np.log(units.covariances), 100.0)
        return np.concatenate([units.centers.ravel(), shapes.ravel()])

    def units(self, theta: FloatArray) -> RadialUnits:
        """Return the units of a vector."""
        centers, shapes = self.split(theta)
        if self.covariance_type == "full":
            roots = self._roots(shapes)
            covariances = np.linalg.inv(roots @ roots.transpose(0, 2, 1))
        else:
            covariances = np.exp(2.0 * shapes)
            covariances[shapes >= 100.0] = np.inf
            if self.covariance_type == "spherical":
                covariances = covariances[:, 0]
        return RadialUnits(centers.copy(), covariances, self.covariance_type)

    def bounds(self, theta: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least and largest vectors that keep centres among the rows and spreads sane.

        Whatever lies beyond at the start may stay there.
        """
        low, high = np.empty_like(theta), np.empty_like(theta)
        span = float(np.sqrt(X.var(axis=0).mean())) or 1.0
        for bound, edge, reach in ((low, X.min(axis=0), -1.0), (high, X.max(axis=0), 1.0)):
            centers, shapes = self.split(bound)
            centers[:] = edge
            if self.covariance_type == "full":
                # Inverse spreads on the diagonal, and slopes of at most the largest of them.
                shapes[:] = reach * 1e3 / span
                diagonal = np.equal(*self._upper())
                shapes[:, diagonal] = 10.0 ** (3.0 * reach) / span
            else:
                shapes[:] = np.log(span * 10.0 ** (3.0 * reach))
        return np.minimum(low, theta), np.maximum(high, theta)

    def squares(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        r"""Return :math:`(x-m_h)^T S_h^{-1} (x-m_h)`, rows by units.

        Products of matrices instead of differences: with rows near the origin and spreads that
        are not tiny beside them, the digits that cancel do not matter.
        """
        centers, shapes = self.split(theta)
        if self.covariance_type == "full":
            whitened = self._whitened(centers, shapes, X)
            return np.einsum("nhj,nhj->nh", whitened, whitened)
        precisions = np.exp(-2.0 * shapes)
        lengths = X * X
        if self.covariance_type == "spherical":
            lengths = lengths @ np.ones((X.shape[1], 1))
        scaled = precisions * centers
        constants = np.einsum("hj,hj->h", scaled, centers)[:, None]
        # All three terms in one product: adding tables of rows by units would take as long again.
        by_row = np.hstack([X, lengths, np.ones((len(X), 1))])
        squares = by_row @ np.hstack([-2.0 * scaled, precisions, constants]).T
        return np.maximum(squares, 0.0, out=squares)

    def _whitened(self, centers: FloatArray, shapes: FloatArray, X: FloatArray) -> FloatArray:
        roots = self._roots(shapes)
        side_by_side = roots.transpose(1, 0, 2).reshape(self.n_inputs, -1)
        shifts = np.einsum("hi,hij->hj", centers, roots)
        return (X @ side_by_side).reshape(len(X), self.n_units, -1) - shifts

    def gradient(
        self, theta: FloatArray, X: FloatArray, squares: FloatArray, slopes: FloatArray
    ) -> FloatArray:
        r"""Return the gradient of an error from its slopes by the squared distances.

        With :math:`\partial E/\partial p_h = -\frac12 p_h \cdot` slope this is (12.18) and, times
        :math:`s_h` for the logarithm, (12.19).

        Parameters
        ----------
        theta, X
            Units and rows.
        squares
            What `squares` returns for them.
        slopes
            :math:`\partial E / \partial \|x-m_h\|^2_S`, rows by units.
        """
        centers, shapes = self.split(theta)
        gradient = np.empty_like(theta)
        by_center, by_shape = self.split(gradient)
        if self.covariance_type == "full":
            # The square is |R'(x - m)|^2: by R it changes by 2 (x - m) (R'(x - m))', by m by
            # -2 R R'(x - m).
            whitened = self._whitened(centers, shapes, X)
            whitened *= 2.0 * slopes[:, :, None]
            sums = whitened.sum(axis=0)
            products = (X.T @ whitened.reshape(len(X), -1)).reshape(self.n_inputs, self.n_units, -1)
            by_root = products.transpose(1, 0, 2) - centers[:, :, None] * sums[:, None, :]
            by_shape[:] = by_root[:, *self._upper()]
            by_center[:] = -np.einsum("hij,hj->hi", self._roots(shapes), sums)
            return gradient
        # Shapes are logarithms of spreads, by which each square over the variance changes by -2
        # times itself; sums over rows are expanded, so that no table of rows by units by inputs is
        # made.
        precisions = np.exp(-2.0 * shapes)
        totals, products = slopes.T @ np.ones((len(X), 1)), slopes.T @ X
        by_center[:] = 2.0 * precisions * (centers * totals - products)
        if self.covariance_type == "spherical":
            by_shape[:, 0] = -2.0 * np.einsum("nh,nh->h", slopes, squares)
        else:
            deviations = slopes.T @ (X * X) - 2.0 * centers * products + centers**2 * totals
            by_shape[:] = -2.0 * precisions * deviations
        return gradient
