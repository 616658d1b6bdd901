"""Discrete random variables and joint tables: distributions, moments, Bayes' rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.statistics._core.checks import Vector


@dataclass(frozen=True, eq=False)
class DiscreteVariable:
    """A random variable with finitely many values.

    Parameters
    ----------
    values
        The values.
    probabilities
        Probability of each.

    Notes
    -----
    Alpaydin A.2 (A.8)-(A.10), (A.20)-(A.25).

    Examples
    --------
    >>> from verulam.statistics import DiscreteVariable
    >>> coin = DiscreteVariable([0, 1], [0.3, 0.7])
    >>> coin.mean, round(coin.variance, 2), coin.distribution(0)
    (0.7, 0.21, 0.3)
    """

    values: ArrayLike
    probabilities: ArrayLike

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        shares = np.asarray(self.probabilities, dtype=np.float64)
        if values.ndim != 1 or values.shape != shares.shape:
            raise DataError("values and probabilities must be columns of equal length.")
        if (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
            raise DataError("probabilities must not be negative and must sum to one.")
        order = np.argsort(values)
        object.__setattr__(self, "values", values[order])
        object.__setattr__(self, "probabilities", shares[order])

    def expectation(self, function: Callable[[Vector], Any] = lambda x: x) -> float:
        """Return the expected value of a function of the variable."""
        return float(np.asarray(function(np.asarray(self.values))) @ np.asarray(self.probabilities))

    def moment(self, order: int) -> float:
        """Return the expected value of a power."""
        return self.expectation(lambda x: x**order)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.moment(1)

    @property
    def variance(self) -> float:
        """Expected squared distance from the mean."""
        centre = self.mean
        return self.expectation(lambda x: (x - centre) ** 2)

    @property
    def standard_deviation(self) -> float:
        """Square root of the variance."""
        return float(np.sqrt(self.variance))

    def mass(self, value: float) -> float:
        """Return the probability of one value."""
        return float(np.asarray(self.probabilities)[np.asarray(self.values) == value].sum())

    def distribution(self, value: float) -> float:
        """Return the probability of this value or a smaller one."""
        return float(np.asarray(self.probabilities)[np.asarray(self.values) <= value].sum())


@dataclass(frozen=True, eq=False)
class JointTable:
    """Joint probabilities of two discrete variables.

    Parameters
    ----------
    table
        Probabilities; values of the first variable in the index, of the second in the columns.

    Notes
    -----
    Alpaydin A.2 (A.12)-(A.19), (A.26)-(A.31).

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.statistics import JointTable
    >>> table = JointTable(pd.DataFrame([[0.1, 0.3], [0.4, 0.2]], index=[0, 1], columns=[0, 1]))
    >>> table.marginal("first").round(1).tolist(), round(table.covariance, 3)
    ([0.4, 0.6], -0.1)
    >>> table.conditional("first", 1).tolist()
    [0.6, 0.4]
    """

    table: pd.DataFrame

    def __post_init__(self) -> None:
        values = self.table.to_numpy(dtype=np.float64)
        if (values < 0).any() or not np.isclose(values.sum(), 1.0):
            raise DataError("table must not have negative entries and must sum to one.")

    @classmethod
    def from_likelihood(cls, likelihood: pd.DataFrame, prior: pd.Series) -> "JointTable":
        """Return the table of causes and effects from P(effect | cause) in rows and a prior."""
        return cls(likelihood.mul(prior, axis=0))

    def marginal(self, variable: str) -> pd.Series:
        """Return the distribution of the ``"first"`` or the ``"second"`` variable."""
        return self.table.sum(axis=1 if self.is_first(variable) else 0)

    def conditional(self, variable: str, condition: Any) -> pd.Series:
        """Return the distribution of one variable given a value of the other.

        With a prior and likelihoods in the table this is Bayes' rule: posterior = likelihood
        times prior over evidence.
        """
        part = self.table[condition] if self.is_first(variable) else self.table.loc[condition]
        if part.sum() == 0:
            raise DataError(f"The value {condition!r} has probability zero.")
        return part / part.sum()

    @staticmethod
    def is_first(variable: str) -> bool:
        """Say which variable is meant."""
        if variable not in ("first", "second"):
            raise ValueError(f"variable must be 'first' or 'second', got {variable!r}.")
        return variable == "first"

    def variable(self, variable: str) -> DiscreteVariable:
        """Return one variable alone."""
        shares = self.marginal(variable)
        return DiscreteVariable(shares.index.to_numpy(dtype=np.float64), shares.to_numpy())

    def expectation(self, function: Callable[[Any, Any], Any]) -> float:
        """Return the expected value of a function of both variables."""
        first, second = np.meshgrid(
            self.table.index.to_numpy(dtype=np.float64),
            self.table.columns.to_numpy(dtype=np.float64),
            indexing="ij",
        )
        return float((np.asarray(function(first, second)) * self.table.to_numpy()).sum())

    @property
    def covariance(self) -> float:
        """Expected product of the distances from the means."""
        one, other = self.variable("first").mean, self.variable("second").mean
        return self.expectation(lambda x, y: (x - one) * (y - other))

    @property
    def correlation(self) -> float:
        """Covariance over the product of the standard deviations."""
        first, second = self.variable("first"), self.variable("second")
        return self.covariance / (first.standard_deviation * second.standard_deviation)

    def independent(self, *, tol: float = 1e-12) -> bool:
        """Say whether every entry is the product of its margins."""
        product = np.outer(self.marginal("first"), self.marginal("second"))
        return bool(np.abs(self.table.to_numpy() - product).max() <= tol)
