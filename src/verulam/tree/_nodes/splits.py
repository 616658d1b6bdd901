"""Tests of several inputs at once: what the nodes of multivariate trees ask.

Every test gives each row a score, or a score for each branch. A score above 0 sends the row to
child 1, otherwise to child 0; of several scores the largest names the child.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from verulam.numerics import sigmoid, softmax

Numbers = NDArray[np.float64]
#: Terms of a discriminant that are written out before the rest is counted.
SHOWN_TERMS = 6


@dataclass(frozen=True, eq=False)
class NodeTest(ABC):
    """A question that divides rows among branches."""

    @property
    def n_branches(self) -> int:
        """How many branches there are."""
        return 2

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many numbers the test has learned."""

    @abstractmethod
    def scores(self, inputs: Numbers) -> Numbers:
        """Return the score of each row, or with several branches one in each column."""

    def branches(self, inputs: Numbers) -> NDArray[np.intp]:
        """Return the child number of each row."""
        scores = self.scores(inputs)
        return np.argmax(scores, axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)

    def shares(self, inputs: Numbers, softness: float) -> Numbers:
        """Return the share of each row that goes to each branch, the softer the more even."""
        scores = self.scores(inputs) / softness
        if scores.ndim == 2:
            return softmax(scores, axis=1)
        first = sigmoid(-scores)
        return np.column_stack([first, 1.0 - first])

    @abstractmethod
    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the test of inputs from which `centre` was not taken and `scale` not divided."""

    @abstractmethod
    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the test of wider inputs, of which it looks at the given columns."""

    @abstractmethod
    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return in words what a row has answered if it went to a branch."""


@dataclass(frozen=True, eq=False)
class LinearTest(NodeTest):
    r"""Tell on which side of a hyperplane a row lies.

    Attributes
    ----------
    weights : ndarray of shape (n_inputs,)
        Weight of each input.
    intercept
        Constant term.

    Notes
    -----
    :math:`w^T x + w_0 > 0`; see Alpaydin 9.6 (9.19). With one weight it is the test of a
    univariate tree.
    """

    weights: Numbers
    intercept: float

    @property
    def n_parameters(self) -> int:
        """Weights that are not zero, and the intercept."""
        return int(np.count_nonzero(self.weights)) + 1

    def scores(self, inputs: Numbers) -> Numbers:
        """Return the weighted sums."""
        used = np.flatnonzero(self.weights)
        # Zero times infinity is no number: inputs without a weight are left out.
        return inputs[:, used] @ self.weights[used] + self.intercept

    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the same hyperplane in other units."""
        weights = self.weights / scale
        return replace(self, weights=weights, intercept=self.intercept - float(weights @ centre))

    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the test with weight 0 for the columns that it does not look at."""
        return replace(self, weights=_spread(self.weights, columns, n_columns))

    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return the inequality; of a single weight, with the input alone on its left."""
        used = np.flatnonzero(self.weights)
        if len(used) == 1:
            weight = self.weights[used[0]]
            above = (branch == 1) == (weight > 0)
            return f"{names[int(used[0])]} {'>' if above else '<='} {-self.intercept / weight:.6g}"
        terms = [(float(self.weights[j]), str(names[j])) for j in used.tolist()]
        return f"{_sum_text(terms, self.intercept)} {'>' if branch else '<='} 0"


@dataclass(frozen=True, eq=False)
class QuadraticTest(NodeTest):
    r"""Tell on which side of a quadric a row lies.

    Attributes
    ----------
    matrix : ndarray of shape (n_inputs, n_inputs)
        Weights of the products of inputs, symmetric.
    weights : ndarray of shape (n_inputs,)
        Weight of each input.
    intercept
        Constant term.
    centre : ndarray of shape (n_inputs,)
        What is taken from the inputs first.

    Notes
    -----
    :math:`x^T W x + w^T x + w_0 > 0`; see Alpaydin 9.6 (9.20).
    """

    matrix: Numbers
    weights: Numbers
    intercept: float
    centre: Numbers

    @property
    def n_parameters(self) -> int:
        """Distinct weights that are not zero, and the intercept."""
        products = np.count_nonzero(np.triu(self.matrix))
        return int(products + np.count_nonzero(self.weights)) + 1

    def scores(self, inputs: Numbers) -> Numbers:
        """Return the values of the quadratic function."""
        moved = inputs - self.centre
        return ((moved @ self.matrix + self.weights) * moved).sum(axis=1) + self.intercept

    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the same quadric in other units."""
        return replace(
            self,
            matrix=self.matrix / np.outer(scale, scale),
            weights=self.weights / scale,
            centre=self.centre * scale + centre,
        )

    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the test with weight 0 for the columns that it does not look at."""
        matrix = np.zeros((n_columns, n_columns))
        matrix[np.ix_(columns, columns)] = self.matrix
        return replace(
            self,
            matrix=matrix,
            weights=_spread(self.weights, columns, n_columns),
            centre=_spread(self.centre, columns, n_columns),
        )

    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return the inequality, multiplied out."""
        # (x - c)'W(x - c) + w'(x - c) = x'Wx + (w - 2Wc)'x + c'Wc - w'c, for symmetric W.
        weights = self.weights - 2.0 * self.matrix @ self.centre
        shift = float((self.matrix @ self.centre - self.weights) @ self.centre)
        terms = []
        for i in range(len(weights)):
            terms.append((float(self.matrix[i, i]), f"{names[i]}^2"))
            terms += [
                (2.0 * float(self.matrix[i, j]), f"{names[i]} {names[j]}")
                for j in range(i + 1, len(weights))
            ]
        terms += [(float(weight), str(name)) for weight, name in zip(weights, names, strict=True)]
        return f"{_sum_text(terms, self.intercept + shift)} {'>' if branch else '<='} 0"


@dataclass(frozen=True, eq=False)
class SphereTest(NodeTest):
    r"""Tell whether a row lies within a sphere or an ellipsoid (child 1) or outside it (child 0).

    Attributes
    ----------
    centre : ndarray of shape (n_inputs,)
        Centre.
    root : ndarray of shape (n_inputs, n_inputs)
        Deviations from the centre are multiplied by this before they are measured; the identity
        makes a sphere.
    radius
        Largest distance of a row inside.

    Notes
    -----
    :math:`\|x - c\| \leq \alpha`; see Alpaydin 9.6 (9.21) and exercise 9.5.
    """

    centre: Numbers
    root: Numbers
    radius: float

    @property
    def n_parameters(self) -> int:
        """Coordinates of the centre, and the radius or the shape of an ellipsoid."""
        used = int(np.count_nonzero(self.root.any(axis=0)))
        is_sphere = np.count_nonzero(self.root) == used
        return used + (1 if is_sphere else used * (used + 1) // 2)

    def distances(self, inputs: Numbers) -> Numbers:
        """Return the distance of each row from the centre."""
        return np.sqrt((((inputs - self.centre) @ self.root.T) ** 2).sum(axis=1))

    def scores(self, inputs: Numbers) -> Numbers:
        """Return how far inside the row lies, in radii; 0 on the surface counts as inside."""
        scores = 1.0 - self.distances(inputs) / self.radius
        return np.where(scores == 0.0, np.finfo(float).tiny, scores)

    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the same surface in other units, where a sphere may be an ellipsoid."""
        return replace(self, centre=self.centre * scale + centre, root=self.root / scale)

    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the test that measures distances in the given columns alone."""
        root = np.zeros((len(columns), n_columns))
        root[:, columns] = self.root
        return replace(self, root=root, centre=_spread(self.centre, columns, n_columns))

    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return the inequality of the distance."""
        used = np.flatnonzero(self.root.any(axis=0))
        point = ", ".join(f"{names[j]} = {self.centre[j]:.4g}" for j in used[:SHOWN_TERMS])
        if len(used) > SHOWN_TERMS:
            point += f", {len(used) - SHOWN_TERMS} more"
        return f"distance from ({point}) {'<=' if branch else '>'} {self.radius:.4g}"


@dataclass(frozen=True, eq=False)
class NetworkTest(NodeTest):
    r"""Ask a small network with one hidden layer.

    Attributes
    ----------
    hidden_weights : ndarray of shape (n_inputs, n_hidden)
        Weights of the hidden units.
    hidden_intercepts : ndarray of shape (n_hidden,)
        Their constant terms.
    weights : ndarray of shape (n_hidden,)
        Weight of each hidden unit in the output.
    intercept
        Constant term of the output.

    Notes
    -----
    :math:`\sum_h v_h \tanh(w_h^T x + w_{h0}) + v_0 > 0`; see Alpaydin 9.6.
    """

    hidden_weights: Numbers
    hidden_intercepts: Numbers
    weights: Numbers
    intercept: float

    @property
    def n_parameters(self) -> int:
        """All weights and constants."""
        return int(np.count_nonzero(self.hidden_weights)) + 2 * len(self.weights) + 1

    def scores(self, inputs: Numbers) -> Numbers:
        """Return the output of the network."""
        hidden = np.tanh(inputs @ self.hidden_weights + self.hidden_intercepts)
        return hidden @ self.weights + self.intercept

    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the same network in other units."""
        weights = self.hidden_weights / scale[:, None]
        return replace(
            self,
            hidden_weights=weights,
            hidden_intercepts=self.hidden_intercepts - centre @ weights,
        )

    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the network with weight 0 for the columns that it does not look at."""
        weights = np.zeros((n_columns, len(self.weights)))
        weights[columns] = self.hidden_weights
        return replace(self, hidden_weights=weights)

    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return the size of the network and the sign of its output."""
        used = np.flatnonzero(self.hidden_weights.any(axis=1))
        inputs = ", ".join(str(names[j]) for j in used[:SHOWN_TERMS])
        if len(used) > SHOWN_TERMS:
            inputs += f", {len(used) - SHOWN_TERMS} more"
        return f"network of {len(self.weights)} units ({inputs}) {'>' if branch else '<='} 0"


@dataclass(frozen=True, eq=False)
class ClasswiseTest(NodeTest):
    r"""Ask which class's linear discriminant is largest; each has a branch.

    Attributes
    ----------
    weights : ndarray of shape (n_branches, n_inputs)
        Weights of each class.
    intercepts : ndarray of shape (n_branches,)
        Constant terms.
    classes : ndarray of shape (n_branches,)
        Positions of the classes among the learner's classes.

    Notes
    -----
    Gaussian classes with a common covariance; see Alpaydin 9.6 and 5.5 (5.24).
    """

    weights: Numbers
    intercepts: Numbers
    classes: NDArray[np.intp]

    @property
    def n_branches(self) -> int:
        """One for each class that the discriminants decide for."""
        return len(self.intercepts)

    @property
    def n_parameters(self) -> int:
        """All weights and constants."""
        return int(np.count_nonzero(self.weights)) + len(self.intercepts)

    def scores(self, inputs: Numbers) -> Numbers:
        """Return the discriminant of each class."""
        return inputs @ self.weights.T + self.intercepts

    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the same discriminants in other units."""
        weights = self.weights / scale
        return replace(self, weights=weights, intercepts=self.intercepts - weights @ centre)

    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the test with weight 0 for the columns that it does not look at."""
        weights = np.zeros((len(self.intercepts), n_columns))
        weights[:, columns] = self.weights
        return replace(self, weights=weights)

    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return the discriminant of the branch."""
        terms = [(weight, str(names[j])) for j, weight in enumerate(self.weights[branch])]
        return f"{_sum_text(terms, self.intercepts[branch])} is the largest"


@dataclass(frozen=True, eq=False)
class IntervalTest(NodeTest):
    r"""Ask whether an input lies below, within or above an interval: three branches.

    Attributes
    ----------
    column
        The input.
    low, high
        The largest values of the first and of the second branch.

    Notes
    -----
    A ternary split; see Alpaydin 9, exercise 2.
    """

    column: int
    low: float
    high: float

    @property
    def n_branches(self) -> int:
        """Three."""
        return 3

    @property
    def n_parameters(self) -> int:
        """The column and two thresholds, as a univariate test counts its column."""
        return 3

    def scores(self, inputs: Numbers) -> Numbers:
        """Return how far each row lies inside each of the three parts."""
        values = inputs[:, self.column]
        below, above = self.low - values, values - self.high
        # On a threshold the lower part wins: argmax takes the first of equal scores.
        return np.column_stack([below, np.minimum(-below, -above), above])

    def unscaled(self, centre: Numbers, scale: Numbers) -> Self:
        """Return the same interval in other units."""
        size, start = float(scale[self.column]), float(centre[self.column])
        return replace(self, low=self.low * size + start, high=self.high * size + start)

    def on_columns(self, columns: NDArray[np.intp], n_columns: int) -> Self:
        """Return the test of the same column under its number in wider inputs."""
        return replace(self, column=int(columns[self.column]))

    def describe(self, names: Sequence[str], branch: int) -> str:
        """Return the part of the line."""
        name = names[self.column]
        parts = (
            f"{name} <= {self.low:.6g}",
            f"{self.low:.6g} < {name} <= {self.high:.6g}",
            f"{name} > {self.high:.6g}",
        )
        return parts[branch]


def _spread(values: Numbers, columns: NDArray[np.intp], n_columns: int) -> Numbers:
    wide = np.zeros(n_columns)
    wide[columns] = values
    return wide


def _sum_text(terms: Sequence[tuple[float, str]], constant: float) -> str:
    """Return a weighted sum, of many terms those of largest weight."""
    present = [term for term in terms if term[0] != 0.0]
    largest = sorted(present, key=lambda term: -abs(term[0]))[:SHOWN_TERMS]
    shown = [term for term in present if term in largest]
    text = " ".join(
        f"{'-' if weight < 0 else '+'} {abs(weight):.4g} {name}" for weight, name in shown
    )
    if len(present) > len(shown):
        text += f" + {len(present) - len(shown)} more"
    text = f"{text} {'-' if constant < 0 else '+'} {abs(constant):.4g}"
    return text.removeprefix("+ ")
