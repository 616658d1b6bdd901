"""Composite models: connected decoding against the flat model, alternatives side by side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    CompositeHMM,
    CompositeSegment,
    HiddenMarkovModel,
    LogisticTransitions,
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


IN_ORDER = [[0.0, 1.0], [0.0, 0.0]]


def phrase(first, second):
    """Return a word made of two phones in that order."""
    parts = {"one": word(first), "two": word(second)}
    return compose_models(parts, IN_ORDER, initial=[1.0, 0.0], leave=0.5)


def test_phones_make_words_and_words_make_sentences():
    words = {"abcd": phrase([0, 1], [2, 3]), "ed": phrase([4], [3])}
    sentence = compose_models(words, [[0.1, 0.9], [0.9, 0.1]], leave=0.5)
    assert_allclose(sentence.transitions.matrix.sum(axis=1), 1.0)
    heard = [0, 1, 1, 2, 3, 4, 4, 3, 0, 1, 2, 2, 3]
    decoded = sentence.decode(heard)[0]
    assert [(part.name, part.start, part.stop) for part in decoded] == [
        ("abcd", 0, 5),
        ("ed", 5, 8),
        ("abcd", 8, 13),
    ]
    inner = [(part.name, part.start, part.stop) for part in decoded[2].inner]
    assert inner == [("one", 8, 10), ("two", 10, 13)]


def test_a_word_ends_where_nothing_follows():
    # Only the last phone of a word leads to another word, and never back into its own first one.
    made = phrase([0, 1], [2, 3])
    assert made.exits.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert not made.transitions.matrix[2:, :2].any()
    sentence = compose_models({"w": made, "v": phrase([4], [0])}, leave=0.25)
    from_last = sentence.transitions.matrix[3]
    assert_allclose(from_last, [0.125, 0.0, 0.0, 0.75, 0.125, 0.0])
    assert not sentence.transitions.matrix[:3, 4:].any()
    free = compose_models({"one": word([0, 1]), "two": word([2, 3])}, leave=0.5)
    assert free.exits.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_a_grammar_of_sentences_decides_what_is_heard():
    words = {"a": phrase([0], [1]), "b": phrase([0], [1]), "c": phrase([2], [3])}
    for follower in (0, 1):
        grammar = np.zeros((3, 3))
        grammar[2, follower] = 1.0
        grammar[:2, 2] = 1.0
        sentence = compose_models(words, grammar, initial=[0.0, 0.0, 1.0], leave=0.5)
        names = [part.name for part in sentence.decode([2, 3, 0, 1, 2, 3])[0]]
        assert names == ["c", "ab"[follower], "c"]


def test_grammar_has_a_row_for_each_part():
    with pytest.raises(DataError, match="grammar has shape"):
        compose_models(WORDS, np.eye(2))


def test_lists_and_lengths_are_cut_alike():
    composite = compose_models(WORDS, leave=0.5)
    assert composite.decode([[0, 1, 2], [3, 4]]) == composite.decode(
        [0, 1, 2, 3, 4], lengths=[3, 2]
    )


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ({}, {}, "no parts to join"),
        ({"a": 3}, {}, "A part is int; expected a HiddenMarkovModel"),
        (WORDS, {"leave": 2.0}, "leave is 2.0; expected a probability"),
        (WORDS, {"leave": 0.0}, "leave is 0.0; expected a probability"),
    ],
)
def test_what_cannot_be_joined(parts, options, message):
    with pytest.raises(DataError, match=message):
        compose_models(parts, **options)
    with pytest.raises(NotFittedError):
        compose_models({"a": HiddenMarkovModel()})
    with pytest.raises(DataError, match="no parts to join"):
        parallel_paths([])


def test_parts_must_not_depend_on_inputs():
    x = np.repeat([-1.0, 1.0], 20)
    moved = HiddenMarkovModel(2, transitions=LogisticTransitions(), random_state=0)
    moved.fit(x + np.tile([0.1, -0.1], 20), inputs=x)
    with pytest.raises(DataError, match="the same at every step"):
        compose_models({"a": moved})


def test_segments_lie_within_the_composite_that_they_came_from():
    pair = compose_models(
        {name: WORDS[name] for name in ("abc", "de")}, [[0, 1], [0, 0]], initial=[1, 0], leave=0.5
    )
    assert isinstance(pair, CompositeHMM)
    assert pair.owners.tolist() == [0, 0, 0, 1, 1]
    assert pair.exits.tolist() == [0, 0, 0, 0, 1]
    both = compose_models({"pair": pair}, leave=0.5)
    inner = CompositeSegment("abc", 0, 3), CompositeSegment("de", 3, 5)
    assert both.decode([0, 1, 2, 3, 4]) == [[CompositeSegment("pair", 0, 5, inner)]]
