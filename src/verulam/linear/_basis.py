"""Basis expansions: functions of the inputs in which a discriminant is linear."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.preprocessing import PolynomialFeatures

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

Function = Callable[[np.ndarray], np.ndarray]


class BasisExpansion(Transformer):
    r"""Map rows to basis functions :math:`\phi(x)`.

    Parameters
    ----------
    kind
        "polynomial": all products up to `degree`; "powers": powers of single inputs; "bumps":
        Gaussian hills around `n_functions` rows; "steps": :math:`1(x_j > c)` at quantiles of each
        input; "sine": :math:`\sin` and :math:`\cos` of multiples of each input over its range;
        "functions": those given.
    degree
        Highest degree of products or powers, and number of multiples of the sine.
    n_functions
        Number of bumps, or of steps for each input.
    width
        Standard deviation of the bumps; None takes the median distance between their centres.
    functions
        Functions of a table of rows that return one value for each row.
    random_state
        Seed that draws the rows around which bumps stand.

    Attributes
    ----------
    n_functions_ : int
        Number of basis functions.
    centres_ : ndarray or None
        Centres of the bumps.
    width_ : float or None
        Their width.
    thresholds_ : ndarray of shape (n_features, n_functions) or None
        Thresholds of the steps.
    ranges_ : ndarray of shape (2, n_features) or None
        Least and largest value of each input, which the sine's first multiple spans.

    Notes
    -----
    A discriminant :math:`\sum_j w_j \phi_j(x)` stays linear in its weights, so every trainer of
    this package takes it. Two inputs have five products up to degree two. See Alpaydin 10.2
    (10.2-10.3) and Bartkowiak 5.2.

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
        "kind": [StrOptions({"polynomial", "powers", "bumps", "steps", "sine", "functions"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "n_functions": [Interval(Integral, 1, None, closed="left")],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "functions": [list, tuple, None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        kind: str = "polynomial",
        degree: int = 2,
        n_functions: int = 10,
        width: float | None = None,
        functions: Sequence[Function] | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kind = kind
        self.degree = degree
        self.n_functions = n_functions
        self.width = width
        self.functions = functions
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["BasisExpansion"]:
        return [cls(kind=kind, random_state=0) for kind in ("polynomial", "bumps", "steps", "sine")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn centres, widths and thresholds from the rows."""
        inputs = validate_data(self, X, dtype=np.float64)
        self.centres_, self.width_, self.thresholds_, self.ranges_ = None, None, None, None
        if self.kind == "bumps":
            size = min(self.n_functions, len(inputs))
            rows = generator(self.random_state).choice(len(inputs), size, replace=False)
            self.centres_ = inputs[np.sort(rows)]
            self.width_ = self.width or _median_distance(self.centres_)
        elif self.kind == "steps":
            shares = np.linspace(0, 1, self.n_functions + 2)[1:-1]
            self.thresholds_ = np.quantile(inputs, shares, axis=0).T
        elif self.kind == "sine":
            self.ranges_ = np.stack([inputs.min(axis=0), inputs.max(axis=0)])
        elif self.kind == "functions" and not self.functions:
            raise DataError('functions must be given with kind="functions"; got none.')
        self.n_functions_ = self._expand(inputs[:1]).shape[1]
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return one column for each basis function."""
        check_is_fitted(self)
        return self._expand(validate_data(self, X, dtype=np.float64, reset=False))

    def _expand(self, inputs: np.ndarray) -> np.ndarray:
        if self.kind == "polynomial":
            return PolynomialFeatures(self.degree, include_bias=False).fit_transform(inputs)
        if self.kind == "powers":
            return np.hstack([inputs**power for power in range(1, self.degree + 1)])
        if self.kind == "bumps":
            assert self.centres_ is not None
            assert self.width_ is not None
            return bumps(inputs, self.centres_, self.width_)
        if self.kind == "steps":
            return _steps(inputs, self.thresholds_)
        if self.kind == "sine":
            return _waves(inputs, self.ranges_, self.degree)
        assert self.functions is not None
        return np.column_stack([_own(function, inputs) for function in self.functions])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each basis function, made of the names of the inputs."""
        check_is_fitted(self)
        names = self._input_names(input_features)
        return np.array(self._names(names), dtype=object)

    def _input_names(self, given: Any) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        if given is None:
            return (
                [f"x{column}" for column in range(self.n_features_in_)]
                if known is None
                else [*known]
            )
        names = [str(name) for name in given]
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}); got {len(names)}."
            )
        if known is not None and names != [*known]:
            raise ValueError("input_features is not equal to feature_names_in_")
        return names

    def _names(self, names: list[str]) -> list[str]:
        if self.kind == "polynomial":
            powers = PolynomialFeatures(self.degree, include_bias=False)
            powers.fit(np.zeros((1, len(names))))
            return [str(name) for name in powers.get_feature_names_out(names)]
        if self.kind == "powers":
            powered = [
                names,
                *([f"{name}^{k}" for name in names] for k in range(2, self.degree + 1)),
            ]
            return [name for each in powered for name in each]
        if self.kind == "steps":
            assert self.thresholds_ is not None
            pairs = zip(names, self.thresholds_, strict=True)
            return [f"{name}>{cut:.6g}" for name, cuts in pairs for cut in cuts]
        if self.kind == "sine":
            multiples = range(1, self.degree + 1)
            return [f"{f}({k} {name})" for k in multiples for f in ("sin", "cos") for name in names]
        if self.kind == "functions":
            assert self.functions is not None
            return [f"function{number}" for number in range(self.n_functions_)]
        return [f"bump{number}" for number in range(self.n_functions_)]


def bumps(inputs: np.ndarray, centres: np.ndarray, width: float) -> np.ndarray:
    r"""Return :math:`\exp(-\|x - m_j\|^2 / 2 s^2)` for each row and centre."""
    squares = (inputs**2).sum(axis=1)[:, None] - 2 * inputs @ centres.T + (centres**2).sum(axis=1)
    return np.exp(-np.maximum(squares, 0.0) / (2 * width**2))


def _median_distance(centres: np.ndarray) -> float:
    from scipy.spatial.distance import pdist

    if len(centres) < 2:
        return 1.0
    median = float(np.median(pdist(centres)))
    return median or 1.0


def _steps(inputs: np.ndarray, thresholds: Any) -> np.ndarray:
    beyond = inputs[:, :, None] > thresholds[None, :, :]
    return beyond.reshape(len(inputs), -1).astype(np.float64)


def _waves(inputs: np.ndarray, ranges: Any, degree: int) -> np.ndarray:
    spans = np.where(ranges[1] > ranges[0], ranges[1] - ranges[0], 1.0)
    angles = 2 * np.pi * (inputs - ranges[0]) / spans
    return np.hstack(
        [wave(number * angles) for number in range(1, degree + 1) for wave in (np.sin, np.cos)]
    )


def _own(function: Function, inputs: np.ndarray) -> np.ndarray:
    values = np.asarray(function(inputs), dtype=np.float64)
    if values.shape != (len(inputs),):
        raise DataError(
            f"a basis function must return {len(inputs)} values, one for each row; got the shape "
            f"{values.shape}."
        )
    return values
