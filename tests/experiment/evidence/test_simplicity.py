"""What counts as simple: kinds of models, grades, measured costs, costs of one's own."""

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.experiment.analysed import noisy, responses_of

from verulam.base import UnknownNameError
from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._evidence.simplicity import (
    BY_KIND,
    complexities,
    interpretability_grades,
)
from verulam.experiment._identity import describe
from verulam.experiment._store.responses import responses
from verulam.statistics import SELECTION_RULES

SCORES = {"forest": noisy(0.1), "tree": noisy(0.1, seed=1), "baseline": noisy(0.5, seed=2)}
GIVEN = responses_of({"d": SCORES}, baselines=["baseline"])
LEARNERS = [
    {"name": "random forest", "label": "forest"},
    {"name": "decision tree", "label": "tree"},
    {"name": "majority class", "label": "baseline"},
]


def simplest_first(*arguments, **options):
    values = complexities(GIVEN, LEARNERS, *arguments, **options).values
    return sorted(values, key=values.get)


def test_kinds_of_models_are_graded_and_the_order_of_the_list_is_not():
    found = complexities(GIVEN, LEARNERS)
    assert found.values == {"baseline": 0.0, "tree": 2.0, "forest": 4.0}
    assert found.words == BY_KIND
    turned = responses_of({"d": dict(reversed(SCORES.items()))}, baselines=["baseline"])
    assert complexities(turned, LEARNERS[::-1]).values == found.values


@pytest.mark.parametrize(
    ("learner", "grade"),
    [
        ("logistic regression", 1),
        ("k-nearest neighbours", 3),
        (describe(LogisticRegression()), 1),
        (describe(make_pipeline(StandardScaler(), RandomForestClassifier())), 4),
        (describe(GridSearchCV(LogisticRegression(), {"C": [1.0]})), 1),
        (describe(CalibratedClassifierCV(SVC())), 3),
        (describe(BaggingClassifier(LogisticRegression())), 4),
        (describe(DummyClassifier()), 0),
        ({"class": "mine.Tree", "parameters": {}}, 4),
    ],
)
def test_what_a_learner_is_wrapped_in_is_not_what_it_is(learner, grade):
    found = complexities(GIVEN, [{"name": learner, "label": "forest"}])
    assert found.values["forest"] == grade


def test_settings_of_a_learner_have_one_grade(factors):
    scores = responses(factors)
    found = complexities(scores, factors.description["learners"]).values
    settings = {value for name, value in found.items() if name.startswith("k-nearest")}
    assert settings == {3.0}
    assert found["parametric.NaiveBayes"] == 1.0
    assert found["majority class"] == 0.0


def test_readable_first():
    assert simplest_first("interpretability")[-1] == "forest"
    assert complexities(GIVEN, LEARNERS, "interpretability").words == (
        "easier to read, by the grades of the catalogue"
    )


def test_measured_costs_put_the_cheaper_first():
    assert simplest_first("fit_seconds") == ["baseline", "forest", "tree"]


def test_weights_and_costs_of_ones_own():
    own = {"programming": {"forest": 1.0, "tree": 5.0, "baseline": 0.0}}
    assert simplest_first("programming", costs=own) == ["baseline", "forest", "tree"]
    mixed = {"programming": 1.0, "interpretability": 5.0}
    assert simplest_first(mixed, costs=own) == ["baseline", "tree", "forest"]
    turned = {"programming": 5.0, "interpretability": 1.0}
    assert simplest_first(turned, costs=own) == ["baseline", "forest", "tree"]
    words = complexities(GIVEN, LEARNERS, mixed, own).words
    assert words == "less programming, easier to read, by the grades of the catalogue"


def test_who_has_no_cost_is_taken_for_the_worst():
    own = {"programming": {"forest": 1.0, "baseline": 0.0}}
    assert simplest_first("programming", costs=own)[-1] == "tree"


def test_unknown_criterion_is_named():
    with pytest.raises(UnknownNameError, match=r"Unknown criterion of simplicity 'fit_second'"):
        complexities(GIVEN, LEARNERS, "fit_second")


@pytest.mark.parametrize(
    ("learner", "grade"),
    [
        ("random forest", 1.0),
        (describe(Perceptron()), 3.0),
        (describe(make_pipeline(StandardScaler(), Perceptron())), 3.0),
    ],
)
def test_grades_of_described_learners(learner, grade):
    learners = [{"name": learner, "label": "forest"}]
    assert interpretability_grades(GIVEN, learners) == {"forest": grade}


def test_learners_that_nobody_graded_have_none():
    learners = [{"name": {"class": "mine.Tree", "parameters": {}}, "label": "tree"}]
    assert interpretability_grades(GIVEN, learners) == {}


def test_a_study_recommends_the_readable_one_where_tests_do_not_decide(make_results):
    """One standard error leaves all of them level, so that simplicity alone decides."""
    learners = [
        LearnerChoice("k-nearest neighbours"),
        LearnerChoice("naive bayes"),
        LearnerChoice("logistic regression"),
    ]
    results = make_results(learners, ["iris"], resampling="5-fold")
    level = {"rule": "one standard error"}
    readable = analyse(results, simplicity="interpretability", **level)
    assert readable.table.loc[readable.recommended, "interpretability"] == 3.0
    assert any("easier to read" in line for line in readable.caveats)
    assert readable.table.loc["k-nearest neighbours", "interpretability"] == 2.0
    for cheapest in ("logistic regression", "k-nearest neighbours", "parametric.NaiveBayes"):
        own = {"programming": {cheapest: 0.0}}
        cheap = analyse(results, simplicity="programming", costs=own, **level)
        assert cheap.recommended == cheapest
        assert cheap.table.loc[cheapest, "programming"] == 0.0


def test_the_order_of_the_list_does_not_change_the_recommendation(make_results):
    learners = [
        LearnerChoice("k-nearest neighbours"),
        LearnerChoice("decision tree"),
        LearnerChoice("naive bayes"),
        LearnerChoice("majority class"),
    ]
    there, back = (
        analyse(make_results(each, ["iris"], resampling="2x5-fold"))
        for each in (learners, learners[::-1])
    )
    for rule in (*SELECTION_RULES,):
        chosen = {analyse(each.results, rule=rule).recommended for each in (there, back)}
        assert len(chosen) == 1
    assert there.answer.order == back.answer.order
    assert there.answer.sentence == back.answer.sentence
