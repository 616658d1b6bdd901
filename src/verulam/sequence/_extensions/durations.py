"""Semi-Markov models: how long a regime lasts is learned, not left to the geometric law."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._chains.structured_transitions import (
    StructuredModel,
    StructuredPart,
    StructuredTransitions,
    shares,
)
from verulam.sequence._data.sequences import check_count
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.parameters import InitialProbabilities
from verulam.sequence._model.transitions import check_distribution

FAMILIES = ("free", "geometric", "poisson")
#: Keeps hazards inside (0, 1) where a family's tail underflows.
SMALLEST = 1e-12


def duration_probabilities(hazards: Any, longest: int) -> np.ndarray:
    r"""Return how probable each duration is, from the chance to end at each age.

    Parameters
    ----------
    hazards
        One row per regime, one column per age; older ages have the last one's chance.
    longest
        The longest duration to return.

    Notes
    -----
    :math:`p(d) = h_d \prod_{a < d} (1 - h_a)`.

    Examples
    --------
    >>> from verulam.sequence import duration_probabilities
    >>> duration_probabilities([[0.0, 0.5]], 4)
    array([[0.   , 0.5  , 0.25 , 0.125]])
    """
    table = np.atleast_2d(np.asarray(hazards, dtype=np.float64))
    ages = np.minimum(np.arange(longest), table.shape[1] - 1)
    ends = table[:, ages]
    lasts = np.cumprod(1.0 - ends, axis=1)
    return ends * np.column_stack([np.ones(len(table)), lasts[:, :-1]])


@dataclass(frozen=True)
class DurationTransitions(StructuredPart):
    r"""Regimes that end with a chance that depends on how long they have lasted.

    Parameters
    ----------
    n_regimes
        Number of regimes.
    longest
        Ages that are told apart; from there on the chance to end is constant.
    family
        "free" (a chance per age), "geometric" (one chance, a plain model) or "poisson" (one
        more than a Poisson count).
    regimes
        Probability of each next regime to start from, with zeros on the diagonal.
    hazards
        Chance to end at each age to start from, one row per regime.
    fixed
        Whether to hold both.

    Notes
    -----
    States are pairs of a regime and its age :math:`a`: from :math:`(j, a)` to :math:`(k, 1)` with
    :math:`h_j(a) a_{jk}`, to :math:`(j, a + 1)` with :math:`1 - h_j(a)`. Every sequence begins a
    regime, and may end within one.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import DurationTransitions
    >>> part = DurationTransitions(2, 2, hazards=[[0.0, 0.5], [0.2, 1.0]])
    >>> part.start(4, np.random.default_rng(0)).matrix
    array([[0. , 1. , 0. , 0. ],
           [0. , 0.5, 0.5, 0. ],
           [0.2, 0. , 0. , 0.8],
           [1. , 0. , 0. , 0. ]])
    """

    n_regimes: int
    longest: int
    family: str = "free"
    regimes: Any = None
    hazards: Any = None
    fixed: bool = False

    @property
    def n_states(self) -> int:
        """Number of pairs of a regime and an age."""
        return self.n_regimes * self.longest

    def first_tables(self) -> tuple[np.ndarray, ...]:
        """Return the tables given, or equal next regimes and a chance to end that is constant."""
        n_regimes = self.n_regimes
        if n_regimes < 2 or self.longest < 1:
            raise DataError("DurationTransitions needs at least two regimes and one age.")
        if self.family not in FAMILIES:
            raise DataError(f"family is {self.family!r}; expected one of {', '.join(FAMILIES)}.")
        regimes = (1.0 - np.eye(n_regimes)) / (n_regimes - 1)
        if self.regimes is not None:
            regimes = check_distribution(self.regimes, "regimes", (n_regimes, n_regimes))
            if np.diag(regimes).any():
                raise DataError("regimes needs zeros on its diagonal: staying is a duration.")
        hazards = np.full((n_regimes, self.longest), 2.0 / (self.longest + 3.0))
        if self.hazards is not None:
            hazards = np.array(self.hazards, dtype=np.float64)
            inside = (hazards >= 0) & (hazards <= 1)
            if hazards.shape != (n_regimes, self.longest) or not inside.all():
                raise DataError(
                    f"hazards needs probabilities of shape {(n_regimes, self.longest)}; its shape "
                    f"is {hazards.shape}."
                )
        return regimes, hazards

    def assembled(self, tables: tuple[np.ndarray, ...]) -> StructuredTransitions:
        """Return the transitions between pairs of a regime and an age."""
        regimes, hazards = tables
        n_regimes, longest = hazards.shape
        matrix = np.zeros((n_regimes, longest, n_regimes, longest))
        for age in range(longest):
            matrix[:, age, :, 0] += hazards[:, age, None] * regimes
            for regime in range(n_regimes):
                # The oldest age stands for all that are older, with a constant hazard.
                matrix[regime, age, regime, min(age + 1, longest - 1)] += 1 - hazards[regime, age]
        n_states = n_regimes * longest
        return StructuredTransitions.from_tables(matrix.reshape(n_states, n_states), tables)

    def updated_tables(
        self, parameters: StructuredTransitions, sums: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the shares of next regimes, and of ends among all at each age."""
        regimes, hazards = parameters.tables
        if self.fixed:
            return regimes, hazards
        n_regimes, longest = hazards.shape
        before, age = np.divmod(parameters.sources, longest)
        after = parameters.targets // longest
        moved = before != after
        leaves, counts = np.zeros((n_regimes, longest)), np.zeros((n_regimes, n_regimes))
        np.add.at(leaves, (before[moved], age[moved]), sums[moved])
        np.add.at(counts, (before[moved], after[moved]), sums[moved])
        stays = np.zeros((n_regimes, longest))
        np.add.at(stays, (before[~moved], age[~moved]), sums[~moved])
        return shares(counts, regimes), self._hazards(leaves, stays, hazards)

    def _hazards(self, leaves: np.ndarray, stays: np.ndarray, old: np.ndarray) -> np.ndarray:
        if self.family == "geometric":
            leaves, stays = (part.sum(axis=1, keepdims=True) for part in (leaves, stays))
        if self.family != "poisson":
            total = leaves + stays
            new = np.divide(leaves, total, out=old[:, : total.shape[1]].copy(), where=total > 0)
            return np.broadcast_to(new, old.shape).copy()
        return np.array(
            [
                poisson_hazards(_best_rate(out, stay, len(hazards)), len(hazards))
                if out.sum() + stay.sum() > 0
                else hazards
                for out, stay, hazards in zip(leaves, stays, old, strict=True)
            ]
        )

    def occupied(self, visits: np.ndarray) -> np.ndarray:
        """Return the expected steps in each regime."""
        return visits.reshape(self.n_regimes, self.longest).sum(axis=1)

    def n_parameters(self, parameters: StructuredTransitions) -> int:
        """Return the number of free probabilities and rates."""
        if self.fixed:
            return 0
        per_regime = self.longest if self.family == "free" else 1
        return self.n_regimes * (self.n_regimes - 2 + per_regime)


def poisson_hazards(rate: float, longest: int) -> np.ndarray:
    """Return the chance to end at each age where durations are one more than a Poisson count."""
    from scipy.stats import poisson

    ages = np.arange(longest)
    tail = poisson.sf(ages - 1, rate)
    hazards = np.divide(poisson.pmf(ages, rate), tail, out=np.ones(longest), where=tail > 0)
    return np.clip(hazards, SMALLEST, 1.0 - SMALLEST)


def _best_rate(leaves: np.ndarray, stays: np.ndarray, longest: int) -> float:
    from scipy.optimize import minimize_scalar

    # Censored durations have no closed form: a stay at an age counts as a factor of 1 - h(age).
    def loss(log_rate: float) -> float:
        hazards = poisson_hazards(float(np.exp(log_rate)), longest)
        return -float(leaves @ np.log(hazards) + stays @ np.log1p(-hazards))

    bounds = (np.log(1e-3), np.log(4.0 * longest + 4.0))
    optimum = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return float(np.exp(optimum.x))


def semi_markov_model(
    n_regimes: int,
    longest: int,
    emission: Emission | None = None,
    *,
    family: str = "free",
    regimes: Any = None,
    hazards: Any = None,
    **options: Any,
) -> HiddenMarkovModel:
    """Return a hidden Markov model whose regimes last as long as their own law says.

    Parameters
    ----------
    n_regimes
        Number of regimes.
    longest
        Ages that are told apart.
    emission
        What regimes show; None for Gaussians.
    family, regimes, hazards
        As in `DurationTransitions`.
    options
        Further arguments of `HiddenMarkovModel`.

    Notes
    -----
    ``states // longest`` takes the regimes out of predicted states, and
    ``duration_probabilities(model.model_.transitions.tables[1], d)`` gives the learned durations.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import semi_markov_model
    >>> beats = np.tile([0.0, 0.0, 0.0, 5.0], 12) + 0.1 * np.sin(np.arange(48.0))
    >>> model = semi_markov_model(2, 4, random_state=0).fit(beats)
    >>> lengths = duration_probabilities(model.model_.transitions.tables[1], 4)
    >>> lengths[np.argsort(model.emission_.means[:, 0])].round(2) + 0.0
    array([[0., 0., 1., 0.],
           [1., 0., 0., 0.]])
    """
    check_count(n_regimes, "n_regimes", 2)
    check_count(longest, "longest")
    first = np.zeros((n_regimes, longest))
    first[:, 0] = 1.0 / n_regimes
    settings = {"initial": InitialProbabilities(first.ravel()), **options}
    return StructuredModel(
        n_regimes * longest,
        emission,
        transitions=DurationTransitions(n_regimes, longest, family, regimes, hazards),
        shared_emissions=np.repeat(np.arange(n_regimes), longest),
        **settings,
    )
