"""The triple trade-off: response against training rows and complexity."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError, UnknownNameError
from verulam.experiment import DataChoice, LearnerChoice, analyse, learning_surface, report, run

DEGREES = [1, 2, 3, 5, 8]


@pytest.fixture(scope="module")
def cubic(tmp_path_factory):
    """Return a study of polynomials, of several degrees, on few and on many rows of a cubic."""
    random = np.random.default_rng(3)
    x = random.uniform(-2, 2, 400)
    table = pd.DataFrame({"x": x, "y": x**3 - 2 * x + random.normal(0, 1.0, 400)})
    learner = LearnerChoice("polynomial regression", label="p", factors={"degree": DEGREES})
    mean = LearnerChoice("mean predictor")
    study = small_study(
        data=[DataChoice(table, target="y", label="cubic")],
        learners=[mean, learner],
        training_shares=[0.06, 0.2, 1.0],
        resampling="5x2",
    )
    path = tmp_path_factory.mktemp("cubic") / "r.sqlite"
    return run(study, path, engine="serial", progress=False)


def test_error_falls_with_rows_and_is_u_shaped_in_complexity(cubic):
    surface = learning_surface(cubic, "degree")
    assert list(surface.index) == [12, 40, 200]
    assert list(surface.columns) == DEGREES
    assert (surface.diff().iloc[1:].to_numpy() < 0).mean() > 0.8
    assert (surface.iloc[0] > surface.iloc[-1]).all()
    assert surface.loc[200].idxmin() in (3, 5)
    assert surface.loc[200, 3] < 0.8 * surface.loc[200, 2]
    # With few rows, the richest model is the worst; with many, it does hardly any harm.
    assert surface.loc[12].idxmax() == 8
    assert surface.loc[200, 8] < 1.1 * surface.loc[200, 3] < surface.loc[200, 1]


def test_the_report_draws_it(cubic, tmp_path):
    page = report(analyse(cubic), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "p on cubic: degree and training rows" in page


def test_other_factors_learners_and_data_are_named(cubic):
    with pytest.raises(UnknownNameError, match="factor 'depth'"):
        learning_surface(cubic, "depth")
    with pytest.raises(UnknownNameError, match="learner with that factor 'mean predictor'"):
        learning_surface(cubic, "degree", learner="mean predictor")
    with pytest.raises(UnknownNameError, match="data set 'iris'"):
        learning_surface(cubic, "degree", data="iris")


def test_one_share_makes_no_surface(tmp_path):
    learner = LearnerChoice("decision tree", factors={"max_depth": [1, 2, 3]})
    study = small_study(learners=[learner], resampling="2-fold")
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    with pytest.raises(DataError, match="the study has one training share"):
        learning_surface(results, "max_depth")
