"""Losses of a study: what is accepted, and what is said of the rest."""

import numpy as np
import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
from verulam.experiment._losses import losses_on
from verulam.experiment._study_file import parse_study

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
