"""String kernels: by definition, hand-computed distances, inner products or not."""

from itertools import combinations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import (
    EditKernel,
    SpectrumKernel,
    SubsequenceKernel,
    edit_distances,
    gram_report,
)
from verulam.kernel._object_kernels import strings_loops as loops
from verulam.kernel._object_kernels.strings import _encode_both

WORDS = ["gatta", "cata", "atlas", "tag", "catalogue", "", "a", "gattaca"]


def subsequences(word, length, decay):
    """Return the feature of each subsequence: the sum of decay to the letters it spans."""
    features = {}
    for places in combinations(range(len(word)), length):
        key = "".join(word[place] for place in places)
        features[key] = features.get(key, 0.0) + decay ** (places[-1] - places[0] + 1)
    return features


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_subsequence_kernel_by_enumeration(length, decay):
    features = [subsequences(word, length, decay) for word in WORDS]
    expected = [
        [sum(value * other.get(key, 0.0) for key, value in one.items()) for other in features]
        for one in features
    ]
    assert_allclose(SubsequenceKernel(length, decay)(WORDS), expected)


def test_spectrum_by_enumeration():
    for first in WORDS:
        for second in WORDS:
            pairs = sum(
                first[a : a + 2] == second[b : b + 2]
                for a in range(len(first) - 1)
                for b in range(len(second) - 1)
            )
            assert SpectrumKernel(2)([first], [second]) == pairs
    one, two = SpectrumKernel(1)(WORDS), SpectrumKernel(2)(WORDS)
    assert_allclose(SpectrumKernel(2, shorter=True)(WORDS), one + two)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("kitten", "sitting", 3),
        ("sunday", "saturday", 3),
        ("", "abc", 3),
        ("abc", "abc", 0),
        ("flaw", "lawn", 2),
    ],
)
def test_hand_computed_distances(first, second, distance):
    assert edit_distances([first], [second]) == distance
    assert edit_distances([second], [first]) == distance


def test_costs_of_operations():
    assert edit_distances(["ab"], ["abc"], insertion=2.5) == 2.5
    assert edit_distances(["abc"], ["ab"], deletion=0.5) == 0.5
    # A substitution that costs more than a deletion and an insertion is never used.
    assert edit_distances(["a"], ["b"], substitution=9.0) == 2.0


def test_distance_is_a_metric():
    gaps = edit_distances(WORDS)
    assert_allclose(gaps, gaps.T)
    assert (gaps[:, None] <= gaps[:, :, None] + gaps.T[None] + 1e-12).all()


def test_sequences_of_any_symbols():
    assert edit_distances([["to", "be"]], [["not", "to", "be"]]) == 1
    assert SpectrumKernel(2)([("x", "y", "z")], [["y", "z"]]) == 1


@pytest.mark.parametrize("kernel", [SpectrumKernel(2), SubsequenceKernel(2)])
def test_gram_matrix_is_one(kernel):
    assert gram_report(kernel(WORDS))


def test_edit_kernel_is_the_exponential_of_the_distance():
    kernel = EditKernel(width=3.0)
    assert_allclose(kernel(WORDS), np.exp(-edit_distances(WORDS) / 3.0))
    assert_allclose(kernel.diagonal(WORDS), 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpectrumKernel(0), "length must be a whole number above 0"),
        (lambda: SubsequenceKernel(decay=1.5), "decay must be above 0 and at most 1"),
        (lambda: EditKernel(width=-1.0), "width must be a finite number above 0"),
        (lambda: EditKernel(insertion=2.0), "must cost the same"),
        (lambda: SpectrumKernel()([1.5]), "input 0 must be a string"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loops_equal_their_python_source():
    first, second = _encode_both(np.array(WORDS, dtype=object), np.array(WORDS[:4], dtype=object))
    strings = first.codes, first.starts, second.codes, second.starts
    for loop, options in (
        (loops.edit_distances, (1.0, 2.0, 1.5)),
        (loops.subsequence_products, (2, 0.5)),
    ):
        assert_allclose(loop(*strings, *options), loop.py_func(*strings, *options))
