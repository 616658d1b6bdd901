"""Small applications: evolution, text by topics, a story over days, and a hierarchy of rates."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import beta, binom

from verulam.base import DataError
from verulam.graphical._dynamic import BEFORE, DynamicNetwork
from verulam.graphical._network.conditionals import Table
from verulam.graphical._network.network import BayesianNetwork

BASES = ("A", "C", "G", "T")


def phylogeny(branches: Mapping[str, tuple[str, float]], *, root: str = "root") -> BayesianNetwork:
    r"""Return the network of one site of DNA along a tree of species.

    Parameters
    ----------
    branches
        For each species its ancestor and the evolutionary distance to it, in expected changes of
        a site.
    root
        Name of the first ancestor.

    Notes
    -----
    Sites change by Jukes and Cantor's model: after distance t a base is the same with probability
    :math:`\frac{1}{4} + \frac{3}{4} e^{-4t/3}` and each other one with
    :math:`\frac{1}{4} - \frac{1}{4} e^{-4t/3}`. Summing out the ancestors from the leaves up is
    Felsenstein's (1981) pruning. See Alpaydin 14.9.

    Examples
    --------
    >>> from verulam.graphical import phylogeny
    >>> tree = phylogeny({"ape": ("root", 0.2), "human": ("ape", 0.05), "chimp": ("ape", 0.05)})
    >>> round(tree.query("chimp", {"human": "A"})["A"], 3)
    0.906
    """
    conditionals = {root: Table(BASES, np.full(4, 0.25))}
    for name, branch in branches.items():
        if isinstance(branch, str) or np.shape(branch) != (2,):
            raise DataError(
                f"branches: {name!r} has {branch!r}; expected a pair (ancestor, distance)."
            )
        ancestor, distance = branch
        if not np.isfinite(distance) or distance < 0:
            raise DataError(f"branches: the distance of {name!r} is {distance!r}, below 0.")
        other = 0.25 - 0.25 * np.exp(-4.0 * distance / 3.0)
        change = np.full((4, 4), other) + np.eye(4) * (1.0 - 4.0 * other)
        conditionals[name] = Table(BASES, change, (ancestor,))
    return BayesianNetwork(conditionals)


def log_likelihood_of_sites(network: BayesianNetwork, sequences: Mapping[str, str]) -> float:
    """Return the log-likelihood of aligned sequences, the sites taken as independent.

    Parameters
    ----------
    network
        A tree of species, such as `phylogeny` returns.
    sequences
        Aligned letters of some species; other signs than A, C, G and T are unknown.

    Examples
    --------
    >>> from verulam.graphical import log_likelihood_of_sites, phylogeny
    >>> near = phylogeny({"a": ("root", 0.1), "b": ("root", 0.1)})
    >>> far = phylogeny({"a": ("root", 2.0), "b": ("root", 2.0)})
    >>> alike = {"a": "ACGTAC", "b": "ACGTAA"}
    >>> log_likelihood_of_sites(near, alike) > log_likelihood_of_sites(far, alike)
    True
    """
    lengths = {len(sequence) for sequence in sequences.values()}
    if len(lengths) != 1:
        raise DataError("sequences: expected aligned sequences of one length.")
    sites = pd.DataFrame({name: list(sequence.upper()) for name, sequence in sequences.items()})
    return float(network.log_evidence(sites.where(sites.isin(BASES), None)).sum())


def topic_text(
    topics: ArrayLike, words: ArrayLike, vocabulary: Sequence[str], n_words: int
) -> BayesianNetwork:
    """Return a generator of short texts: a topic for each text, words given the topic.

    Parameters
    ----------
    topics
        Probability of each topic.
    words
        Probability of each word in each topic, one row for each topic.
    vocabulary
        The words.
    n_words
        Words of a text.

    Examples
    --------
    >>> from verulam.graphical import topic_text
    >>> words = [[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]]
    >>> text = topic_text([0.5, 0.5], words, ["goal", "team", "vote"], 2)
    >>> round(text.query("topic", {"word 0": "goal", "word 1": "team"})[0], 3)
    0.952
    """
    shares = np.asarray(topics, dtype=np.float64)
    table = Table(tuple(vocabulary), np.asarray(words, dtype=np.float64), ("topic",))
    conditionals = {"topic": Table(tuple(range(len(shares))), shares)}
    return BayesianNetwork(conditionals | {f"word {k}": table for k in range(n_words)})


def story_over_days(
    topics: ArrayLike, words: ArrayLike, vocabulary: Sequence[str], *, persistence: float = 0.9
) -> DynamicNetwork:
    """Return a topic that stays from day to day, and a headline's word for each day.

    Parameters
    ----------
    topics, words, vocabulary
        As for `topic_text`.
    persistence
        Probability that the story goes on the next day; otherwise a topic is drawn anew.

    Notes
    -----
    Alpaydin, exercise 14.9: news of successive days share a topic.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.graphical import story_over_days
    >>> words = [[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]]
    >>> days = story_over_days([0.5, 0.5], words, ["goal", "team", "vote"])
    >>> seen = pd.DataFrame({"word": ["goal", None, "team"]})
    >>> round(float(days.smooth(seen, "topic").iloc[1, 0]), 3)
    0.931
    """
    if not 0 <= persistence <= 1:
        raise DataError(f"persistence: expected a probability, not {persistence!r}.")
    shares = np.asarray(topics, dtype=np.float64)
    labels = tuple(range(len(shares)))
    word = Table(tuple(vocabulary), np.asarray(words, dtype=np.float64), ("topic",))
    change = persistence * np.eye(len(shares)) + (1 - persistence) * shares
    return DynamicNetwork(
        {"topic": Table(labels, shares), "word": word},
        {"topic": Table(labels, change, (f"{BEFORE}topic",)), "word": word},
    )


def rate_hierarchy(
    n_groups: int, n_trials: int, *, n_levels: int = 9, concentration: float = 8.0
) -> BayesianNetwork:
    """Return a hierarchy: a mean rate, a rate of each group around it, and successes of each.

    Parameters
    ----------
    n_groups
        Groups, such as schools or hospitals.
    n_trials
        Trials of each group.
    n_levels
        Levels that rates are cut into.
    concentration
        How near the rates of the groups are to the mean: beta(c m, c (1 - m)).

    Notes
    -----
    Hyperparameters are nodes like all others: what one group shows tells of the mean, and through
    it of the other groups (Alpaydin 14.9, 16.1).

    Examples
    --------
    >>> from verulam.graphical import rate_hierarchy
    >>> network = rate_hierarchy(2, 10)
    >>> before = network.query("rate 1").values
    >>> after = network.query("rate 1", {"successes 0": 9}).values
    >>> bool(after[-1] > before[-1])
    True
    """
    if n_groups < 1 or n_trials < 1 or n_levels < 2:
        raise DataError("Expected at least one group, one trial and two levels.")
    levels = (np.arange(n_levels) + 0.5) / n_levels
    edges = np.linspace(0, 1, n_levels + 1)
    names = tuple(float(round(level, 4)) for level in levels)
    centres = levels[:, np.newaxis]
    spread = beta.cdf(edges, concentration * centres, concentration * (1 - centres))
    rates = np.diff(spread, axis=1)
    counts = np.arange(n_trials + 1)
    chances = binom.pmf(counts, n_trials, centres)
    conditionals = {"mean": Table(names, np.full(n_levels, 1.0 / n_levels))}
    for k in range(n_groups):
        conditionals[f"rate {k}"] = Table(names, rates, ("mean",))
        conditionals[f"successes {k}"] = Table(tuple(counts.tolist()), chances, (f"rate {k}",))
    return BayesianNetwork(conditionals)
