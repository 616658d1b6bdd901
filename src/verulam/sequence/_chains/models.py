"""Hidden Markov models of several chains, multiplied out: factorial, coupled and switching."""

from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._chains.emissions import AdditiveEmission, ChainEmission
from verulam.sequence._chains.product_states import (
    ChainInitial,
    ChainTransitions,
    check_sizes,
    split_states,
)
from verulam.sequence._chains.structured_transitions import StructuredModel
from verulam.sequence._emissions.gaussian import GaussianEmission
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.emission import Emission


def factorial_model(
    sizes: Any, emission: Emission | None = None, *, tables: Any = None, **options: Any
) -> HiddenMarkovModel:
    """Return a model of chains that move by themselves and are seen together.

    Parameters
    ----------
    sizes
        Number of states of each chain.
    emission
        What combined states show; None for an `AdditiveEmission`.
    tables
        Transition matrix of each chain to start from.
    options
        Further arguments of `HiddenMarkovModel`.

    Notes
    -----
    The combined chain has as many states as there are combinations, and its matrix is the
    product of the chains' matrices, which are what is learned (Alpaydin 15.9, fig. 15.6b). For
    many chains, see `VariationalFactorial`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import factorial_model, split_states
    >>> slow, fast = np.repeat([0.0, 10.0], 20), np.tile([0.0, 0.0, 3.0, 3.0], 10)
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = factorial_model((2, 2), n_init=5, random_state=0).fit(slow + fast + noise)
    >>> split_states(model.predict(slow + fast), (2, 2)).shape
    (40, 2)
    """
    sizes = check_sizes(sizes)
    return StructuredModel(
        prod(sizes),
        emission if emission is not None else AdditiveEmission(sizes),
        transitions=ChainTransitions(sizes, tables=tables),
        **{"initial": ChainInitial(sizes=sizes), **options},
    )


def coupled_model(
    sizes: Any,
    emissions: Any = None,
    *,
    columns: Any = None,
    parents: Any = "all",
    tables: Any = None,
    **options: Any,
) -> HiddenMarkovModel:
    """Return a model of chains that act on one another, each with columns of its own.

    Parameters
    ----------
    sizes
        Number of states of each chain.
    emissions
        The emission of each chain; None for Gaussians.
    columns
        How many columns each chain shows, from left to right; None for one each.
    parents
        For each chain, the chains whose last states it depends on; "all" for all.
    tables
        Tables of the transitions to start from, see `ChainTransitions`.
    options
        Further arguments of `HiddenMarkovModel`.

    Notes
    -----
    Alpaydin 15.9, fig. 15.6c.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import align_states, coupled_model, split_states
    >>> leader = np.repeat([0.0, 5.0, 0.0, 5.0], 10)
    >>> follower = np.roll(leader, 1)
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=(40, 2))
    >>> X = np.column_stack([leader, follower]) + noise
    >>> model = coupled_model((2, 2), random_state=0).fit(X)
    >>> states = split_states(model.predict(X), (2, 2))
    >>> float(align_states(states[1:, 1], states[:-1, 0]).agreement)
    1.0
    """
    sizes = check_sizes(sizes)
    by_chain = tuple(GaussianEmission() for _ in sizes) if emissions is None else tuple(emissions)
    return StructuredModel(
        prod(sizes),
        ChainEmission(sizes, by_chain, None if columns is None else tuple(columns)),
        transitions=ChainTransitions(sizes, parents, tables),
        **{"initial": ChainInitial(sizes=sizes), **options},
    )


def switching_model(
    sizes: Any, emission: Emission | None = None, *, tables: Any = None, **options: Any
) -> HiddenMarkovModel:
    """Return a model of chains that all move, while a selector says which of them is seen.

    Parameters
    ----------
    sizes
        Number of states of each chain; the selector has one state per chain.
    emission
        What the states of all chains show, chain after chain; None for Gaussians.
    tables
        Transition matrix of the selector, then that of each chain, to start from.
    options
        Further arguments of `HiddenMarkovModel`.

    Notes
    -----
    Alpaydin 15.9, fig. 15.6d. The selector is the first of the combined chains, so that
    ``split_states(states, (len(sizes), *sizes))`` takes states apart.

    Examples
    --------
    >>> from verulam.sequence import switching_model
    >>> model = switching_model((2, 3))
    >>> model.n_states, model.shared_emissions.max() + 1
    (12, np.int64(5))
    """
    chains = check_sizes(sizes)
    whole = check_sizes((len(chains), *chains))
    if len(chains) < 2:
        raise DataError("A selector needs at least two chains to choose from.")
    states = split_states(np.arange(prod(whole)), whole)
    firsts = np.concatenate([[0], np.cumsum(chains)[:-1]])
    selector = states[:, 0]
    shared = firsts[selector] + states[np.arange(len(states)), 1 + selector]
    return StructuredModel(
        prod(whole),
        emission,
        transitions=ChainTransitions(whole, tables=tables),
        shared_emissions=shared,
        **{"initial": ChainInitial(sizes=whole), **options},
    )
