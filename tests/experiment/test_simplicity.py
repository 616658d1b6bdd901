"""What counts as simple: grades of the catalogue, measured costs, costs of one's own."""

import pytest
from sklearn.linear_model import Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.experiment.analysed import noisy, responses_of

from verulam.base import UnknownNameError
from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._identity import describe
from verulam.experiment._simplicity import grade_words, interpretability_grades, preferred

SCORES = {"forest": noisy(0.1), "tree": noisy(0.1, seed=1), "baseline": noisy(0.5, seed=2)}
GIVEN = responses_of({"d": SCORES}, baselines=["baseline"])
GRADES = {"interpretability": {"forest": 1.0, "tree": 3.0, "baseline": 3.0}}


def test_the_order_of_the_study_unless_asked():
    found = preferred(GIVEN, None, GRADES)
    assert found.responses is GIVEN
    assert found.words == "earlier in the study's list"


def test_readable_first_after_baselines():
    found = preferred(GIVEN, "interpretability", GRADES)
    assert found.responses.names == ["baseline", "tree", "forest"]
    assert "easier to read" in found.words


def test_measured_costs_put_the_cheaper_first():
    assert preferred(GIVEN, "fit_seconds", GRADES).responses.names == ["baseline", "forest", "tree"]


def test_weights_and_costs_of_ones_own():
    own = {**GRADES, "programming": {"forest": 1.0, "tree": 5.0, "baseline": 0.0}}
    assert preferred(GIVEN, "programming", own).responses.names[1] == "forest"
    mixed = preferred(GIVEN, {"programming": 1.0, "interpretability": 5.0}, own)
    assert mixed.responses.names[1] == "tree"
    turned = preferred(GIVEN, {"programming": 5.0, "interpretability": 1.0}, own)
    assert turned.responses.names[1] == "forest"
    assert mixed.words == "less programming, easier to read, by the grades of the catalogue"


def test_unknown_criterion_is_named():
    with pytest.raises(UnknownNameError, match=r"Unknown criterion of simplicity 'fit_second'"):
        preferred(GIVEN, "fit_second", GRADES)


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
    assert grade_words(float("nan")) == "unknown"
    assert grade_words(3.0) == "3: the fitted model can be read as a whole"


def test_a_study_recommends_the_readable_one_where_tests_do_not_decide(make_results):
    learners = [
        LearnerChoice("k-nearest neighbours"),
        LearnerChoice("naive bayes"),
        LearnerChoice("logistic regression"),
    ]
    results = make_results(learners, ["iris"], resampling="5-fold")
    plain, readable = analyse(results), analyse(results, simplicity="interpretability")
    assert plain.recommended == "k-nearest neighbours"
    assert readable.recommended == "parametric.NaiveBayes"
    assert any("easier to read" in line for line in readable.caveats)
    assert readable.table.loc["k-nearest neighbours", "interpretability"] == 2.0
    own = {"programming": {"logistic regression": 0.0}}
    cheap = analyse(results, simplicity="programming", costs=own)
    assert cheap.recommended == "logistic regression"
    assert cheap.table.loc["logistic regression", "programming"] == 0.0
