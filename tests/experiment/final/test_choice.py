"""Which contestant is meant, and whether it can be built again as it was."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError, UnknownNameError
from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    Results,
    Study,
    analyse,
    finalise,
    predict,
    run,
)
from verulam.experiment._final.choice import data_label, reason_for, rebuild, select_contestant

QUIET = {"engine": "serial", "progress": False}


@pytest.fixture(scope="module")
def analysis(finished):
    return analyse(finished.store)


def chosen(analysis, learner):
    return select_contestant(analysis, "penguins", learner).name


def test_best_is_the_best_mean(analysis):
    means = analysis.tables["penguins"]["mean"]
    assert chosen(analysis, "best") == means.idxmin()
    assert chosen(analysis, "recommended") == analysis.recommended


def test_the_answer_decides_where_nothing_is_asked_for(analysis):
    assert chosen(analysis, None) == analysis.recommended
    said = replace(analysis.answer, recommended="majority class")
    assert chosen(replace(analysis, answer=said), None) == "majority class"


def test_where_no_answer_holds_for_all_data_sets_that_on_the_one_decides(analysis):
    undecided = replace(analysis, answer=replace(analysis.answer, recommended=None))
    evidence = analysis.evidence["penguins"]
    assert chosen(undecided, None) == evidence.selection.name
    simple = replace(evidence.selection, name="parametric.NaiveBayes")
    other = replace(undecided, evidence={"penguins": replace(evidence, selection=simple)})
    assert chosen(other, None) == "parametric.NaiveBayes"
    assert reason_for(other, "penguins", "parametric.NaiveBayes", None).startswith(
        "the choice on penguins"
    )
    assert chosen(replace(undecided, evidence={}), None) == chosen(analysis, "best")


def test_why_it_is_this_one(analysis):
    def reason(learner, found=analysis):
        return reason_for(found, "penguins", chosen(found, learner), learner)

    best, simple = "k-nearest neighbours (n_neighbors=1)", "parametric.NaiveBayes"
    leading = replace(analysis, answer=replace(analysis.answer, recommended=best))
    table = analysis.tables["penguins"].assign(mean=0.5)
    table.loc[best, "mean"] = 0.25
    known = {"penguins": table}
    # Where nothing is known of all contestants together, the means of the splits are shown.
    analysis = replace(analysis, evidence={})
    other = replace(analysis, tables=known, answer=replace(analysis.answer, recommended=simple))
    leading = replace(leading, tables=known, evidence={})
    none = replace(other, answer=replace(analysis.answer, recommended=None))
    assert (
        reason(None, leading) == "recommended by the study, and with the best mean error (0.2500)"
    )
    assert reason(None, other) == (
        "recommended by the study: simpler, and as good as the best for all that is known; "
        f"{best} has the best mean error (0.2500), this one 0.5000"
    )
    assert reason("best", other).endswith("(0.2500); the study recommends naive Bayes")
    assert reason("best", leading).endswith("(0.2500), and the study recommends it")
    assert reason("best", none) == "it has the best mean error (0.2500); the study recommends none"
    assert reason("majority class", other) == (
        "named by whoever made the model; the study recommends naive Bayes"
    )


def test_names_of_learners_and_contestants(analysis):
    assert chosen(analysis, "naive bayes") == "parametric.NaiveBayes"
    assert chosen(analysis, "parametric.NaiveBayes") == "parametric.NaiveBayes"
    single = "k-nearest neighbours (n_neighbors=1)"
    assert chosen(analysis, single) == single
    means = analysis.tables["penguins"]["mean"]
    settings = [name for name in means.index if name.startswith("k-nearest")]
    assert chosen(analysis, "k-nearest neighbours") == means[settings].idxmin()


def test_unknown_names(analysis, finished):
    with pytest.raises(UnknownNameError, match=r"Unknown learner 'bset'\. Nearest: best"):
        chosen(analysis, "bset")
    results = Results(finished.store)
    assert data_label(results, None) == "penguins"
    with pytest.raises(UnknownNameError, match=r"Unknown data set 'pinguins'\. Nearest: penguins"):
        data_label(results, "pinguins")


def test_rebuilt_is_what_was_run(analysis, finished):
    single = select_contestant(analysis, "penguins", "k-nearest neighbours (n_neighbors=5)")
    rebuilt = rebuild(analysis.results, "penguins", single)
    assert rebuilt.contestant.estimator[-1].n_neighbors == 5
    assert rebuilt.study.losses == finished.study.losses
    assert rebuilt.classes == ["Adelie", "Chinstrap", "Gentoo"]
    both = np.concatenate([rebuilt.development_rows, rebuilt.planned.locked])
    np.testing.assert_array_equal(np.sort(both), np.arange(344))


def own_table(path, rows=60):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=rows), "y": ["a", "b"] * (rows // 2)})
    table["x"] += 2.0 * (table["y"] == "b")
    table.to_csv(path, index=False)
    return table


@pytest.fixture
def own(tmp_path):
    """Return the store of a study of one's own file."""
    own_table(tmp_path / "own.csv")
    learners = [LearnerChoice("nearest mean")]
    study = Study("own", [DataChoice(str(tmp_path / "own.csv"), target="y")], learners)
    run(study, tmp_path / "own.sqlite", **QUIET)
    return tmp_path / "own.sqlite"


def test_files_of_ones_own(own):
    made = finalise(own)
    assert made.card.training_rows == 60
    assert made.card.as_array
    table = pd.read_csv(own.with_suffix(".csv"))
    found = predict(made.path, table)["prediction"]
    assert (found == table["y"]).mean() > 0.8


def test_changed_data_are_refused(own):
    own_table(own.with_suffix(".csv"), rows=80)
    with pytest.raises(DataError, match="data: own is not what it was"):
        finalise(own)


def test_data_that_moved(own, tmp_path):
    elsewhere = tmp_path / "elsewhere.csv"
    own.with_suffix(".csv").rename(elsewhere)
    with pytest.raises(DataError, match=r"own\.csv cannot be opened again; say where it is"):
        finalise(own)
    assert finalise(own, source=elsewhere).card.training_rows == 60
    # A folder that moved as a whole keeps the file beside the store.
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(own, other / "own.sqlite")
    shutil.copy(elsewhere, other / "own.csv")
    assert finalise(other / "own.sqlite").card.training_rows == 60


def test_learners_given_as_objects_need_the_study(tmp_path):
    study = Study(
        "flowers", [DataChoice("iris")], [LearnerChoice(GaussianNB())], resampling="2-fold"
    )
    run(study, tmp_path / "runs.sqlite", **QUIET)
    with pytest.raises(DataError, match="given as objects; pass study="):
        finalise(tmp_path / "runs.sqlite")
    made = finalise(tmp_path / "runs.sqlite", study=study)
    assert isinstance(made.model.estimator, GaussianNB)
    other = Study(
        "flowers",
        [DataChoice("iris")],
        [LearnerChoice(GaussianNB(var_smoothing=0.5))],
        resampling="2-fold",
    )
    with pytest.raises(DataError, match="cannot be built again as it was"):
        finalise(tmp_path / "runs.sqlite", study=other, path=tmp_path / "other.skops")


def test_nothing_has_finished(tmp_path, monkeypatch):
    from verulam.experiment._run import run as _engines

    def fails(plan, each):
        return _engines.Outcome(each.run_id, "failed", error="ValueError: no")

    monkeypatch.setattr(_engines, "execute", fails)
    study = Study("flowers", [DataChoice("iris")], [LearnerChoice("naive bayes")])
    run(study, tmp_path / "runs.sqlite", **QUIET)
    with pytest.raises(DataError, match="No run on iris has finished"):
        finalise(tmp_path / "runs.sqlite")
