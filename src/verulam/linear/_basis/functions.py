"""Kinds of basis functions: what each learns from rows, its values and its names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.preprocessing import PolynomialFeatures

from verulam.base import DataError
from verulam.numerics import sigmoid

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Products:
    """All products of inputs up to a degree."""

    degree: int

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each product."""
        return PolynomialFeatures(self.degree, include_bias=False).fit_transform(inputs)

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        products = PolynomialFeatures(self.degree, include_bias=False)
        products.fit(np.zeros((1, len(inputs))))
        return [str(name) for name in products.get_feature_names_out(inputs)]


@dataclass(frozen=True)
class Powers:
    """Powers of single inputs."""

    degree: int

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each input and power."""
        return np.hstack([inputs**power for power in range(1, self.degree + 1)])

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        higher = [f"{name}^{k}" for k in range(2, self.degree + 1) for name in inputs]
        return [*inputs, *higher]


@dataclass(frozen=True)
class Logarithms:
    """Logarithms of positive inputs."""

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return the logarithm of each input."""
        if not (inputs > 0).all():
            row, column = np.argwhere(inputs <= 0)[0]
            raise DataError(
                f"logarithms need positive inputs; row {row} has {inputs[row, column]:.4g} in "
                f"column {column}."
            )
        return np.log(inputs)

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        return [f"log({name})" for name in inputs]


@dataclass(frozen=True)
class FourierTerms:
    """Sines and cosines of multiples of each input over its range."""

    low: np.ndarray
    high: np.ndarray
    degree: int

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return the sine and the cosine of each multiple."""
        spans = np.where(self.high > self.low, self.high - self.low, 1.0)
        angles = 2 * np.pi * (inputs - self.low) / spans
        multiples = range(1, self.degree + 1)
        return np.hstack([wave(k * angles) for k in multiples for wave in (np.sin, np.cos)])

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        multiples = range(1, self.degree + 1)
        return [f"{f}({k} {name})" for k in multiples for f in ("sin", "cos") for name in inputs]


@dataclass(frozen=True)
class StepFunctions:
    """One where an input is beyond a threshold."""

    thresholds: np.ndarray

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each input and threshold."""
        beyond = inputs[:, :, None] > self.thresholds[None, :, :]
        return beyond.reshape(len(inputs), -1).astype(np.float64)

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        pairs = zip(inputs, self.thresholds, strict=True)
        return [f"{name}>{cut:.6g}" for name, cuts in pairs for cut in cuts]


@dataclass(frozen=True)
class Planes:
    """One on the positive side of a plane, at once or by a sigmoid of the discriminant."""

    biases: np.ndarray
    weights: np.ndarray
    soft: bool = False

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each plane."""
        values = inputs @ self.weights.T + self.biases
        return sigmoid(values) if self.soft else (values > 0).astype(np.float64)

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        sums = [
            " + ".join(f"{weight:.4g} {name}" for weight, name in zip(row, inputs, strict=True))
            for row in self.weights
        ]
        pairs = zip(sums, self.biases, strict=True)
        if self.soft:
            return [f"sigmoid({text} - {-bias:.4g})" for text, bias in pairs]
        return [f"{text} > {-bias:.4g}" for text, bias in pairs]


@dataclass(frozen=True)
class UnivariateGaussians:
    """Gaussian hills over single inputs."""

    centres: np.ndarray
    bandwidths: np.ndarray

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each input and centre."""
        away = (inputs[:, :, None] - self.centres[None]) / self.bandwidths[None, :, None]
        return np.exp(-0.5 * away**2).reshape(len(inputs), -1)

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        pairs = zip(inputs, self.centres, strict=True)
        return [f"{name}~{centre:.6g}" for name, centres in pairs for centre in centres]


@dataclass(frozen=True)
class RadialFunctions:
    """Functions of the distance from centres, with all inputs together.

    Attributes
    ----------
    shape
        "bump": Gaussian; "potential": falls as one over the squared distance; "window": one in a
        cube around the centre.
    centres
        One row for each function.
    bandwidth
        Standard deviation, distance where a potential has halved, or half the edge of the cube.
    """

    shape: str
    centres: np.ndarray
    bandwidth: float

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each centre."""
        if self.shape == "bump":
            return gaussians(inputs, self.centres, self.bandwidth)
        if self.shape == "potential":
            return 1.0 / (1.0 + squared_distances(inputs, self.centres) / self.bandwidth**2)
        inside = np.ones((len(inputs), len(self.centres)), dtype=bool)
        # Column by column: all differences at once would be a table of three dimensions.
        for column, centres in zip(inputs.T, self.centres.T, strict=True):
            inside &= np.abs(column[:, None] - centres) <= self.bandwidth
        return inside.astype(np.float64)

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        return [f"{self.shape}{number}" for number in range(len(self.centres))]


@dataclass(frozen=True)
class UserFunctions:
    """Functions of the user's own."""

    functions: Sequence[Function]

    def expand(self, inputs: np.ndarray) -> np.ndarray:
        """Return one column for each function."""
        return np.column_stack([_checked_values(function, inputs) for function in self.functions])

    def names(self, inputs: list[str]) -> list[str]:
        """Return their names."""
        return [f"function{number}" for number in range(len(self.functions))]


Basis = (
    Products
    | Powers
    | Logarithms
    | FourierTerms
    | StepFunctions
    | Planes
    | UnivariateGaussians
    | RadialFunctions
    | UserFunctions
)


def gaussians(inputs: np.ndarray, centres: np.ndarray, bandwidth: float) -> np.ndarray:
    r"""Return :math:`\exp(-\|x - m_j\|^2 / 2 s^2)` for each row and centre."""
    return np.exp(-squared_distances(inputs, centres) / (2 * bandwidth**2))


def squared_distances(inputs: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the squared distance of each row from each centre."""
    # Expanded squares need one matrix product instead of all differences.
    squares = (inputs**2).sum(axis=1)[:, None] - 2 * inputs @ centres.T + (centres**2).sum(axis=1)
    # Rounding may leave a small negative number.
    return np.maximum(squares, 0.0)


def median_distance(centres: np.ndarray) -> float:
    """Return the median distance between centres, or one where that is zero."""
    if len(centres) < 2:
        return 1.0
    return float(np.median(pdist(centres))) or 1.0


def draw_planes(inputs: np.ndarray, count: int, random: np.random.Generator) -> Planes:
    """Return planes through random rows, in random directions of scaled columns."""
    # Directions drawn in scaled columns do not prefer those with large units.
    spread = inputs.std(axis=0)
    weights = random.normal(size=(count, inputs.shape[1])) / np.where(spread > 0, spread, 1.0)
    through = inputs[random.integers(len(inputs), size=count)]
    return Planes(-(weights * through).sum(axis=1), weights)


def _checked_values(function: Function, inputs: np.ndarray) -> np.ndarray:
    values = np.asarray(function(inputs), dtype=np.float64)
    if values.shape != (len(inputs),):
        raise DataError(
            f"a basis function must return {len(inputs)} values, one for each row; got the shape "
            f"{values.shape}."
        )
    return values
