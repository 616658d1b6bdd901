"""Grades of complexity and of interpretability: one for every learner, by the kind of its model."""

from types import SimpleNamespace

import pytest
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from verulam.catalogue import (
    COMPLEXITY_GRADES,
    GRADES,
    complexity_of,
    complexity_of_estimator,
    entries,
    entry,
    grade_of,
    learners,
)
from verulam.catalogue._entries import Entry
from verulam.decision import MinimumRisk
from verulam.kernel import Linear, SupportVectorClassifier
from verulam.linear import OneVersusRest, PairwiseClassifier
from verulam.parametric import GaussianClassifier, NaiveBayes
from verulam.rule import Ripper

TREE, FOREST = DecisionTreeClassifier(), RandomForestClassifier()


class Mine(BaseEstimator):
    """A learner of which nobody knows anything."""


class Wrapper(BaseEstimator):
    """A learner around another that nobody knows of."""

    def __init__(self, learner):
        self.learner = learner


@pytest.mark.parametrize("item", entries(), ids=lambda item: item.name)
def test_every_learner_has_a_grade(item):
    grade = complexity_of_estimator(item.example())
    assert grade in COMPLEXITY_GRADES
    assert item.complexity == grade


@pytest.mark.parametrize(
    ("name", "grade"),
    [
        ("majority class", 0),
        ("mean predictor", 0),
        ("naive Bayes", 1),
        ("nearest mean", 1),
        ("logistic regression", 1),
        ("Fisher's linear discriminant", 1),
        ("Gaussian classifier", 1),
        ("one-versus-rest", 1),
        ("decision tree", 2),
        ("tree.DecisionTreeRegressor", 2),
        ("Ripper", 2),
        ("polynomial regression", 2),
        ("additive model", 2),
        ("smoothing spline", 2),
        ("k-nearest neighbours", 3),
        ("support vector machine", 3),
        ("kernel.SupportVectorClassifier", 3),
        ("kernel smoother", 3),
        ("Gaussian mixture", 3),
        ("hidden Markov model", 3),
        ("random forest", 4),
        ("AdaBoost", 4),
        ("multilayer perceptron", 4),
        ("Gaussian process regressor", 4),
        ("Madaline", 4),
    ],
)
def test_grades_of_the_catalogue(name, grade):
    assert entry(name).complexity == grade


@pytest.mark.parametrize(
    ("path", "grade"),
    [
        ("sklearn.dummy.DummyRegressor", 0),
        ("sklearn.svm._classes.LinearSVC", 1),
        ("sklearn.svm._classes.SVC", 3),
        ("sklearn.linear_model.SGDClassifier", 1),
        ("sklearn.neighbors.NearestCentroid", 1),
        ("sklearn.discriminant_analysis.LinearDiscriminantAnalysis", 1),
        ("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis", 2),
        ("sklearn.isotonic.IsotonicRegression", 2),
        ("sklearn.kernel_ridge.KernelRidge", 3),
        ("sklearn.semi_supervised.LabelSpreading", 3),
        ("verulam.tree._classifier.DecisionTreeClassifier", 2),
        ("verulam.ensemble._stacking.Stacking", 4),
        ("verulam.neural.MultilayerPerceptron", 4),
        ("verulam.graphical.BayesianNetwork", 3),
        ("verulam.local.MixtureOfExpertsRegressor", 4),
        ("xgboost.sklearn.XGBClassifier", 4),
        ("lightgbm.LGBMRegressor", 4),
        ("catboost.core.CatBoostClassifier", 4),
        ("skorch.classifier.NeuralNetClassifier", 4),
        ("sklearn.pipeline.Pipeline", None),
        ("verulam.decision.MinimumRisk", None),
        ("sklearn.unheard_of.Tree", None),
        ("mine.Tree", None),
        ("sklearn", None),
        ("", None),
    ],
)
def test_grades_by_path(path, grade):
    assert complexity_of(path) == grade


def test_parameters_that_tell():
    assert complexity_of_estimator(SVC(kernel="linear")) == 1
    assert complexity_of_estimator(SupportVectorClassifier(kernel="linear")) == 1
    assert complexity_of_estimator(SupportVectorClassifier(kernel=Linear())) == 1
    assert complexity_of_estimator(GaussianClassifier(covariance_type="full")) == 2
    assert complexity_of("verulam.parametric.GaussianClassifier", {"covariance_type": "full"}) == 2
    assert complexity_of_estimator(GaussianClassifier(covariance_type="diag")) == 1


@pytest.mark.parametrize(
    ("estimator", "grade"),
    [
        (make_pipeline(StandardScaler(), TREE), 2),
        (make_pipeline(PolynomialFeatures(2), LinearRegression()), 2),
        (make_pipeline(PCA(), DummyClassifier()), 0),
        (make_pipeline(SelectFromModel(FOREST), LogisticRegression()), 1),
        (make_pipeline(StandardScaler(), GridSearchCV(FOREST, {})), 4),
        (GridSearchCV(make_pipeline(StandardScaler(), SVC()), {}), 3),
        (RandomizedSearchCV(GaussianNB(), {}), 1),
        (CalibratedClassifierCV(FOREST), 4),
        (CalibratedClassifierCV(), 1),
        (TransformedTargetRegressor(KNeighborsRegressor()), 3),
        (TransformedTargetRegressor(), 1),
        (MultiOutputRegressor(Lasso()), 1),
        (OneVsRestClassifier(SVC()), 3),
        (OneVsOneClassifier(TREE), 2),
        (RFE(SVC(kernel="linear")), 1),
        (SelfTrainingClassifier(KNeighborsClassifier()), 3),
        (MinimumRisk(TREE), 2),
        (OneVersusRest(), 1),
        (PairwiseClassifier(SVC()), 3),
        (Wrapper(Ripper()), 2),
        (Wrapper(CalibratedClassifierCV(GridSearchCV(TREE, {}))), 2),
        # An ensemble is more than its parts.
        (BaggingClassifier(GaussianNB()), 4),
    ],
)
def test_wrappers_have_the_grade_of_what_they_wrap(estimator, grade):
    assert complexity_of_estimator(estimator) == grade


@pytest.mark.parametrize(
    "estimator",
    [Mine(), Wrapper(None), Wrapper("naive Bayes"), Wrapper(Mine()), make_pipeline(Mine()),
     Pipeline([("prepare", StandardScaler()), ("last", "passthrough")]), object()],
)  # fmt: skip
def test_unknown_learners_have_none(estimator):
    assert complexity_of_estimator(estimator) is None


def test_a_learner_that_wraps_itself_has_none():
    estimator = SimpleNamespace()
    estimator.estimator = estimator
    assert complexity_of_estimator(estimator) is None


def test_a_class_derived_from_a_known_one_is_of_its_kind():
    class Special(RandomForestClassifier):
        """One of its kind."""

    assert complexity_of_estimator(Special()) == 4


def test_a_class_may_say_so_itself(monkeypatch):
    monkeypatch.setattr(NaiveBayes, "_complexity", 3, raising=False)
    assert entry("naive Bayes").complexity == 3
    assert complexity_of_estimator(GridSearchCV(NaiveBayes(), {})) == 3


def test_what_nobody_graded_counts_as_complex(monkeypatch):
    monkeypatch.setattr("verulam.catalogue._entries.complexity_of_estimator", lambda _: None)
    assert entry("naive Bayes").complexity == max(COMPLEXITY_GRADES) == 4


@pytest.mark.parametrize("item", entries(), ids=lambda item: item.name)
def test_every_learner_has_a_grade_of_interpretability(item):
    assert item.interpretability in GRADES


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("decision tree", "random forest"),
        ("naive bayes", "k-nearest neighbours"),
        ("logistic regression", "support vector machine"),
        ("k-nearest neighbours", "multilayer perceptron"),
        ("nearest mean", "parametric.GaussianClassifier"),
    ],
)
def test_who_is_easier_to_read(better, worse):
    assert entry(better).interpretability > entry(worse).interpretability


def test_private_modules_do_not_matter():
    assert grade_of("sklearn.svm._classes.SVC") == grade_of("sklearn.svm.SVC") == 1
    assert grade_of("sklearn.svm._classes.LinearSVC") == 3


@pytest.mark.parametrize("path", ["", "Learner", "mine.Tree", "sklearn.unheard_of.Tree"])
def test_unknown_paths_have_no_interpretability(path):
    assert grade_of(path) is None


def test_a_class_may_declare_its_interpretability(monkeypatch):
    monkeypatch.setattr(NaiveBayes, "_interpretability", 1, raising=False)
    assert Entry("n", "verulam.parametric.NaiveBayes", "ours").interpretability == 1


def test_it_is_in_the_table():
    table = learners(task="classification").set_index("name")["interpretability"]
    assert table["decision tree"] == 3
    assert table["ensemble.RandomForestClassifier"] == 1
