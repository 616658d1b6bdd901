"""Samples suit the task."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB

from verulam.testing._samples import fitted, sample_for


def test_targets_follow_the_task():
    assert set(sample_for(GaussianNB()).targets) == {"a", "b", "c"}
    assert sample_for(LinearRegression()).targets.dtype == np.float64
    assert sample_for(KMeans()).targets is None


def test_inputs_follow_the_tags():
    assert (sample_for(MultinomialNB()).inputs >= 0).all()
    assert (sample_for(GaussianNB()).inputs < 0).any()


def test_a_class_may_bring_its_own():
    class Special(GaussianNB):
        @classmethod
        def _example_data(cls):
            return np.eye(2), np.array([0, 1])

    assert sample_for(Special()).inputs.shape == (2, 2)


def test_rows_and_seed():
    sample = sample_for(LogisticRegression())
    assert len(sample.rows(slice(5)).targets) == 5
    assert fitted(LogisticRegression(), sample).random_state == 0
