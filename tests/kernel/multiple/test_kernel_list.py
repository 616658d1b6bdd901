"""Several kernels: one scale for all, the usual ones, kinds that do not go together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import Gaussian, Linear, MultipleKernelClassifier, ObjectKernel
from verulam.kernel._multiple.kernel_list import open_kernels, usual_kernels

X = np.random.default_rng(0).normal(size=(20, 3))


def test_every_kernel_has_variance_one():
    _, grams = open_kernels(MultipleKernelClassifier(), [Linear(), 7.0 * Gaussian(2.0)], X)
    for gram in grams:
        assert_allclose(np.trace(gram) - gram.sum() / 20, 20)


def test_new_rows_are_on_the_scale_of_the_gram_matrix():
    several, grams = open_kernels(MultipleKernelClassifier(), ["linear", "rbf"], X)
    for place in range(2):
        assert_allclose(several.against(X, place, np.arange(20)), grams[place])


def test_usual_kernels_have_widths_about_that_of_the_data():
    widths = [kernel.width for kernel in usual_kernels(X)[2:]]
    assert_allclose(widths, np.array([0.5, 1.0, 2.0]) * Gaussian().adapted(X).width)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([], "one kernel or more"),
        (["precomputed", "precomputed"], "these compare gram"),
        ([Linear(), ObjectKernel(lambda first, second: 1.0)], "compare objects and rows"),
    ],
)
def test_kernels_that_do_not_go_together(kernels, message):
    with pytest.raises(DataError, match=message):
        open_kernels(MultipleKernelClassifier(), kernels, X)
