"""Bags of parts: inner products against explicit tables."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.feature_extraction import DictVectorizer

from verulam.kernel import SpectrumKernel
from verulam.kernel._object_kernels.bags import shared_parts

BAGS = [{"a": 2, "b": 1}, {"b": 3, "c": 0.5}, {}, {"d": 4}]


def test_inner_products_are_those_of_written_out_tables():
    table = DictVectorizer(sparse=False).fit_transform(BAGS)
    assert_allclose(shared_parts(BAGS, BAGS), table @ table.T)
    assert_allclose(shared_parts(BAGS[:2], BAGS[1:]), table[:2] @ table[1:].T)


def test_nothing_in_common_and_nothing_at_all():
    assert_allclose(shared_parts([{"x": 1}], BAGS), np.zeros((1, 4)))
    assert_allclose(shared_parts([{}], [{}]), [[0.0]])


def test_diagonal_is_that_of_the_gram_matrix():
    words = ["banana", "ananas", "", "b"]
    kernel = SpectrumKernel(length=2, shorter=True)
    assert_allclose(kernel.diagonal(words), np.diagonal(kernel(words)))
