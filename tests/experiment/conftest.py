"""Stored studies that the tests of analysis and report share; each is run once."""

import pytest
from tests.experiment.finished import birds, finish

from verulam.experiment import DataChoice, LearnerChoice, Study, run

BASELINE, BAYES, MEANS = (
    LearnerChoice("majority class"),
    LearnerChoice("naive bayes"),
    LearnerChoice("nearest mean"),
)


@pytest.fixture(scope="session")
def make_results(tmp_path_factory):
    """Return a function that carries out a study and returns its results."""

    def make(learners, data=("iris",), **options):
        path = tmp_path_factory.mktemp("study") / "runs.sqlite"
        choices = [DataChoice(each) if isinstance(each, str) else each for each in data]
        study = Study("flowers", choices, learners, **options)
        return run(study, path, engine="serial", progress=False)

    return make


@pytest.fixture(scope="session")
def two(make_results):
    """Return a baseline and a learner on one data set, by 5x2."""
    return make_results([BASELINE, BAYES], resampling="5x2")


@pytest.fixture(scope="session")
def factors(make_results):
    """Return a learner with a factor and two shares of training rows, on two classes."""
    nearest = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [15, 1]})
    learners = [BAYES, nearest, BASELINE]
    options = {"resampling": "3-fold", "training_shares": [0.5, 1.0]}
    return make_results(learners, ["breast_cancer"], **options)


@pytest.fixture(scope="session")
def several(make_results):
    """Return three learners on three data sets."""
    learners = [BASELINE, MEANS, BAYES]
    return make_results(learners, ["iris", "wine", "penguins"], resampling="3-fold")


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return a finished study of the penguins with losses, and naive Bayes as its model."""
    return finish(birds(), tmp_path_factory.mktemp("finished"))
