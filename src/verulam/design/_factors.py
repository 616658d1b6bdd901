"""Factors and their levels, on scales that mean the same for every data set, and their tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, unknown_name

FactorKind = Literal["categorical", "numeric", "log"]
FACTOR_KINDS: tuple[FactorKind, ...] = ("categorical", "numeric", "log")
#: What to keep in mind of each design; tables of settings carry it as ``attrs["caveat"]``.
DESIGN_CAVEATS: Mapping[str, str] = {
    "best guess": "There is no guarantee that the best setting was among those tried.",
    "one factor at a time": "Interactions are ignored: the best level of one factor is sought at "
    "the baseline of all others.",
    "full factorial": "The number of runs grows as the levels to the power of the factors.",
    "fractional factorial": "Effects that share an alias cannot be told apart.",
    "blocked factorial": "The contrasts that define the blocks, and their products, cannot be told "
    "from differences between blocks.",
    "latin hypercube": "Settings fill the ranges evenly, but effects are not independent of one "
    "another.",
    "central composite": "The response is taken to be quadratic in the factors.",
    "box-behnken": "The response is taken to be quadratic in the factors; corners are not run.",
    "sequential": "Settings are added where a fitted quadratic is best, until nothing improves: a "
    "response with several best settings may be searched around the wrong one.",
}


@dataclass(frozen=True)
class Factor:
    """Something that is varied, and the levels it is given.

    Attributes
    ----------
    name
        What is varied, such as a parameter of a learner.
    levels
        The values to try; designs with two levels and response surfaces use the lowest and the
        highest of the numbers.
    kind
        "categorical"; "numeric" where equal steps matter equally; "log" where equal ratios do.
    unit
        What the levels are measured in, for tables and pictures.
    whole
        Values between the levels are rounded to whole numbers.

    Examples
    --------
    >>> spread = Factor("gamma", (0.01, 1.0), kind="log")
    >>> spread.coded([0.01, 0.1, 1.0])
    array([-1.,  0.,  1.])
    >>> spread.decoded([0.5])
    array([0.31622777])
    """

    name: str
    levels: Sequence[Any]
    kind: FactorKind = "categorical"
    unit: str = ""
    whole: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        where = f"Factor {self.name!r}"
        if self.kind not in FACTOR_KINDS:
            raise unknown_name("kind of factor", self.kind, FACTOR_KINDS)
        if not self.levels:
            raise ValueError(f"{where} has no levels; at least one is needed.")
        numbers = self.kind != "categorical"
        for level in self.levels if numbers else ():
            self._check_number(level)
        # Categories may be lists, which have no hash.
        distinct = set(self.levels) if numbers else _distinct(self.levels)
        if len(distinct) < len(self.levels):
            raise ValueError(f"{where} has a level twice: {list(self.levels)}.")

    @property
    def low(self) -> Any:
        """The lowest number, or the first of the categories."""
        return self.levels[0] if self.kind == "categorical" else min(self.levels)

    @property
    def high(self) -> Any:
        """The highest number, or the last of the categories."""
        return self.levels[-1] if self.kind == "categorical" else max(self.levels)

    def coded(self, values: ArrayLike) -> np.ndarray:
        """Return values on the scale where the low level is -1 and the high level is +1."""
        if self.kind == "categorical":
            return self._coded_categories(values)
        # Linear between the ends, of logarithms where equal ratios matter equally.
        low, high = self._ends()
        return 2 * (self._straight(values) - low) / (high - low) - 1

    def decoded(self, codes: ArrayLike) -> np.ndarray:
        """Return the values that stand at these places between low (-1) and high (+1)."""
        if self.kind == "categorical":
            raise ValueError(f"Factor {self.name!r} is categorical: nothing is between its levels.")
        places = np.asarray(codes, dtype=np.float64)
        low, high = self._ends()
        values = (low + high) / 2 + places * (high - low) / 2
        if self.kind == "log":
            values = np.exp(values)
        if self.whole:
            return np.rint(values).astype(np.int64)
        # The ends come back as they were given, free of rounding.
        values = np.where(places == -1, float(self.low), values)
        return np.where(places == 1, float(self.high), values)

    def _check_number(self, level: Any) -> None:
        number = isinstance(level, Real) and not isinstance(level, bool)
        if not number or not np.isfinite(float(level)):
            raise ValueError(f"Factor {self.name!r} is {self.kind}, but has the level {level!r}.")
        if self.kind == "log" and level <= 0:
            raise ValueError(
                f"Factor {self.name!r} is log, but has the level {level!r}, not above 0."
            )

    def _straight(self, values: ArrayLike) -> np.ndarray:
        """Return numbers on the scale where equal steps matter equally."""
        numbers = np.asarray(values, dtype=np.float64)
        if self.kind == "log":
            if (numbers <= 0).any():
                raise ValueError(f"Factor {self.name!r} is log: its values must be above 0.")
            return np.log(numbers)
        return numbers

    def _ends(self) -> tuple[float, float]:
        low, high = (float(end) for end in self._straight([self.low, self.high]))
        if low == high:
            raise ValueError(f"Factor {self.name!r} has only the level {self.low!r}: no range.")
        return low, high

    def _coded_categories(self, values: ArrayLike) -> np.ndarray:
        if len(self.levels) != 2:
            raise ValueError(
                f"Factor {self.name!r} is categorical with {len(self.levels)} levels; "
                "only two have codes, -1 and +1."
            )
        categories = np.asarray(values, dtype=object)
        for value in _distinct(categories.tolist()):
            if value not in self.levels:
                raise ValueError(
                    f"Factor {self.name!r} has no level {value!r}; "
                    f"it has {', '.join(map(repr, self.levels))}."
                )
        return np.array([1.0 if value == self.high else -1.0 for value in categories])


def checked_factors(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """Return the factors; raise where there is none or two have the same name."""
    names = [factor.name for factor in factors]
    if not names:
        raise ValueError("factors: at least one is needed.")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"factors: {name!r} is there twice.")
    return tuple(factors)


def coded_settings(settings: pd.DataFrame, factors: Sequence[Factor]) -> pd.DataFrame:
    """Return a table of settings with every level as a code from -1 (low) to +1 (high).

    Parameters
    ----------
    settings
        One row per setting, one column per factor.
    factors
        The factors of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"k": [1, 5, 9], "weights": ["equal", "near", "near"]})
    >>> factors = [Factor("k", (1, 9), "numeric"), Factor("weights", ("equal", "near"))]
    >>> coded_settings(table, factors)
         k  weights
    0 -1.0     -1.0
    1  0.0      1.0
    2  1.0      1.0
    """
    columns = {}
    for factor in checked_factors(factors):
        if factor.name not in settings:
            raise unknown_name("column of settings", factor.name, map(str, settings.columns))
        columns[factor.name] = factor.coded(settings[factor.name].to_numpy())
    return pd.DataFrame(columns, index=settings.index)


def decoded_columns(codes: np.ndarray, factors: Sequence[Factor]) -> dict[str, np.ndarray]:
    """Return the columns of settings that a matrix of codes, one column per factor, stands for."""
    return {factor.name: factor.decoded(codes[:, place]) for place, factor in enumerate(factors)}


def mean_neighbour_distance(X: ArrayLike) -> float:
    """Return the mean Euclidean distance between a row and its nearest other row.

    Parameters
    ----------
    X
        Numbers, one row per point; at least two rows.

    Notes
    -----
    Alpaydin 19.5: a statistic that tells the scale of the inputs.

    Examples
    --------
    >>> mean_neighbour_distance([[0.0], [1.0], [4.0]])
    1.66...
    """
    from scipy.spatial import KDTree

    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or len(points) < 2:
        raise DataError(f"X has the shape {points.shape}; at least two rows are needed.")
    if not np.isfinite(points).all():
        raise DataError("X has missing or infinite values; distances need numbers.")
    # The nearest row is the row itself: the second nearest is asked for.
    mean = float(np.mean(KDTree(points).query(points, k=[2])[0]))
    if mean == 0.0:
        raise DataError("X: every row has an equal row, so that distances tell no scale.")
    return mean


def normalised_levels(
    scale: float | ArrayLike, multiples: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
) -> tuple[float, ...]:
    """Return levels as multiples of a scale, so that they suit data in any unit.

    Parameters
    ----------
    scale
        A statistic of the data; or a table of numbers, whose mean distance between a row and its
        nearest other row is taken.
    multiples
        What to multiply it by.

    Examples
    --------
    >>> normalised_levels([[0.0], [10.0]], (0.5, 1, 2))
    (5.0, 10.0, 20.0)
    """
    unit = float(scale) if isinstance(scale, Real) else mean_neighbour_distance(scale)
    if not np.isfinite(unit) or unit <= 0:
        raise ValueError(f"scale={scale!r}; expected a number above 0.")
    return tuple(unit * multiple for multiple in multiples)


def odd_levels(largest: int, count: int | None = None) -> tuple[int, ...]:
    """Return odd numbers from 1 up to `largest`, for counts of neighbours that cannot tie.

    Parameters
    ----------
    largest
        No number is above it.
    count
        At most so many, in about equal ratios; None takes every odd number.

    Examples
    --------
    >>> odd_levels(9), odd_levels(101, 5)
    ((1, 3, 5, 7, 9), (1, 3, 11, 31, 101))
    """
    if largest < 1:
        raise ValueError(f"largest={largest!r}; expected a whole number of at least 1.")
    if count is None:
        return tuple(range(1, largest + 1, 2))
    top = largest if largest % 2 else largest - 1
    # Equal ratios, since one neighbour more matters less the more there are.
    steps = np.geomspace(1, top, max(1, count))
    return tuple(sorted({int(2 * round((step - 1) / 2) + 1) for step in steps}))


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Return the values without repeats, hashable or not."""
    distinct: list[Any] = []
    for value in values:
        if not any(type(value) is type(other) and value == other for other in distinct):
            distinct.append(value)
    return distinct


def two_level_codes(count: int) -> np.ndarray:
    """Return all combinations of -1 and +1, the last column varying fastest."""
    grid = np.indices((2,) * count).reshape(count, -1).T
    return 2.0 * grid - 1.0


def as_design(columns: Mapping[str, Any], design: str) -> pd.DataFrame:
    """Return the table of settings, labelled with its design and the caveat of that design."""
    table = pd.DataFrame(columns)
    table.attrs = {"design": design, "caveat": DESIGN_CAVEATS[design]}
    return table
