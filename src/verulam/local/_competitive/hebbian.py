"""Hebbian learning: weights grow with what they join, and something holds them in bounds."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning

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
    warn_caller,
)
from verulam.local._competitive.competition_loops import hebbian_pass
from verulam.numerics import Schedule, constant, search_then_converge

#: Rules by their number in the compiled loop.
RULES = {"plain": 0, "normalised": 1, "oja": 2}
#: Weights of this length have left all bounds.
LARGEST_LENGTH = 1e100


class HebbianComponents(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Learn directions row by row from the products of inputs and outputs.

    Parameters
    ----------
    n_components
        Number of units.
    rule
        What is done about the growth of weights: "oja" lets them decay with the square of the
        output, "normalised" scales them to length one after each row, "plain" does nothing, and
        they grow without bound.
    learning_rate
        Step size in units of the mean variance of the rows: a number, a
        `verulam.numerics.Schedule`, or "decay" for 0.1 at first, falling to the inverse of the
        number of passes.
    max_iter
        Passes over the rows, each in a new random order.
    random_state
        Seed of the first weights and of the orders.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Weights of the units.
    mean_ : ndarray of shape (n_features,)
        Mean of each column, taken off before learning.
    norms_ : ndarray of shape (n_iter_, n_components)
        Length of the weights after each pass.
    n_iter_ : int
        Passes made.

    Notes
    -----
    .. math:: y_i = m_i^T x, \qquad
              \Delta m_i = \eta\, y_i \Bigl(x - \sum_{l < i} y_l m_l - y_i m_i\Bigr)

    is Oja's rule [oja1982]_ with Sanger's order [sanger1989]_: units come to the principal
    components one after the other, with length one. Hebb's rule is :math:`\Delta m = \eta\, y x`
    alone. See Alpaydin 12.2.1, SIT1305 V.

    .. [oja1982] E. Oja, "A simplified neuron model as a principal component analyzer", Journal of
       Mathematical Biology 15, 267-273, 1982.
    .. [sanger1989] T. D. Sanger, "Optimal unsupervised learning in a single-layer linear
       feedforward neural network", Neural Networks 2, 459-473, 1989.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import HebbianComponents
    >>> learner = HebbianComponents(random_state=0).fit(dataset("iris").inputs)
    >>> learner.components_.round(2)
    array([[ 0.36, -0.08,  0.86,  0.36]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "rule": [StrOptions(set(RULES))],
        "learning_rate": [
            StrOptions({"decay"}),
            Interval(Real, 0, 1, closed="right"),
            Schedule,
        ],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        rule: str = "oja",
        learning_rate: Any = "decay",
        max_iter: int = 100,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.rule = rule
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["HebbianComponents"]:
        return [cls(), cls(2, rule="normalised")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from the rows in several passes.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        if self.n_components > rows.shape[1]:
            raise DataError(
                f"n_components={self.n_components}, but X has {rows.shape[1]} columns; choose "
                f"n_components from 1 to {rows.shape[1]}."
            )
        self.mean_ = rows.mean(axis=0)
        deviations = rows - self.mean_
        variance = float(np.square(deviations).sum() / len(rows))
        if not variance > 0.0:
            raise DataError("X does not vary: every row is the same, and has no direction.")
        random = generator(self.random_state)
        weights = random.normal(size=(self.n_components, rows.shape[1]))
        weights = np.linalg.qr(weights.T)[0].T.copy()
        self._passes(deviations / np.sqrt(variance), weights, random)
        return self

    def _passes(self, Z: np.ndarray, weights: np.ndarray, random: np.random.Generator) -> None:
        schedule = self._schedule(len(Z))
        outputs, norms = np.empty(self.n_components), []
        for passes in range(self.max_iter):
            rates = schedule.table(passes * len(Z) + 1, len(Z))
            hebbian_pass(Z, random.permutation(len(Z)), rates, weights, RULES[self.rule], outputs)
            norms.append(np.sqrt(np.square(np.clip(weights, -1e150, 1e150)).sum(axis=1)))
            if not np.nanmax(norms[-1]) < LARGEST_LENGTH:
                break
        self.norms_ = np.array(norms)
        self.n_iter_ = len(norms)
        if not (np.isfinite(weights).all() and norms[-1].max() < LARGEST_LENGTH):
            if self.rule != "plain":
                raise DataError(
                    f"learning_rate={self.learning_rate!r} made weights infinite; choose a smaller "
                    "number."
                )
            warn_caller(
                f"rule='plain' has no bound: weights were longer than {LARGEST_LENGTH:g} after "
                f"{self.n_iter_} passes, of which the direction is kept; use 'oja' or "
                "'normalised'.",
                ConvergenceWarning,
            )
            largest = np.abs(np.nan_to_num(weights)).max(axis=1, keepdims=True)
            weights = np.nan_to_num(weights) / np.where(largest > 0, largest, 1.0)
        # A direction and its opposite are the same.
        largest_loading = np.abs(weights).argmax(axis=1)
        signs = np.sign(weights[np.arange(len(weights)), largest_loading])
        self.components_ = weights * np.where(signs < 0, -1.0, 1.0)[:, None]

    def _schedule(self, n_rows: int) -> Schedule:
        if isinstance(self.learning_rate, str):
            return search_then_converge(0.1, float(n_rows))
        rate = self.learning_rate
        return rate if isinstance(rate, Schedule) else constant(rate)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the outputs of the units."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return (rows - self.mean_) @ self.components_.T
