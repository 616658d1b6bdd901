"""Answers where exact tables would be too large: by weighted samples, and by climbing from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verulam.graphical._factor import Factor, FactorModel, read_evidence
from verulam.graphical._inference.sampling import SampledRows, likelihood_weighting

#: Samples of which the most probable are climbed from, and how many of these.
N_DRAWN, N_STARTS = 2_000, 50


def sampled_marginals(
    network: Any, codes: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return all marginals of each row side by side, and the log probability of its evidence."""
    marginals = np.empty((len(codes), sum(network.model.sizes)))
    log_evidence = np.empty(len(codes))
    for row, states in enumerate(codes):
        sampled = likelihood_weighting(network, labels_of(network, states), random_state=random)
        marginals[row] = _shares(sampled)
        log_evidence[row] = sampled.log_evidence
    return marginals, log_evidence


def labels_of(network: Any, states: np.ndarray) -> dict[str, Any]:
    """Return the observed states of a row by their labels."""
    pairs = zip(network.nodes, states, strict=True)
    return {name: network.states[name][k] for name, k in pairs if k >= 0}


def _shares(sampled: SampledRows) -> np.ndarray:
    columns = [
        np.bincount(sampled.codes[:, place], sampled.weights, minlength=n_states)
        for place, n_states in enumerate(sampled.model.sizes)
    ]
    return np.concatenate(columns) / sampled.weights.sum()


def climbed_states(
    network: Any, evidence: Mapping[str, Any] | None, random: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Return the most probable states that climbing from samples comes to, and their log.

    The log probability has that of soft evidence in it.
    """
    model: FactorModel = network.model
    sampled = likelihood_weighting(network, evidence, n_samples=N_DRAWN, random_state=random)
    known = read_evidence(model, evidence)
    logs = [
        (factor, np.log(factor.values, out=np.full(factor.values.shape, -np.inf), where=mask))
        for factor in (*model.factors, *known.factors(model))
        for mask in (factor.values > 0,)
    ]
    states = np.unique(sampled.codes[sampled.weights > 0], axis=0).astype(np.int64)
    best = np.argsort(-_scores(model, logs, states), kind="stable")[:N_STARTS]
    states = states[best]
    free = [name for name in model.names if name not in known.hard]
    _climb(model, logs, states, free)
    scores = _scores(model, logs, states)
    winner = int(scores.argmax())
    return states[winner], float(scores[winner])


def _climb(
    model: FactorModel,
    logs: Sequence[tuple[Factor, np.ndarray]],
    states: np.ndarray,
    free: Sequence[str],
) -> None:
    """Give each variable in turn its best state, in all rows at once, until none changes."""
    rows = np.arange(len(states))
    near = {name: [pair for pair in logs if name in pair[0].variables] for name in free}
    changed = True
    while changed:
        changed = False
        for name in free:
            place = model.positions[name]
            scores = np.zeros((len(states), model.sizes[place]))
            for factor, table in near[name]:
                others = [other for other in factor.variables if other != name]
                table = np.moveaxis(table, factor.variables.index(name), -1)
                scores += table[tuple(states[:, model.positions[other]] for other in others)]
            # A tie changes nothing, so that no row goes in circles.
            better = scores.max(axis=1) > scores[rows, states[:, place]] + 1e-12
            states[better, place] = scores[better].argmax(axis=1)
            changed |= bool(better.any())


def _scores(
    model: FactorModel, logs: Sequence[tuple[Factor, np.ndarray]], states: np.ndarray
) -> np.ndarray:
    """Return the log probability of each row of states."""
    total = np.zeros(len(states))
    for factor, table in logs:
        total += table[tuple(states[:, model.positions[name]] for name in factor.variables)]
    return total
