"""Stores that many tests read."""

import pytest

from verulam.experiment import DataChoice, LearnerChoice, Study, run


@pytest.fixture(scope="session")
def several_store(tmp_path_factory):
    """Carry out a small study of four data sets."""
    path = tmp_path_factory.mktemp("several") / "several.sqlite"
    names = ("iris", "wine", "penguins", "breast_cancer")
    learners = [LearnerChoice(name) for name in ("majority class", "nearest mean", "naive bayes")]
    study = Study("several", [DataChoice(name) for name in names], learners, resampling="3-fold")
    run(study, path, engine="serial", progress=False)
    return path
