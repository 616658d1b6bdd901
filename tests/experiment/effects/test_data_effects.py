"""Effects over several data sets: agreement with nested models, fractions over data sets."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, analyse, report, run
from verulam.experiment._effects.data_effects import ABOUT_MEANS

FACTORS = {"n_neighbors": [1, 5, 9], "weights": ["uniform", "distance"]}
DATA = [DataChoice("iris"), DataChoice("wine"), DataChoice("penguins")]


def analysed(path, factors, **changes):
    learner = LearnerChoice("k-nearest neighbours", label="knn", factors=factors)
    study = small_study(data=DATA, learners=[learner], **changes)
    return analyse(run(study, path, engine="serial", progress=False))


def unexplained(runs, *terms):
    """Return the sum of squares that splits and some effects leave, by least squares."""
    columns = [np.ones((len(runs), 1))]
    for term in ("block", *terms):
        codes = pd.factorize(runs[term.split(":")].astype(str).agg("|".join, axis=1))[0]
        columns.append(np.eye(codes.max() + 1)[codes])
    design = np.hstack(columns)
    fitted = design @ np.linalg.lstsq(design, runs["score"].to_numpy(), rcond=None)[0]
    return float(((runs["score"] - fitted) ** 2).sum())


def test_sums_of_squares_are_those_of_nested_models(tmp_path):
    found = analysed(tmp_path / "r.sqlite", FACTORS, resampling="3-fold")
    effects = found.effects[0]
    assert effects.scope == "knn over 3 data sets"
    scores = found.responses.full
    levels = scores["setting"].str.extract(r"n_neighbors=(?P<k>\d+), weights=(?P<w>\w+)")
    runs = pd.concat([scores[["score", "data"]], levels], axis=1)
    runs["block"] = scores["data"].astype(str) + scores["fold"].astype(str)
    pairs = ["k:w", "k:data", "w:data"]
    expected = {
        "n_neighbors": unexplained(runs, "w") - unexplained(runs, "k", "w"),
        "weights": unexplained(runs, "k") - unexplained(runs, "k", "w"),
        "n_neighbors x weights": unexplained(runs, *pairs[1:]) - unexplained(runs, *pairs),
        "n_neighbors x data set": unexplained(runs, *pairs[::2]) - unexplained(runs, *pairs),
        "weights x data set": unexplained(runs, *pairs[:2]) - unexplained(runs, *pairs),
        "other": unexplained(runs, *pairs) - unexplained(runs, "k:w:data"),
        "error": unexplained(runs, "k:w:data"),
    }
    ours = effects.table["sum_of_squares"]
    assert ours.to_dict() == pytest.approx(expected, abs=1e-12)
    freedom = effects.table["degrees_of_freedom"].to_dict()
    assert list(freedom.values()) == [2, 1, 2, 4, 2, 4, 3 * 2 * 5]
    assert effects.notes[-1] == ABOUT_MEANS
    for means in effects.means.values():
        assert means.mean() == pytest.approx(0.0, abs=1e-12)


def test_a_fraction_over_data_sets_tells_what_one_of_them_cannot(tmp_path):
    factors = {
        "n_neighbors": [1, 9],
        "weights": ["uniform", "distance"],
        "data_set": ["iris", "wine"],
    }
    design = {"kind": "fractional", "generators": ["C=AB"]}
    found = analysed(tmp_path / "r.sqlite", factors, design=design, resampling="2-fold")
    over = found.effects[0]
    assert over.scope == "knn over 2 data sets"
    # Two settings on each data set: the main effects, each aliased with an interaction.
    assert set(over.table.index) == {"n_neighbors", "weights", "error"}
    assert over.aliases == {
        "n_neighbors": ("weights x data set",),
        "weights": ("n_neighbors x data set",),
    }
    assert "knn over 2 data sets" in report(found, tmp_path / "r.html").read_text()


def test_one_data_set_has_none(tmp_path):
    learner = LearnerChoice("k-nearest neighbours", label="knn", factors={"n_neighbors": [1, 9]})
    study = small_study(learners=[learner], resampling="2-fold")
    found = analyse(run(study, tmp_path / "r.sqlite", engine="serial", progress=False))
    assert [each.scope for each in found.effects] == ["knn on iris"]
