"""Answers by samples: Gibbs chains, and likelihood weighting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, DataWarning, Seed, generator, warn_caller
from verulam.graphical._factor import Factor, FactorModel, as_model, read_evidence
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._inference.answers import Posterior, check_targets
from verulam.graphical._inference.sampling_loops import gibbs_sweeps

#: A zero in a table counts as this, so that a chain that starts in an impossible state leaves it.
FLOOR = 1e-30
#: Rows that are drawn at a time.
BLOCK = 4096
#: Parts of a chain whose means tell how far its own mean may be off.
N_BATCHES = 20


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows drawn given evidence, each with a weight.

    Attributes
    ----------
    model
        Variables and factors.
    codes
        State numbers, one row for each sample.
    weights
        Weight of each row.
    log_evidence
        Estimate of the log probability of the evidence; NaN where the method gives none.
    method
        How they were drawn.
    """

    model: FactorModel
    codes: np.ndarray
    weights: np.ndarray
    log_evidence: float
    method: str

    @property
    def effective_size(self) -> float:
        """How many rows of equal weight are worth as much (Kish)."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    def posterior(self, targets: str | Sequence[str]) -> Posterior:
        """Return the weighted shares of the states of one variable or several.

        Parameters
        ----------
        targets
            Names.
        """
        names = check_targets(self.model, targets)
        states = tuple(self.model.states[name] for name in names)
        shape = tuple(map(len, states))
        places = np.ravel_multi_index(self._columns(names), shape)
        sums = np.bincount(places, self.weights, minlength=int(np.prod(shape)))
        return Posterior(
            names, states, (sums / sums.sum()).reshape(shape), self.log_evidence, self.method,
            len(self.codes),
        )  # fmt: skip

    def standard_error(self, name: str) -> np.ndarray:
        """Return the standard error of the share of each state of one variable.

        Parameters
        ----------
        name
            The variable.

        Notes
        -----
        From the spread of the estimates of consecutive batches of rows, which sees the dependence
        within a chain.
        """
        n_states = len(self.model.states[self.model.check_name(name)])
        column = self.codes[:, self.model.positions[name]]
        batches = np.array_split(np.arange(len(column)), N_BATCHES)
        sums = np.array([np.bincount(column[b], self.weights[b], n_states) for b in batches])
        totals = sums.sum(axis=1, keepdims=True)
        shares = sums.sum(axis=0) / totals.sum()
        # A ratio of two sums: its error is that of the residuals (the delta method).
        residuals = (sums - shares * totals) / totals.mean()
        return residuals.std(axis=0, ddof=1) / np.sqrt(N_BATCHES)

    def _columns(self, names: Sequence[str]) -> tuple[np.ndarray, ...]:
        return tuple(self.codes[:, self.model.positions[name]] for name in names)


def likelihood_weighting(
    network: Any,
    evidence: Mapping[str, Any] | None = None,
    *,
    n_samples: int = 20_000,
    random_state: Seed = None,
) -> SampledRows:
    """Draw rows from the network with observed nodes held, weighted by their likelihood.

    Parameters
    ----------
    network
        A Bayesian network.
    evidence
        What is known.
    n_samples
        How many rows.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.graphical import likelihood_weighting, sprinkler
    >>> rows = likelihood_weighting(sprinkler(), {"wet": "yes"}, random_state=1)
    >>> print(round(rows.posterior("sprinkler")["yes"], 2))
    0.42
    """
    _check_count("n_samples", n_samples)
    if not isinstance(getattr(network, "graph", None), DirectedGraph):
        raise DataError(f"network: expected a BayesianNetwork, not {type(network).__name__}.")
    model: FactorModel = network.model
    known = read_evidence(model, evidence)
    random = generator(random_state)
    codes = np.zeros((n_samples, len(model.states)), dtype=np.int16)
    log_weights = np.zeros(n_samples)
    for name in network.graph.order:
        place = model.positions[name]
        factor = model.factors[place]
        parents = tuple(codes[:, model.positions[parent]] for parent in factor.variables[:-1])
        if name in known.hard:
            codes[:, place] = known.hard[name]
            likelihood = np.broadcast_to(factor.values[(*parents, known.hard[name])], n_samples)
        else:
            # Without the last sum, which may miss one by rounding: the last state takes the rest.
            cumulative = np.cumsum(factor.values, axis=-1)[..., :-1]
            draws = random.random((n_samples, 1))
            codes[:, place] = (draws >= cumulative[parents]).sum(axis=1)
            if name not in known.soft:
                continue
            likelihood = known.soft[name][codes[:, place]]
        with np.errstate(divide="ignore"):
            log_weights += np.log(likelihood)
    largest = log_weights.max()
    if largest == -np.inf:
        raise DataError(
            f"None of {n_samples:,} samples agrees with the evidence: it is impossible or very "
            "rare; raise n_samples or use an exact method."
        )
    weights = np.exp(log_weights - largest)
    log_evidence = float(largest + np.log(weights.mean()))
    return SampledRows(model, codes, weights, log_evidence, "likelihood weighting")


def gibbs_sampling(
    model: Any,
    evidence: Mapping[str, Any] | None = None,
    *,
    n_samples: int = 20_000,
    n_burn_in: int = 1000,
    random_state: Seed = None,
) -> SampledRows:
    r"""Draw each variable in turn from its distribution given all others.

    Parameters
    ----------
    model
        A network, a field, or the variables and factors of one.
    evidence
        What is known.
    n_samples
        Sweeps whose states are taken as samples.
    n_burn_in
        Sweeps before those.
    random_state
        Seed.

    Notes
    -----
    :math:`P(x_i \mid x_{-i}) \propto` the product of the factors that hold :math:`x_i` (Geman and
    Geman 1984; Alpaydin 14.9). Where tables have zeros, the chain may not reach all states that
    are possible; a network with logical nodes is better asked by likelihood weighting.

    Examples
    --------
    >>> from verulam.graphical import gibbs_sampling, sprinkler
    >>> rows = gibbs_sampling(sprinkler().model, {"wet": "yes"}, random_state=1)
    >>> print(round(rows.posterior("sprinkler")["yes"], 2))
    0.42
    """
    _check_count("n_samples", n_samples)
    _check_count("n_burn_in", n_burn_in, 0)
    model = as_model(model)
    known = read_evidence(model, evidence)
    random = generator(random_state)
    factors = [*model.factors, *known.factors(model)]
    near, places, scopes, values = _flat_factors(model, factors)
    states = np.array([random.integers(n) for n in model.sizes], dtype=np.int64)
    for name, state in known.hard.items():
        states[model.positions[name]] = state
    free = np.array(
        [model.positions[name] for name in model.names if name not in known.hard], dtype=np.int64
    )
    codes = np.empty((n_samples, len(states)), dtype=np.int16)
    scores = np.empty(max(model.sizes))
    for start in (*range(-n_burn_in, 0, BLOCK), *range(0, n_samples, BLOCK)):
        stop = min(start + BLOCK, 0 if start < 0 else n_samples)
        draws = random.random((stop - start, len(free)))
        part = np.empty((stop - start, len(states)), dtype=np.int16)
        gibbs_sweeps(states, free, near, places, scopes, values, draws, scores, part)
        if start >= 0:
            codes[start:stop] = part
    weights = _possible_rows(model, factors, codes)
    return SampledRows(model, codes, weights, float("nan"), "gibbs")


def _possible_rows(model: FactorModel, factors: Sequence[Factor], codes: np.ndarray) -> np.ndarray:
    """Return 1 for rows that can occur and 0 for others, with a word where tables have zeros."""
    weights = np.ones(len(codes))
    split = []
    for factor in factors:
        places = tuple(codes[:, model.positions[name]] for name in factor.variables)
        if (factor.values == 0).any():
            weights *= factor.values[places] > 0
            if len(factor.variables) > 1:
                split.append(factor.variables[-1])
    if not weights.any():
        raise DataError(
            f"None of {len(codes):,} samples agrees with the evidence: it is impossible, or the "
            "chain cannot reach the states that agree; use an exact method."
        )
    if split:
        warn_caller(
            f"The table of {split[0]!r} has zeros, so that the chain may never reach some states "
            "that are possible; ask by likelihood weighting or by an exact method.",
            DataWarning,
        )
    return weights


def _flat_factors(
    model: FactorModel, factors: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return uses by variable, places, scopes and values of the factors, as the loop reads them."""
    offsets = np.concatenate([[0], np.cumsum([factor.values.size for factor in factors])])
    scopes: list[tuple[int, int]] = []
    spans = []
    for factor in factors:
        spans.append((len(scopes), len(factor.variables)))
        stride = factor.values.size
        for name in factor.variables:
            stride //= len(model.states[name])
            scopes.append((model.positions[name], stride))
    near: list[tuple[int, int, int]] = []
    places: list[tuple[int, int, int]] = []
    for name, n_states in zip(model.names, model.sizes, strict=True):
        uses = [k for k, factor in enumerate(factors) if name in factor.variables]
        near.append((len(places), len(uses), n_states))
        places += [(offsets[k], *spans[k]) for k in uses]
    values = np.concatenate([f.values.ravel() / f.values.max(initial=1e-300) for f in factors])
    return (
        np.array(near, dtype=np.int64).reshape(-1, 3),
        np.array(places, dtype=np.int64).reshape(-1, 3),
        np.array(scopes, dtype=np.int64).reshape(-1, 2),
        np.maximum(values, FLOOR),
    )


def _check_count(name: str, value: Any, low: int = 1) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < low:
        raise DataError(f"{name}: expected a whole number of at least {low}, not {value!r}.")
