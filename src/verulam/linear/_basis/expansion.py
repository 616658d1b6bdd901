"""Basis expansions: functions of the inputs in which a discriminant is linear."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
)
from verulam.linear._basis.functions import (
    Basis,
    FourierTerms,
    Function,
    Logarithms,
    Planes,
    Powers,
    Products,
    RadialFunctions,
    StepFunctions,
    UnivariateGaussians,
    UserFunctions,
    draw_planes,
    median_distance,
)

_KINDS = (
    "polynomial",
    "powers",
    "logarithms",
    "sine",
    "steps",
    "planes",
    "sigmoids",
    "single bumps",
    "bumps",
    "potentials",
    "windows",
    "functions",
)


class BasisExpansion(Transformer):
    r"""Map rows to basis functions :math:`\phi(x)`.

    Parameters
    ----------
    kind
        "polynomial": all products up to `degree`; "powers": powers of single inputs;
        "logarithms": :math:`\log x_j` of positive inputs; "sine": :math:`\sin` and :math:`\cos` of
        multiples of each input over its range; "steps": :math:`1(x_j > c)` at quantiles of each
        input; "planes": :math:`1(a^T x > c)`; "sigmoids": soft planes, the hidden units of
        a perceptron with two layers, fixed; "single bumps": Gaussian hills over each input, at
        its quantiles; "bumps": Gaussian hills over all inputs, around `n_functions` rows;
        "potentials": :math:`1 / (1 + \|x - x^t\|^2 / s^2)` around every row; "windows": one in a
        cube around every row; "functions": those given.
    degree
        Highest degree of products or powers, and number of multiples of the sine.
    n_functions
        Number of bumps, planes or sigmoids, or of steps or single bumps for each input.
    bandwidth
        Standard deviation of the bumps, distance where a potential has halved, or half the edge
        of a window; None takes the median distance between their centres, and for single bumps
        twice the standard deviation of the input over their number.
    planes
        Rows of :math:`(-c, a)`, the bias in front, also of sigmoids; None draws planes through
        random rows.
    functions
        Functions of a table of rows that return one value for each row.
    random_state
        Seed that draws planes, and the rows around which bumps stand.

    Attributes
    ----------
    n_functions_ : int
        Number of basis functions.
    basis_
        The functions, with `expand` and `names`.
    centres_ : ndarray or None
        Centres of hills.
    bandwidth_ : float or None
        Width of hills over all inputs.
    thresholds_ : ndarray of shape (n_features, n_functions) or None
        Thresholds of the steps.

    Notes
    -----
    A discriminant :math:`\sum_j w_j \phi_j(x)` stays linear in its weights, so every trainer of
    this package takes it. Two inputs have five products up to degree two. With potentials or
    windows there is one function for each training row, as in the method of potential functions
    and in Parzen's estimate. See Alpaydin 10.2 (10.2-10.3) and Bartkowiak 5.2.

    Examples
    --------
    >>> from verulam.linear import BasisExpansion, Perceptron
    >>> from sklearn.pipeline import make_pipeline
    >>> corners, exclusive = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> BasisExpansion().fit_transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> machine = make_pipeline(BasisExpansion(), Perceptron(random_state=0))
    >>> machine.fit(corners, exclusive).predict(corners).tolist()
    [0, 1, 1, 0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kind": [StrOptions(set(_KINDS))],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "n_functions": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "planes": ["array-like", None],
        "functions": [list, tuple, None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        kind: str = "polynomial",
        degree: int = 2,
        n_functions: int = 10,
        bandwidth: float | None = None,
        planes: ArrayLike | None = None,
        functions: Sequence[Function] | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kind = kind
        self.degree = degree
        self.n_functions = n_functions
        self.bandwidth = bandwidth
        self.planes = planes
        self.functions = functions
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["BasisExpansion"]:
        kinds = set(_KINDS) - {"powers", "logarithms", "functions"}
        return [cls(kind=kind, random_state=0) for kind in sorted(kinds)]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn centres, widths, planes and thresholds from the rows."""
        inputs = validate_data(self, X, dtype=np.float64)
        self.basis_ = self._make_basis(inputs)
        self.centres_ = getattr(self.basis_, "centres", None)
        self.bandwidth_ = getattr(self.basis_, "bandwidth", None)
        self.thresholds_ = getattr(self.basis_, "thresholds", None)
        self.n_functions_ = self.basis_.expand(inputs[:1]).shape[1]
        return self

    def _make_basis(self, inputs: np.ndarray) -> Basis:
        if self.kind in ("polynomial", "powers"):
            return (Products if self.kind == "polynomial" else Powers)(self.degree)
        if self.kind == "logarithms":
            # Values that have no logarithm are found now, not only in the first row.
            Logarithms().expand(inputs)
            return Logarithms()
        if self.kind == "sine":
            return FourierTerms(inputs.min(axis=0), inputs.max(axis=0), self.degree)
        if self.kind in ("steps", "single bumps"):
            shares = np.linspace(0, 1, self.n_functions + 2)[1:-1]
            places = np.quantile(inputs, shares, axis=0).T
            return (
                StepFunctions(places)
                if self.kind == "steps"
                else self._single_bumps(inputs, places)
            )
        if self.kind in ("planes", "sigmoids"):
            return replace(self._read_planes(inputs), soft=self.kind == "sigmoids")
        if self.kind == "functions":
            if not self.functions:
                raise DataError('functions must be given with kind="functions"; got none.')
            return UserFunctions(tuple(self.functions))
        centres = inputs
        if self.kind == "bumps":
            size = min(self.n_functions, len(inputs))
            rows = generator(self.random_state).choice(len(inputs), size, replace=False)
            centres = inputs[np.sort(rows)]
        shape = self.kind.removesuffix("s")
        return RadialFunctions(shape, centres.copy(), self.bandwidth or median_distance(centres))

    def _single_bumps(self, inputs: np.ndarray, places: np.ndarray) -> UnivariateGaussians:
        # Neighbours of a standard deviation's distance overlap enough to leave no gaps.
        spread = inputs.std(axis=0)
        widths = np.where(spread > 0, 2.0 * spread / self.n_functions, 1.0)
        if self.bandwidth is not None:
            widths = np.full(inputs.shape[1], float(self.bandwidth))
        return UnivariateGaussians(places, widths)

    def _read_planes(self, inputs: np.ndarray) -> Planes:
        if self.planes is None:
            return draw_planes(inputs, self.n_functions, generator(self.random_state))
        table = np.asarray(self.planes, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != inputs.shape[1] + 1:
            raise DataError(
                f"planes must have {inputs.shape[1] + 1} numbers each, the bias in front; got the "
                f"shape {table.shape}."
            )
        return Planes(table[:, 0], table[:, 1:])

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return one column for each basis function."""
        check_is_fitted(self)
        return self.basis_.expand(validate_data(self, X, dtype=np.float64, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each basis function, made of the names of the inputs."""
        check_is_fitted(self)
        names = self.basis_.names(self._input_names(input_features))
        return np.array(names, dtype=object)

    def _input_names(self, input_features: Any) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return (
                [f"x{column}" for column in range(self.n_features_in_)]
                if known is None
                else [*known]
            )
        names = [str(name) for name in input_features]
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}); got {len(names)}."
            )
        if known is not None and names != [*known]:
            raise ValueError("input_features is not equal to feature_names_in_")
        return names
