"""The analysis of stored studies, design by design."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.experiment.analysed import RUNS_OF, changed_copy

from verulam.base import DataError
from verulam.experiment import LearnerChoice, analyse
from verulam.statistics import five_by_two_f_test


def brute(name):
    """Return a learner that differs from others of its kind in how it searches, not in results."""
    return LearnerChoice(KNeighborsClassifier(algorithm=name, n_neighbors=3), label=name)


def test_baseline_is_beaten(two):
    found = analyse(two)
    scores = two.scores("error").pivot_table(
        index=["repeat", "fold"], columns="learner", values="error"
    )
    expected = five_by_two_f_test(scores["majority class"], scores["parametric.NaiveBayes"])
    assert found.verdict.overall.p_value == pytest.approx(expected.p_value)
    assert found.verdict.overall.decision == "reject"
    assert found.recommended == "parametric.NaiveBayes"
    assert found.table["against_best"].to_dict() == {
        "majority class": "worse",
        "parametric.NaiveBayes": "best",
    }


def test_identical_learners_and_the_simpler_is_recommended(make_results):
    found = analyse(make_results([brute("kd_tree"), brute("brute")], resampling="5-fold"))
    assert found.verdict.pairs["decision"].tolist() == ["fail to reject"]
    assert found.verdict.pairs["adjusted_p"].tolist() == [1.0]
    assert found.recommended == "kd_tree"
    assert "the same on each" in found.answer.advice


def test_of_equals_the_simpler_kind_is_recommended_whatever_the_order(make_results):
    """Trees of one leaf are majority classes, and a forest of them is no simpler for it."""
    leaf = {"max_depth": 1, "min_samples_leaf": 75}
    tree = LearnerChoice("decision tree", label="tree", parameters=leaf)
    forest = LearnerChoice(
        "random forest", label="forest", parameters={**leaf, "n_estimators": 2, "bootstrap": False}
    )
    for learners in ([tree, forest], [forest, tree]):
        found = analyse(make_results(learners, resampling="2x5-fold"))
        np.testing.assert_allclose(found.table["mean"], found.table["mean"].iloc[0])
        assert found.recommended == "tree"


def test_factors_are_contestants_and_the_largest_share_decides(factors):
    found = analyse(factors)
    assert len(found.table) == 4
    assert found.verdict.method.startswith("blocked analysis of variance")
    scores = factors.scores("error")
    full = scores[(scores["share"] == 1.0) & (scores["setting"] == "n_neighbors=15")]
    mean = found.table["mean"]["k-nearest neighbours (n_neighbors=15)"]
    assert mean == pytest.approx(full["error"].mean())


def test_several_data_sets(several):
    found = analyse(several)
    assert found.over_data.method.startswith("Friedman")
    assert found.overall["mean_rank"]["majority class"] == 3.0
    assert set(found.verdicts) == {"iris", "wine", "penguins"}
    assert found.verdict is found.over_data
    assert found.to_frame().index.names == ["data", "contestant"]
    assert len(found.to_frame()) == 9


def test_holdout_by_mcnemar(make_results):
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    found = analyse(make_results(learners, resampling="holdout"))
    assert found.verdict.overall.name.startswith("McNemar")
    assert found.verdict.overall.reject


def test_missing_splits(two, tmp_path):
    command = "DELETE FROM runs WHERE " + RUNS_OF.format("majority class", "= 0")
    found = analyse(changed_copy(two, tmp_path / "copy.sqlite", command))
    assert found.verdict.pairs["splits"].tolist() == [5]
    assert found.verdict.method == "the corrected resampled t test"
    assert any("use only the splits that both" in note for note in found.notes)


def test_nothing_finished(two, tmp_path):
    found = analyse(changed_copy(two, tmp_path / "copy.sqlite", "DELETE FROM runs"))
    assert found.recommended is None
    assert found.verdict is None
    assert "No run has finished" in str(found)
    assert found.to_json()


def test_one_learner_failed_everywhere(two, tmp_path):
    command = "UPDATE runs SET status = 'failed', error = 'E: x' WHERE " + RUNS_OF.format(
        "majority class", ">= 0"
    )
    found = analyse(changed_copy(two, tmp_path / "copy.sqlite", command))
    assert found.table["failed"]["majority class"] == 10
    assert found.table["against_best"]["majority class"] == "not tested"
    assert "majority class: 10 runs failed, E: x" in found.notes
    assert found.recommended is None
    words = "The majority class failed in 10 of 10 runs and was left out of the choice."
    assert words in json.loads(found.to_json())["answer"]
    assert words in " ".join(str(found).split())


def test_other_measure_other_level(two):
    found = analyse(two, "log_loss", alpha=0.01)
    assert found.measure.name == "log_loss"
    assert found.verdict.overall.alpha == 0.01


def test_acceptable_level(make_results):
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    results = make_results(learners, aim="assess", resampling="5-fold")
    found = analyse(results, acceptable=0.2)
    expected = "Shown to be good enough (error below 0.2): naive Bayes."
    assert found.answer.sentence == expected
    assert found.recommended == "parametric.NaiveBayes"


def test_path_instead_of_results(two):
    assert analyse(two.path).answer == analyse(two).answer


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0])
def test_level_out_of_range(two, alpha):
    with pytest.raises(DataError, match="alpha: "):
        analyse(two, alpha=alpha)


def test_json_and_csv(several, tmp_path):
    found = analyse(several)
    told = json.loads(found.to_json())
    assert told["recommended"] == found.recommended
    assert told["over_data"]["overall"]["decision"] == found.over_data.overall.decision
    assert len(told["data_sets"]["iris"]) == 3
    table = pd.read_csv(io.StringIO(found.to_csv()))
    assert table["mean"].tolist() == pytest.approx(found.to_frame()["mean"].tolist())
    assert found.to_csv(tmp_path / "table.csv") is None
    assert (tmp_path / "table.csv").read_text() == found.to_csv()


def test_pareto_front_in_the_table(two):
    found = analyse(two)
    assert found.table["pareto"].sum() == len(found.front)
    assert "parametric.NaiveBayes" in found.front


def test_one_failed_split_leaves_out_of_the_choice(several, tmp_path):
    """Though it would be the best by what it has."""
    whole = analyse(several)
    best = whole.tables["iris"]["mean"].idxmin()
    command = "UPDATE runs SET status = 'failed', error = 'E: x' WHERE " + RUNS_OF.format(
        best, "= 0"
    )
    found = analyse(changed_copy(several, tmp_path / "copy.sqlite", command))
    for data, known in found.evidence.items():
        assert best not in known.eligible
        assert known.selection.name != best
        assert found.table["failed"][best] > 0, data


@pytest.mark.parametrize("measure", ["error", "kappa"])
def test_an_unfinished_study_compares_all_on_the_splits_that_they_share(
    make_results, tmp_path, measure
):
    """By rows or by splits; who is a split ahead is not the only one to be judged."""
    names = ("majority class", "naive bayes", "nearest mean")
    whole = make_results(
        [LearnerChoice(name) for name in names], resampling="6-fold", measures=[measure]
    )
    commands = [
        f"DELETE FROM runs WHERE {RUNS_OF.format(learner, folds)}"
        for learner, folds in (("majority class", "> 3"), ("parametric.NaiveBayes", "> 4"))
    ]
    found = analyse(changed_copy(whole, tmp_path / "copy.sqlite", *commands))
    assert found.results.status() == {"done": 15, "left": 3}
    known = found.evidence["iris"]
    assert len(known.names) == len(known.eligible) == 3
    scores = found.responses.by_split("iris").dropna()
    assert len(scores) == 4
    estimates = found.table["estimate"][scores.columns]
    np.testing.assert_allclose(estimates, scores.mean())
    assert "left out" not in found.answer.sentence
    assert any("3 of 18 runs are left" in note for note in found.notes)


def test_what_is_practically_the_same_can_be_said(factors):
    generous = analyse(factors, matters=1.0, rule="half standard error")
    strict = analyse(factors, matters=0.0)
    assert generous.evidence["breast_cancer"].margin == 1.0
    assert strict.recommended == strict.answer.order[0]
    within = generous.table["probability_within"]
    assert within.min() == pytest.approx(1.0)
    assert analyse(factors).evidence["breast_cancer"].margin == 0.01


@pytest.mark.parametrize("name", ["two", "factors"])
def test_the_table_has_the_evidence(name, request):
    found = analyse(request.getfixturevalue(name))
    table = found.table
    (known,) = found.evidence.values()
    np.testing.assert_allclose(table["estimate"][known.order[0]], table["estimate"].min())
    assert (table["low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["high"]).all()
    assert table["probability_best"].sum() == pytest.approx(1.0)
    assert (table["probability_within"] >= table["probability_best"] - 1e-12).all()
    worse = table["against_best"] == "worse"
    assert (table["adjusted_p"][worse] < 0.05).all()
    assert (table["adjusted_p"][table["against_best"] == "not distinguishable"] >= 0.05).all()
    assert table["against_best"][known.best] == "best"
    said = json.loads(found.to_json())["evidence"]
    (told,) = said.values()
    assert told["choice"] == found.recommended
    assert [row["contestant"] for row in told["table"]] == list(known.order)


def test_over_data_sets_the_order_is_that_of_the_mean_ranks(several):
    found = analyse(several)
    ranks = found.overall["mean_rank"]
    assert list(found.answer.order) == ranks.sort_values(kind="stable").index.tolist()
    assert (found.table["against_best"] == "best").sum() == 1


def test_old_studies_read_as_before(make_results, tmp_path):
    """A store that knows nothing of rules, margins and repeats until settled."""
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    results = make_results(learners, resampling="10-fold")
    assert "max_repeats" not in json.dumps(results.description)
    assert not {"analysis", "rule", "matters"} & set(results.description)
    found = analyse(results)
    assert found.results.status() == {"done": 20}
    assert found.verdict.method == "the corrected resampled t test"
    assert found.evidence["iris"].repeats == 1
    assert found.recommended == "parametric.NaiveBayes"
    assert found.design == "stratified 10-fold cross-validation"
    assert not any("repeat" in note for note in found.notes)


def test_in_a_notebook(make_results):
    learners = [LearnerChoice("majority class", label="<b>"), LearnerChoice("naive bayes")]
    html = analyse(make_results(learners, resampling="2-fold"))._repr_html_()
    assert "<b>" not in html
    assert html.startswith("<p>Use naive Bayes: it errs on ")
    assert html.count("<tr") == 1 + 1 + 2
