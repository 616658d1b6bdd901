"""Bayesian learners in the experiment half: compared by name, by coverage, by density, in front."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from verulam.bayes import (
    BayesianGaussianMixture,
    BinaryFactors,
    LatentDirichletAllocation,
    draw_documents,
)
from verulam.data import dataset
from verulam.experiment import Study, compare, run
from verulam.experiment._preparation.preparation import prepared

REGRESSORS = [
    "Bayesian linear regression", "normal gamma regression", "variational regression",
    "Gaussian process regressor",
]  # fmt: skip


def lines(n_rows=90):
    random = np.random.default_rng(0)
    x = random.uniform(-1.0, 1.0, n_rows)
    return pd.DataFrame({"x": x, "y": 2.0 * x + random.normal(scale=0.5, size=n_rows)})


def test_regressors_are_compared_by_the_coverage_of_their_intervals():
    ranking = compare(
        lines(), REGRESSORS, target="y", measure="interval_coverage", resampling="3-fold",
        random_state=0, progress=False,
    ).ranking()  # fmt: skip
    assert len(ranking) == 4
    # Two standard errors of a share of 90 rows to either side.
    assert ranking["mean"].between(0.9, 0.99).all()


def test_classifiers_are_compared_by_name():
    names = ["Gaussian process classifier", "Bayesian logistic regression", "majority class"]
    names.append("Bayesian Gaussian classifier")
    ranking = compare(
        "iris", names, resampling="3-fold", random_state=0, progress=False
    ).ranking()  # fmt: skip
    assert (ranking["mean"].drop("majority class") < 0.1).all()
    assert ranking.loc["majority class", "mean"] == pytest.approx(2 / 3, abs=0.02)


def test_mixtures_are_compared_by_the_likelihood_of_rows_set_aside():
    learners = {str(k): BayesianGaussianMixture(k, estimate="full") for k in (1, 3)}
    means = compare(
        "iris", learners, task="density", resampling="3-fold", random_state=0, progress=False
    ).ranking()["mean"]
    assert means["3"] > means["1"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_topics_and_factors_stand_in_front_of_a_classifier():
    corpus = draw_documents(120, 3, 30, lengths=40, random_state=0)
    table = pd.DataFrame(corpus.counts.toarray()).add_prefix("word ")
    table["kind"] = np.array(["sport", "art", "law"])[corpus.proportions.argmax(axis=1)]
    brief = {"n_iter": 60, "burn_in": 30}
    learners = {
        "topics": make_pipeline(LatentDirichletAllocation(3, **brief), LogisticRegression()),
        "factors": make_pipeline(BinaryFactors(3, **brief), LogisticRegression()),
        "most frequent": "majority class",
    }
    means = compare(
        table, learners, target="kind", resampling="2-fold", random_state=0, progress=False
    ).ranking()["mean"]
    assert means["topics"] < 0.1
    assert means["factors"] < 0.2
    assert means["most frequent"] > 0.5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_factors_are_a_preparation_of_a_study(tmp_path):
    wine = dataset("wine")
    ready = prepared(LogisticRegression(), wine.inputs, how="binary factors 3")
    assert ready.words == "numbers scaled, then probabilities of 3 binary factors"
    factors = ready.transformer[-1]
    assert isinstance(factors, BinaryFactors)
    assert factors.n_components == 3
    study = Study(
        "x", ["wine"], ["naive bayes"], preparations=["binary factors 4"], resampling="2-fold"
    )
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 2}
    assert results.scores(["error"])["error"].mean() < 0.35
