"""Abilities are read off the estimator, ours or borrowed."""

import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KernelDensity

from verulam.base import Abilities, abilities
from verulam.parametric import GaussianDensity, LeastSquares, NaiveBayes


def test_naive_bayes_can_do_almost_everything():
    able = abilities(NaiveBayes())
    assert able.task == "classification"
    assert set(able.tags) == {
        "probabilistic",
        "incremental",
        "additive",
        "sample_weights",
        "categorical",
        "missing",
    }


@pytest.mark.parametrize(
    ("learner", "task"),
    [
        (LinearRegression(), "regression"),
        (LeastSquares(), "regression"),
        (KMeans(), "clustering"),
        (PCA(), "transformation"),
        (KernelDensity(), "density"),
        (GaussianDensity(), "density"),
    ],
)
def test_task(learner, task):
    assert abilities(learner).task == task


def test_names_list_every_tag():
    assert set(abilities(NaiveBayes()).tags) <= set(Abilities.names())
    assert "task" not in Abilities.names()
