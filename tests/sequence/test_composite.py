"""Composite models: connected decoding against the flat model, alternatives side by side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    compose_models,
    parallel_paths,
    smooth_states,
)
from verulam.sequence import emissions_from_logarithms as from_logarithms


def word(symbols, clarity=0.9):
    """Return a word that shows its symbols one after the other, each once or more."""
    n = len(symbols)
    steps = 0.5 * np.eye(n) + 0.5 * np.eye(n, k=1)
    steps[-1, -1] = 1.0
    table = clarity * np.eye(5)[symbols] + (1 - clarity) / 5
    return HiddenMarkovModel.from_parameters(
        np.eye(n)[0], steps, CategoricalEmission(probabilities=table)
    )


WORDS = {"abc": word([0, 1, 2]), "de": word([3, 4]), "ad": word([0, 3])}


def test_connected_words_are_cut():
    composite = compose_models(WORDS, leave=0.5)
    decoded = composite.decode([0, 1, 1, 2, 3, 4, 4, 0, 3])[0]
    assert [(part.name, part.start, part.stop) for part in decoded] == [
        ("abc", 0, 4),
        ("de", 4, 7),
        ("ad", 7, 9),
    ]


def test_a_word_may_follow_itself():
    composite = compose_models({"de": word([3, 4])}, leave=0.5)
    assert [part.name for part in composite.decode([3, 4, 3, 4, 3, 4])[0]] == ["de"] * 3


def test_grammar_forbids():
    grammar = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    composite = compose_models(WORDS, grammar, initial=[1.0, 0.0, 0.0], leave=0.5)
    names = [part.name for part in composite.decode([0, 1, 2, 0, 3, 0, 1, 2])[0]]
    assert names[0] == "abc"
    assert "ad" not in names


def test_composite_is_one_flat_distribution():
    composite = compose_models(WORDS)
    assert_allclose(composite.transitions.matrix.sum(axis=1), 1.0)
    assert_allclose(composite.initial.sum(), 1.0)
    logarithms, sequences = composite.log_emissions([0, 1, 3])
    smoothed = smooth_states(
        from_logarithms(logarithms), sequences.starts, composite.initial, composite.transitions
    )
    total = sum(
        composite.initial[path[0]]
        * np.prod(composite.transitions.matrix[path[:-1], path[1:]])
        * np.exp(logarithms[range(3), path].sum())
        for path in np.ndindex(7, 7, 7)
    )
    assert_allclose(np.exp(smoothed.log_likelihoods[0]), total)


def test_pronunciations_side_by_side():
    one, two = word([0, 1]), word([0, 2])
    initial, matrix = parallel_paths([one, two], [0.25, 0.75])
    table = np.vstack([one.emission_.probabilities, two.emission_.probabilities])
    both = HiddenMarkovModel.from_parameters(
        initial, matrix, CategoricalEmission(probabilities=table)
    )
    for spoken in ([0, 1], [0, 0, 2]):
        expected = 0.25 * np.exp(one.score(spoken)) + 0.75 * np.exp(two.score(spoken))
        assert_allclose(np.exp(both.score(spoken)), expected)


def test_grammar_must_be_distributions():
    with pytest.raises(DataError, match="row 0 of grammar"):
        compose_models(WORDS, np.ones((3, 3)))
