"""Members: what each gets, what all say, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from verulam.base import DataError, abilities, may_end_early
from verulam.data import dataset
from verulam.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CascadeClassifier,
    MemberOutputs,
    StackingClassifier,
    VotingClassifier,
    out_of_fold_outputs,
)
from verulam.ensemble._members.members import (
    class_outputs,
    cross_outputs,
    fit_member,
    fold_numbers,
    named_members,
    seeded,
)
from verulam.ensemble._members.tables import ColumnSubset, column_positions, prepared_member
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import LeastSquares, NaiveBayes
from verulam.tree import DecisionTreeClassifier

IRIS = dataset("iris")


class Spy(ClassifierMixin, BaseEstimator):
    """Answers how many of the rows that it is asked about it was taught with."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rows_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def predict_proba(self, X):
        seen = np.array([value in self.rows_ for value in np.asarray(X)[:, 0]], dtype=float)
        return np.column_stack([seen, 1 - seen])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_no_member_is_asked_about_rows_it_was_taught_with():
    X = np.arange(40.0)[:, None]
    y = np.arange(40) % 2
    said = out_of_fold_outputs([Spy()], X, y, folds=4, random_state=0)
    assert (said.values[0, :, 0] == 0).all()
    taught = Spy().fit(X, y)
    assert (class_outputs(taught, X, taught.classes_)[:, 0] == 1).all()


def test_outputs_out_of_fold_are_those_of_cross_validation():
    numbers = fold_numbers(np.unique(IRIS.target_values, return_inverse=True)[1], 150, 5, 1)
    assert [
        np.bincount(IRIS.target_values[numbers == fold] == "setosa")[1] for fold in range(5)
    ] == [10] * 5
    inputs, labels = IRIS.inputs.to_numpy(), IRIS.target_values
    said = cross_outputs([("nb", GaussianNB())], inputs, labels, numbers, np.unique(labels))
    splits = [
        (np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in range(5)
    ]
    theirs = cross_val_predict(GaussianNB(), IRIS.inputs.to_numpy(), IRIS.target_values, cv=splits,
                               method="predict_proba")  # fmt: skip
    assert np.allclose(said.values[0], theirs)


def test_outputs_of_regressors_and_the_shapes_of_all():
    mpg = dataset("auto_mpg")
    said = out_of_fold_outputs([("a", LeastSquares()), LinearRegression()], mpg.inputs,
                               mpg.target_values, folds=3, random_state=0)  # fmt: skip
    assert said.values.shape == (2, len(mpg.target_values), 1)
    assert said.classes is None
    assert said.names == ("a", "LinearRegression")
    assert said.features.shape == (len(mpg.target_values), 2)
    assert said.feature_names == ["a", "LinearRegression"]
    assert said.of([1]).names == ("LinearRegression",)
    with pytest.raises(DataError, match="no labels"):
        _ = said.labels


def test_features_put_the_outputs_of_a_member_side_by_side():
    values = np.arange(2 * 3 * 2.0).reshape(2, 3, 2)
    said = MemberOutputs(values, ("a", "b"), np.array(["n", "y"]))
    assert said.features.tolist() == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]
    assert said.feature_names == ["a: n", "a: y", "b: n", "b: y"]
    assert said.labels.tolist() == [["y"] * 3] * 2


def test_a_class_that_a_member_has_not_seen_gets_no_votes():
    part = GaussianNB().fit(IRIS.inputs[50:].to_numpy(), IRIS.target_values[50:])
    votes = class_outputs(part, IRIS.inputs.to_numpy(), np.unique(IRIS.target_values))
    assert votes.shape == (150, 3)
    assert (votes[:, 0] == 0).all()
    assert np.allclose(votes.sum(axis=1), 1)


def test_labels_and_scores_stand_in_for_probabilities():
    X, y = IRIS.inputs.to_numpy()[:100], IRIS.target_values[:100]
    machine = LinearSVC().fit(X, y)
    classes = np.unique(y)
    assert class_outputs(machine, X, classes).sum() == 100
    scores = class_outputs(machine, X, classes, "scores")
    assert np.allclose(scores[:, 1], machine.decision_function(X))
    assert np.allclose(scores[:, 0], -scores[:, 1])


def test_each_member_gets_the_table_as_it_can_use_it():
    titanic = dataset("titanic")
    tree = prepared_member(DecisionTreeClassifier(), titanic.inputs)
    assert isinstance(tree, DecisionTreeClassifier)
    for learner in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        logistic = prepared_member(learner, titanic.inputs)
        assert logistic.steps[0][0] == "columntransformer"
        assert logistic.fit(titanic.inputs, titanic.target_values).score(
            titanic.inputs, titanic.target_values) > 0.78  # fmt: skip
    vote = VotingClassifier([DecisionTreeClassifier(), LogisticRegression()])
    vote.fit(titanic.inputs, titanic.target_values)
    assert vote.estimators_[0][1].schema_.categorical == tuple(
        name for name in titanic.inputs if titanic.inputs[name].dtype == "category"
    )


def test_a_view_prepares_its_own_columns_alone():
    titanic = dataset("titanic")
    columns = [name for name in titanic.inputs if titanic.inputs[name].dtype.kind in "iuf"
               and not titanic.inputs[name].isna().any()]  # fmt: skip
    plain = prepared_member(
        make_pipeline(ColumnSubset(columns), LogisticRegression()), titanic.inputs
    )
    assert [type(step).__name__ for _, step in plain.steps] == [
        "ColumnSubset",
        "LogisticRegression",
    ]
    view = ColumnSubset(columns).fit(titanic.inputs)
    assert list(view.transform(titanic.inputs)) == columns
    assert ColumnSubset([1]).fit_transform(IRIS.inputs.to_numpy()).shape == (150, 1)
    # What is in the columns is for the next step to mind.
    assert abilities(view).missing
    assert abilities(view).categorical


def test_seeds_fill_what_is_none_and_can_replace_all():
    tree = DecisionTreeClassifier()
    assert isinstance(seeded(tree, 1).random_state, int)
    assert seeded(DecisionTreeClassifier(random_state=7), 1).random_state == 7
    assert seeded(DecisionTreeClassifier(random_state=7), 1, all_of_them=True).random_state != 7


def test_members_of_the_same_name_are_numbered():
    names = [name for name, _ in named_members([NaiveBayes(), NaiveBayes(), ("x", NaiveBayes())],
                                               "classification", list)]  # fmt: skip
    assert names == ["NaiveBayes", "NaiveBayes_2", "x"]


def test_parameters_of_members_go_by_their_names():
    vote = VotingClassifier(
        [("tree", DecisionTreeClassifier(max_depth=2)), ("near", KNeighborsClassifier())]
    )
    assert vote.get_params()["tree__max_depth"] == 2
    vote.set_params(tree__max_depth=5, near=NaiveBayes())
    assert vote.estimators[0][1].max_depth == 5
    assert isinstance(vote.estimators[1][1], NaiveBayes)


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], "estimators is empty"),
        (["naive bayes"], r"'naive bayes' is a name.*verulam\.learner"),
        (
            [("linear", LeastSquares())],
            r"member 'linear' \(LeastSquares\) cannot do classification",
        ),
        ([NaiveBayes], r"\(NaiveBayes\) cannot do classification"),
    ],
)
def test_members_that_cannot_do_the_task_are_named(estimators, message):
    with pytest.raises(DataError, match=message):
        VotingClassifier(estimators).fit(IRIS.inputs, IRIS.target_values)


class Fussy(GaussianNB):
    def fit(self, X, y):
        if len(X) < 150:
            raise ValueError("too few")
        return super().fit(X, y)


def test_a_member_that_fails_in_a_fold_is_named_with_the_fold():
    with pytest.raises(
        DataError, match=r"Member 'fussy' could not be fitted without fold 1 of 5: too few"
    ):
        VotingClassifier([("fussy", Fussy())], weights="accuracy").fit(
            IRIS.inputs, IRIS.target_values
        )


class Interrupted(GaussianNB):
    def fit(self, X, y):
        # What a network does, which keeps its best weights where it is all that runs.
        if may_end_early():
            return super().fit(X, y)
        raise KeyboardInterrupt


def test_an_interrupted_member_ends_the_ensemble():
    with pytest.raises(KeyboardInterrupt):
        fit_member(("first", Interrupted()), np.eye(4), np.array([0, 1, 0, 1]))


def test_columns_that_are_not_there_are_refused():
    with pytest.raises(DataError, match=r"no column 'petal'.*Nearest"):
        column_positions(["petal"], IRIS.inputs)
    with pytest.raises(DataError, match="columns is empty"):
        column_positions([], IRIS.inputs)
    with pytest.raises(DataError, match="twice"):
        column_positions([0, 0], IRIS.inputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds=1"),
        ({"outputs": "votes"}, "outputs='votes'"),
        ({"y": [0, 1]}, "150 rows and y 2"),
    ],
)
def test_bad_arguments_of_out_of_fold_outputs(options, message):
    arguments = {"estimators": [NaiveBayes()], "X": IRIS.inputs, "y": IRIS.target_values, **options}
    with pytest.raises(DataError, match=message):
        out_of_fold_outputs(**arguments)


def test_tables_with_text_and_single_classes_are_refused():
    with pytest.raises(DataError, match="holds text"):
        VotingClassifier().fit(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), [0, 1])
    with pytest.raises(DataError, match="only one class"):
        VotingClassifier().fit(IRIS.inputs, np.zeros(150))


@pytest.mark.parametrize(
    ("ensemble", "words"),
    [
        (BaggingClassifier(LinearRegression()), "estimator: LinearRegression cannot do classif"),
        (BaggingRegressor(GaussianNB()), "estimator: GaussianNB cannot do regression"),
        (AdaBoostClassifier(LinearRegression()), "estimator: LinearRegression cannot do"),
        (StackingClassifier(final_estimator=LinearRegression()), "final_estimator: LinearRegr"),
        (VotingClassifier([("a", GaussianNB()), ("a", GaussianNB())]), "'a' names two members"),
        (VotingClassifier([("a__b", GaussianNB())]), "two underscores in a row"),
        (VotingClassifier([("rule", GaussianNB())]), "'rule' is a parameter of VotingClassifier"),
    ],
)
def test_parts_and_names_that_cannot_be(ensemble, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match=words):
        ensemble.fit(X, y)
    with pytest.raises(NotFittedError):
        ensemble.predict(X)


def test_a_fit_that_fails_leaves_no_old_members():
    X, y = load_iris(return_X_y=True)
    ensemble = VotingClassifier([("bayes", GaussianNB())]).fit(X, y)
    with pytest.raises(DataError, match="only one class"):
        ensemble.fit(X, np.zeros(150))
    with pytest.raises(NotFittedError):
        ensemble.predict(X)


def test_refused_rows_keep_the_labels_of_the_others():
    X, y = load_iris(return_X_y=True)
    for threshold in (0.0, 0.9):
        cascade = CascadeClassifier(
            [GaussianNB()], thresholds=threshold, remainder="reject", random_state=0
        )
        predicted = cascade.fit(X, y).predict(X)
        assert predicted.dtype == object
        answered = predicted != "reject"
        assert np.mean(predicted[answered] == y[answered]) > 0.95
