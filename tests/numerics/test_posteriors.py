"""Bayes' rule as methods."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.numerics import PosteriorMixin


class Fixed(PosteriorMixin):
    classes_ = np.array(["a", "b"])

    def _joint_log_likelihood(self, X):
        return np.log(np.asarray(X, dtype=float))


def test_posteriors_are_normalised_joints():
    rows = [[0.028, 0.007], [0.1, 0.3]]
    assert_allclose(Fixed().predict_proba(rows), [[0.8, 0.2], [0.25, 0.75]])
    assert_allclose(np.exp(Fixed().predict_log_proba(rows)), [[0.8, 0.2], [0.25, 0.75]])
    assert_array_equal(Fixed().predict(rows), ["a", "b"])


def test_the_joint_must_be_defined():
    with pytest.raises(NotImplementedError, match="PosteriorMixin must define"):
        PosteriorMixin().predict([[0.0]])
