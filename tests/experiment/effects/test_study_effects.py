"""The factors of studies: parameters, training shares, data sets and surfaces."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from tests.experiment.analysed import noisy, responses_of
from tests.experiment.studies import small_study

from verulam.design import Factor, central_composite
from verulam.experiment import DataChoice, LearnerChoice, analyse, report, run
from verulam.experiment._effects.effects import factor_effects
from verulam.experiment._effects.study_effects import (
    ABOUT_MEANS,
    data_interaction,
    study_effects,
    surface_of,
)
from verulam.experiment._store.responses import StoredContestant, responses

FACTORS = {"n_neighbors": [1, 5, 9], "weights": ["uniform", "distance"]}
DATA = [DataChoice("iris"), DataChoice("wine"), DataChoice("penguins")]


def with_levels(found, levels):
    """Return responses whose contestants have factors: name to learner and levels."""
    contestants = [
        StoredContestant(each.name, *levels[each.name], baseline=False)
        if each.name in levels
        else each
        for each in found.contestants
    ]
    return replace(found, contestants=tuple(contestants))


def test_factor_and_shares_of_a_stored_study(factors):
    found = study_effects(responses(factors), "k-fold")
    assert [each.scope for each in found] == [
        "k-nearest neighbours on breast_cancer",
        "Training shares on breast_cancer",
    ]
    assert found[0].factors == ("n_neighbors",)
    assert found[1].factors == ("learner", "training share")
    assert found[0].means["n_neighbors"].index.tolist() == [15, 1]
    table = responses(factors).by_split("breast_cancer")
    expected = table["k-nearest neighbours (n_neighbors=1)"].mean()
    assert found[0].means["n_neighbors"][1] == pytest.approx(expected)


def test_learners_that_vary_the_same_are_analysed_together():
    names = {"a1": ("a", 1), "a2": ("a", 2), "b1": ("b", 1), "b2": ("b", 2)}
    scores = {name: noisy(0.1 * place, seed=place) for place, name in enumerate(names)}
    levels = {name: (learner, f"C={c}", {"C": c}) for name, (learner, c) in names.items()}
    found = study_effects(with_levels(responses_of({"d": scores}), levels), "k-fold")
    assert [each.scope for each in found] == ["a, b on d", "a on d", "b on d"]
    assert found[0].factors == ("learner", "C")
    assert "learner x C" in found[0].table.index
    assert found[0].significant(0.05) == ["learner", "C"]


def test_disjoint_parts_need_no_correction():
    scores = {"a1": noisy(0.1, seed=1), "a2": noisy(0.11, seed=2)}
    levels = {name: ("a", name, {"C": name}) for name in scores}
    given = with_levels(responses_of({"d": scores}), levels)
    plain, corrected = (
        study_effects(given, kind)[0].table.loc["C"] for kind in ("disjoint", "5x2")
    )
    assert plain["corrected_p"] == plain["p_value"]
    assert corrected["corrected_p"] > corrected["p_value"]
    assert corrected["p_value"] == plain["p_value"]


def test_without_factors_there_is_nothing(two):
    assert study_effects(responses(two), "5x2") == ()


def test_interaction_with_data_sets_matches_statsmodels():
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    tables = {
        data: {name: noisy(mean, seed=7 * place + number) for number, (name, mean) in means}
        for place, (data, means) in enumerate(
            {
                "d1": enumerate({"a": 0.1, "b": 0.2, "c": 0.2}.items()),
                "d2": enumerate({"a": 0.4, "b": 0.2, "c": 0.3}.items()),
            }.items()
        )
    }
    given = responses_of(tables)
    found = data_interaction(given, "disjoint")
    # Without the means of the splits, only the degrees of freedom of the error differ.
    blocks = given.scores.groupby(["data", "fold"])["score"].transform("mean")
    long = given.scores.assign(score=given.scores["score"] - blocks)
    peer = anova_lm(ols("score ~ C(contestant) * C(data)", long).fit(), typ=1)
    for ours, theirs in {
        "contestants": "C(contestant)",
        "contestants x data sets": "C(contestant):C(data)",
        "error": "Residual",
    }.items():
        assert_allclose(found.loc[ours, "sum_of_squares"], peer.loc[theirs, "sum_sq"])
    assert found["degrees_of_freedom"].tolist() == [2, 2, 2 * 9 * 2]
    ratio = peer.loc["C(contestant):C(data)", "mean_sq"] / (peer.loc["Residual", "sum_sq"] / 36)
    assert_allclose(found.loc["contestants x data sets", "p_value"], stats.f.sf(ratio, 2, 36))


def test_parallel_data_sets_have_no_interaction():
    base = {"a": noisy(0.1, seed=1), "b": noisy(0.2, seed=2)}
    moved = {name: (np.array(scores) + 0.5).tolist() for name, scores in base.items()}
    found = data_interaction(responses_of({"d1": base, "d2": moved}), "k-fold")
    assert found.loc["contestants x data sets", "sum_of_squares"] == pytest.approx(0, abs=1e-12)
    assert found.loc["contestants", "corrected_p"] < 0.001


def test_no_interaction_of_one_data_set_or_with_gaps():
    scores = {"a": noisy(0.1), "b": noisy(0.2, seed=1)}
    assert data_interaction(responses_of({"d": scores}), "k-fold") is None
    gap = {"a": scores["a"]}
    assert data_interaction(responses_of({"d": scores, "e": gap}), "k-fold") is None


def effects_of(settings, response):
    named = settings.set_axis([f"s{place}" for place in range(len(settings))])
    table = pd.DataFrame([np.asarray(response)] * 2, columns=named.index)
    return factor_effects(table, named)


def test_a_surface_is_fitted_where_the_factors_allow():
    factors = [Factor("C", (0.1, 10.0), "log"), Factor("width", (0.0, 2.0), "numeric")]
    settings = central_composite(factors, "faced").drop_duplicates()
    response = np.log(settings["C"] / 2) ** 2 + (settings["width"] - 0.5) ** 2
    surface = surface_of(effects_of(settings, response))
    assert [factor.kind for factor in surface.factors] == ["log", "numeric"]
    assert surface.kind == "minimum"
    assert surface.stationary_point["C"] == pytest.approx(2)
    assert surface.stationary_point["width"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "settings",
    [
        {"k": [1, 5], "p": [1, 2]},
        {"k": ["x", "y", "z"]},
        {"k": [1, 2, 3, 1, 1], "p": [1, 1, 1, 2, 3]},
    ],
)
def test_no_surface_of_two_levels_words_or_too_few_settings(settings):
    assert surface_of(effects_of(pd.DataFrame(settings), range(len(settings["k"])))) is None


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
