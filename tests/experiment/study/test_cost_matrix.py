"""Losses of a study: what is accepted, and what is said of the rest."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.decision import MinimumRisk
from verulam.experiment import DataChoice, LearnerChoice, Results, Study, analyse, make_plan, run
from verulam.experiment._study.cost_matrix import losses_on
from verulam.experiment._study.toml import parse_study
from verulam.measures import measure
from verulam.statistics import corrected_t_test, cv_t_test, permutation_test

CONTENT = {"data": ["iris"], "learners": ["naive bayes"]}


def test_no_losses_no_table():
    assert losses_on(["a", "b"], None, None) is None


def test_a_reject_cost_alone_counts_mistakes_as_one():
    table = losses_on(["a", "b", "c"], None, 0.3)
    np.testing.assert_allclose(table.matrix, np.vstack([1 - np.eye(3), np.full(3, 0.3)]))
    assert table.actions.tolist() == ["a", "b", "c", "reject"]


def test_names_of_a_file_find_classes_that_are_numbers():
    table = losses_on([0, 1], {"wait": {"1": 5, "0": 0}, "act": {"0": 1, "1": 0}}, None)
    np.testing.assert_allclose(table.matrix, [[0, 5], [1, 0]])
    assert table.actions.tolist() == ["wait", "act"]


def test_the_number_of_classes_has_to_fit():
    with pytest.raises(DataError, match=r"losses: .*3 classes"):
        losses_on(["a", "b", "c"], [[0, 1], [1, 0]], None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"losses": [[0, 1], [1]]}, "losses: its rows differ in length"),
        ({"losses": []}, "losses: "),
        ({"losses": [[0, -1], [1, 0]]}, "losses: loss must not be negative"),
        ({"losses": {"act": {"a": 0, "b": 1}}}, "losses: loss must have a row per action"),
        ({"reject_cost": 2}, "reject_cost must lie between 0 and 1"),
        ({"losses": [[0, 9], [1, 0]], "reject_cost": 9}, "reject_cost must lie between 0 and 9"),
    ],
)
def test_a_study_refuses(given, message):
    with pytest.raises(DataError, match=message):
        parse_study({**CONTENT, **given})


def test_a_study_keeps_its_losses():
    losses = [[0, 1, 1], [5, 0, 1], [5, 1, 0]]
    study = parse_study({**CONTENT, "losses": losses, "reject_cost": 0.5})
    assert study.losses == losses
    plain = Study("flowers", [DataChoice("iris")], [LearnerChoice("naive bayes")])
    assert '"losses": null' in plain.to_json()
    assert '"reject_cost": 0.5' in study.to_json()


def test_losses_for_another_number_of_classes_are_refused_by_the_plan():
    message = r"losses: .* 3 classes \['setosa', 'versicolor', 'virginica'\], .* data set is 'iris'"
    with pytest.raises(DataError, match=message):
        make_plan(small_study(losses=[[0, 1], [1, 0]]))


def test_losses_may_be_for_one_of_several_data_sets():
    data = [DataChoice("iris"), DataChoice("breast_cancer")]
    plan = make_plan(small_study(data=data, losses=[[0, 1], [5, 0]]))
    assert [text.partition(":")[0] for text in plan.notices] == ["iris"]


def test_the_plan_says_who_cannot_decide_by_losses():
    learners = [LearnerChoice("naive bayes"), LearnerChoice("support vector machine")]
    assert not make_plan(small_study(learners=learners)).notices
    notice = make_plan(small_study(learners=learners, reject_cost=0.2)).notices[-1]
    assert notice.startswith("No probabilities are given by support vector machine:")


class Told(ClassifierMixin, BaseEstimator):
    """Predicts what a column says."""

    def __init__(self, place=0):
        self.place = place

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(np.asarray(X)[:, self.place] > 0, "ill", "well")


def told_study(losses, **changes):
    """Return a study of two learners that err as often, one way or the other."""
    truth = np.tile(["ill", "well"], 60)
    sick, sound = np.flatnonzero(truth == "ill"), np.flatnonzero(truth == "well")
    first, second = truth.copy(), truth.copy()
    first[sick[:24]] = "well"  # overlooks
    second[sound[:24]] = "ill"  # gives false alarms
    table = pd.DataFrame({"first": first == "ill", "second": second == "ill"}).astype(float)
    given = {
        "name": "told",
        "data": [DataChoice(table.assign(y=truth), target="y", label="told")],
        "learners": [LearnerChoice(Told(place), label=name) for place, name in enumerate(table)],
        "measures": ["risk", "error"],
        "resampling": "holdout 0.5",
        "losses": losses,
    }
    return Study(**{**given, **changes})


def analysed(study, folder, measure=None):
    return analyse(run(study, folder / "r.sqlite", engine="serial", progress=False), measure)


COSTLY = [[0, 1], [10, 0]]  # to overlook an illness costs ten times a false alarm
CHEAP = [[0, 10], [1, 0]]


@pytest.mark.parametrize(("losses", "best"), [(COSTLY, "second"), (CHEAP, "first")])
def test_losses_decide_which_of_two_is_better(losses, best, tmp_path):
    study = told_study(losses)
    verdict = analysed(study, tmp_path).verdict
    (pair,) = verdict.pairs.to_dict("records")
    assert verdict.best == best
    assert pair["p_value"] < 0.01
    # The same decisions, counted as errors, say nothing.
    plain = analysed(study, tmp_path, "error").verdict.pairs.iloc[0]
    assert plain["p_value"] > 0.3

    planned = make_plan(study).data[0]
    rows = planned.splits[0].test
    truth = (planned.targets[rows] != "ill").astype(int)
    taken = 1 - planned.inputs[["first", "second"]].to_numpy(dtype=int)[rows].T
    by_hand = np.asarray(losses)[taken, truth]
    expected = permutation_test(*by_hand, random_state=0)
    assert pair["p_value"] == expected.p_value
    assert pair["difference"] == pytest.approx(np.mean(by_hand[0]) - np.mean(by_hand[1]))


def test_losses_decide_over_folds_too(tmp_path):
    study = told_study(COSTLY, resampling="5-fold")
    found = analysed(study, tmp_path)
    scores = found.responses.by_split("told")
    expected = corrected_t_test(scores["first"], scores["second"], test_share=0.2)
    assert found.verdict.pairs["p_value"].iloc[0] == pytest.approx(expected.p_value)
    assert found.verdict.best == "second"
    assert scores["first"].mean() == pytest.approx(24 * 10 / 120)
    assert scores["second"].mean() == pytest.approx(24 * 1 / 120)


class Silent(ClassifierMixin, BaseEstimator):
    """Predicts as another learner does, but tells no probabilities."""

    def __init__(self, learner):
        self.learner = learner

    def fit(self, X, y):
        self.fitted_ = clone(self.learner).fit(X, y)
        self.classes_ = self.fitted_.classes_
        return self

    def predict(self, X):
        return self.fitted_.predict(X)


def test_a_learner_that_knows_the_losses_beats_one_that_does_not(tmp_path):
    random = np.random.default_rng(0)
    truth = np.tile(["ill", "well"], 100)
    table = pd.DataFrame({"x": random.normal(size=200) + (truth == "ill"), "y": truth})
    learners = {"plain": GaussianNB(), "careful": MinimumRisk(GaussianNB(), COSTLY)}
    study = told_study(
        COSTLY,
        data=[DataChoice(table, target="y", label="told")],
        learners=[LearnerChoice(Silent(each), label=name) for name, each in learners.items()],
        resampling="5-fold",
    )
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    risk, planned = measure("risk", loss=COSTLY), make_plan(study).data[0]
    by_hand = {name: [] for name in learners}
    for split in planned.splits:
        parts = [planned.inputs.iloc[rows] for rows in (split.train, split.test)]
        for name, each in learners.items():
            said = clone(each).fit(parts[0], planned.targets[split.train]).predict(parts[1])
            by_hand[name].append(risk.row_losses(planned.targets[split.test], said).mean())
    found = analyse(results, "risk", test="cv_t_test").verdict
    expected = cv_t_test(by_hand["plain"], by_hand["careful"])
    assert found.pairs["p_value"].iloc[0] == pytest.approx(expected.p_value)
    assert expected.reject
    assert found.best == "careful"
    # It pays with errors of the cheap kind.
    errors = results.scores("error").groupby("learner")["error"].mean()
    assert errors["careful"] > errors["plain"]


def test_zero_one_losses_give_the_error(tmp_path):
    results = run(
        told_study([[0, 1], [1, 0]], resampling="3-fold"),
        tmp_path / "r.sqlite",
        engine="serial",
        progress=False,
    )
    scores = results.scores(["risk", "error"])
    assert scores["risk"].to_list() == pytest.approx(scores["error"].to_list())


def test_probabilities_are_used_to_decide(tmp_path):
    losses = [[0, 1, 1], [5, 0, 1], [5, 1, 0]]
    study = small_study(
        learners=[LearnerChoice(GaussianNB(), label="bayes")],
        measures=["risk"],
        losses=losses,
        reject_cost=0.1,
        resampling="3-fold",
    )
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    planned = make_plan(study).data[0]
    table = np.vstack([losses, np.full(3, 0.1)])
    expected = []
    for split in planned.splits:
        model = GaussianNB().fit(planned.inputs.iloc[split.train], planned.targets[split.train])
        taken = (model.predict_proba(planned.inputs.iloc[split.test]) @ table.T).argmin(axis=1)
        truth = np.searchsorted(model.classes_, planned.targets[split.test])
        expected.append(table[taken, truth].mean())
    assert results.scores()["risk"].to_list() == pytest.approx(expected)
    # Read anew, the store knows what the losses were.
    assert Results(results.path).scores()["risk"].to_list() == pytest.approx(expected)


def test_the_risk_needs_losses_that_fit():
    with pytest.raises(DataError, match="measures: 'risk' needs to know what wrong decisions cost"):
        small_study(measures=["risk"])
    with pytest.raises(DataError, match=r"the risk on 'iris' has no value.*3 classes"):
        make_plan(small_study(measures=["risk"], losses=[[0, 1], [1, 0]]))


def test_other_losses_take_the_place_of_those_before():
    first = told_study(COSTLY)
    second = replace(first, losses=CHEAP)
    assert second.measures[0].options["losses"] == CHEAP
