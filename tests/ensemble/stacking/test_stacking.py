"""Stacking without leaks, weights on the simplex, trees that select, selection, metalearners."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier as TheirStack
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as TheirTree

from verulam.base import DataError, spawn_seeds
from verulam.data import dataset
from verulam.ensemble import (
    CorrelationPruning,
    Correspondence,
    CorrespondenceClassifier,
    EigenLearners,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    MemberOutputs,
    MemberSelection,
    StackingClassifier,
    StackingRegressor,
    combine,
    correspondence_analysis,
    out_of_fold_outputs,
    prune_correlated,
    select_members,
    simplex_weights,
)
from verulam.ensemble._members.members import fold_numbers
from verulam.ensemble._stacking.selection import _shrink
from verulam.parametric import LeastSquares, NaiveBayes, NearestMean
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

WINE, MPG = dataset("wine"), dataset("auto_mpg")
X, Y = WINE.inputs.to_numpy(), np.asarray(WINE.target_values)
PARTS = [
    ("nb", GaussianNB()),
    ("stump", TheirTree(max_depth=1)),
    ("tree", TheirTree(max_depth=2, random_state=0)),
]


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels of the rows it was taught with, and says so."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.labels_ = dict(zip(np.asarray(X)[:, 0].tolist(), y, strict=True))
        return self

    def predict_proba(self, X):
        rows = [self.labels_.get(value) for value in np.asarray(X)[:, 0]]
        return np.array([[float(label == row) for label in self.classes_] for row in rows])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Spy(NaiveBayes):
    """Keeps the table that it was trained on."""

    seen = []  # noqa: RUF012

    def fit(self, X, y=None, sample_weight=None):
        Spy.seen.append(np.asarray(X).copy())
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("options", [{"folds": 4}, {"validation_fraction": 0.3}])
def test_no_stacker_sees_a_row_that_its_member_was_taught_with(options):
    Spy.seen.clear()
    rows, labels = np.arange(60.0)[:, None], np.arange(60) % 2
    StackingClassifier([("memory", Memory())], Spy(), random_state=0, **options).fit(rows, labels)
    (table,) = Spy.seen
    assert (table == 0).all(), "a member that was asked about its own rows would have known them"
    assert len(table) == (60 if "folds" in options else 18)
    known = Memory().fit(rows, labels).predict_proba(rows)
    assert (known.sum(axis=1) == 1).all()


def test_a_stack_is_that_of_scikit_learn_on_the_same_folds():
    codes = np.unique(Y, return_inverse=True)[1]
    numbers = fold_numbers(codes, 178, 5, spawn_seeds(0, 3)[0])
    ours = StackingClassifier(PARTS, GaussianNB(), folds=5, random_state=0).fit(X, Y)
    theirs = TheirStack(PARTS, GaussianNB(), cv=PredefinedSplit(numbers)).fit(X, Y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.evaluations_ == 3
    assert ours.used_members_ == ["nb", "stump", "tree"]


def test_labels_can_be_stacked_and_the_default_combiner_learns():
    stack = StackingClassifier(PARTS, NaiveBayes(), outputs="labels", random_state=0).fit(X, Y)
    assert set(np.unique(stack.member_outputs(X).values)) == {0.0, 1.0}
    assert stack.score(X, Y) > 0.9
    assert StackingClassifier(PARTS, random_state=0).fit(X, Y).score(X, Y) > 0.95


def test_simplex_weights_solve_the_constrained_problem():
    random = np.random.default_rng(0)
    targets = random.normal(size=80)
    outputs = np.stack(
        [
            targets + random.normal(scale=s, size=80) + b
            for s, b in ((0.5, 0), (1, 0.4), (2, -1), (0.8, 0))
        ]
    )
    weights = simplex_weights(outputs, targets)
    search = minimize(
        lambda w: np.mean((w @ outputs - targets) ** 2), np.full(4, 0.25), method="SLSQP",
        bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert np.allclose(weights, search.x, atol=1e-4)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert simplex_weights([targets, targets + 1], targets).tolist() == [1.0, 0.0]
    assert np.allclose(simplex_weights([targets, targets], targets), 0.5)


def test_a_simplex_stack_votes_with_its_weights():
    stack = StackingClassifier(PARTS, "simplex", random_state=0).fit(X, Y)
    assert np.allclose(
        stack.predict_proba(X), combine(stack.member_outputs(X), weights=stack.weights_)
    )
    assert stack.evaluations_ == (stack.weights_ > 0).sum()
    regressor = StackingRegressor(final_estimator="simplex", random_state=0).fit(
        MPG.inputs, MPG.target_values
    )
    values = regressor.member_outputs(MPG.inputs).values[:, :, 0]
    assert np.allclose(regressor.predict(MPG.inputs), regressor.weights_ @ values)


def test_a_linear_stacker_may_add_a_bias_and_take_any_sign():
    rows = np.linspace(-1, 1, 60)[:, None]
    members = [("a", LeastSquares()), ("b", DecisionTreeRegressor(max_depth=1))]
    stack = StackingRegressor(members, random_state=0).fit(rows, rows[:, 0] ** 2 + rows[:, 0] + 5)
    assert isinstance(stack.final_estimator_, LeastSquares)
    features = stack.member_outputs(rows).features
    assert np.allclose(
        stack.predict(rows),
        features @ stack.final_estimator_.coef_ + stack.final_estimator_.intercept_,
    )


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_tree_asks_only_the_members_on_its_path(kind):
    if kind == "classes":
        stack = StackingClassifier(
            PARTS, DecisionTreeClassifier(max_leaf_nodes=3), random_state=0
        ).fit(X, Y)
        table, outputs = X, stack.member_outputs(X).features
        eager = stack.final_estimator_.predict_proba(outputs)
        assert np.allclose(stack.predict_proba(X), eager)
    else:
        stack = StackingRegressor(
            final_estimator=DecisionTreeRegressor(max_depth=3), random_state=0
        )
        table = MPG.inputs
        stack.fit(table, MPG.target_values)
        eager = stack.final_estimator_.predict(stack.member_outputs(table).features)
        assert np.allclose(stack.predict(table), eager)
    asked = stack.evaluations(table)
    assert asked.min() >= 1
    assert asked.mean() == stack.evaluations_ < 3


def outputs_and_truth():
    members = [
        NaiveBayes(),
        NearestMean(),
        DecisionTreeClassifier(),
        DecisionTreeClassifier(max_depth=1),
    ]
    return out_of_fold_outputs(members, X, Y, random_state=0)


def accuracy(outputs, members):
    votes = combine(outputs.of(list(members)))
    return (outputs.classes[votes.argmax(axis=1)] == Y).mean()


def test_selection_is_never_worse_than_where_it_starts_and_near_the_best_subset():
    outputs = outputs_and_truth()
    best = max(
        accuracy(outputs, subset) for size in range(1, 5) for subset in combinations(range(4), size)
    )
    single = max(accuracy(outputs, [member]) for member in range(4))
    for direction in ("forward", "backward", "floating"):
        selection = select_members(outputs, Y, direction=direction)
        assert isinstance(selection, MemberSelection)
        assert selection.score == pytest.approx(accuracy(outputs, selection.members))
        floor = single if direction != "backward" else accuracy(outputs, range(4))
        assert best >= selection.score >= floor
        scores = [score for _, score in selection.steps]
        assert (np.diff(scores) >= -1e-12).all()
    assert select_members(outputs, Y).score == pytest.approx(best)


def test_floating_search_leaves_out_what_it_added():
    """The best member alone leads to the other two, which are perfect without it."""
    errors = np.array([[0.0, 1.0], [1.2, -0.6], [-1.2, 0.6]])
    outputs = MemberOutputs(errors[:, :, None], ("alone", "plus", "minus"))
    assert select_members(outputs, np.zeros(2)).names == ("alone", "plus", "minus")
    assert select_members(outputs, np.zeros(2), direction="floating").names == ("plus", "minus")


def test_members_without_effect_stay_in_a_floating_search_alone():
    """There, what makes no difference would be added and left out for ever."""
    for strictly, members in ((True, (0, 1, 2)), (False, (2,))):
        assert _shrink((0, 1, 2), 0.5, lambda _: 0.5, [], strictly=strictly) == (members, 0.5)


def test_a_backward_search_finds_members_that_are_perfect_together():
    """The first member is the best alone, and the other two are perfect together."""
    truth = np.zeros(6)
    errors = np.array([[1, 1, 1, 1, 1, 1], [3, -3, 3, -3, 3, -3], [-3, 3, -3, 3, -3, 3.0]])
    outputs = MemberOutputs((truth + errors)[:, :, None], ("alone", "plus", "minus"))
    assert select_members(outputs, truth).names == ("alone",)
    assert select_members(outputs, truth, direction="backward").names == ("plus", "minus")
    weighted = select_members(outputs, truth, direction="backward", combiner="simplex")
    assert weighted.score == pytest.approx(0)


def test_costs_count_by_their_weight():
    outputs = outputs_and_truth()
    free = select_members(outputs, Y, direction="backward", costs=[5, 1, 1, 1], cost_weight=0.0)
    assert free.members == select_members(outputs, Y, direction="backward").members
    dear = select_members(outputs, Y, costs=[5, 1, 1, 1], cost_weight=0.1)
    assert 0 not in dear.members
    assert dear.score == pytest.approx(accuracy(outputs, dear.members) - 0.1 * len(dear.members))


def test_members_may_be_taken_again():
    truth = np.zeros(4)
    outputs = MemberOutputs(np.array([[1.0, 1, 1, 1], [-2.0, -2, -2, -2]])[:, :, None], ("a", "b"))
    assert select_members(outputs, truth, replace=True).members == (0, 0, 1)
    assert select_members(outputs, truth).score == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "up"}, "direction='up'"),
        ({"combiner": "tree"}, "combiner='tree'"),
        ({"direction": "backward", "replace": True}, "replace=True"),
        ({"costs": [1.0]}, "costs must be 4"),
    ],
)
def test_searches_that_cannot_be(options, message):
    with pytest.raises(DataError, match=message):
        select_members(outputs_and_truth(), Y, **options)


def test_selected_members_vote():
    members = [
        ("bayes", NaiveBayes()),
        ("means", NearestMean()),
        ("tree", DecisionTreeClassifier()),
    ]
    for combiner in ("vote", "simplex"):
        model = EnsembleSelectionClassifier(
            members, direction="backward", combiner=combiner, random_state=0
        )
        model.fit(X, Y)
        assert model.evaluations_ == len(model.estimators_) == len(set(model.selection_.members))
        assert model.weights_.sum() == pytest.approx(1)
        assert model.score(X, Y) > 0.95
    regressor = EnsembleSelectionRegressor(replace=True, random_state=0).fit(
        MPG.inputs, MPG.target_values
    )
    values = np.array([part.predict(MPG.inputs) for _, part in regressor.estimators_])
    assert np.allclose(regressor.predict(MPG.inputs), regressor.weights_ @ values)


def test_of_correlated_members_the_worse_is_dropped():
    random = np.random.default_rng(0)
    noise = random.normal(size=(3, 300))
    errors = np.stack([noise[0], 2 * noise[0] + 0.01 * noise[1], noise[1], noise[2]])
    outputs = MemberOutputs(errors[:, :, None], tuple("abcd"))
    report = prune_correlated(outputs, np.zeros(300))
    assert isinstance(report, CorrelationPruning)
    assert report.members == (0, 2, 3)
    assert report.dropped == (1,)
    assert np.allclose(report.correlations, np.corrcoef(errors))
    assert report.effective_before == pytest.approx(1 / np.corrcoef(errors).mean())
    assert report.effective_after == pytest.approx(3, rel=0.1)
    assert prune_correlated(outputs, np.zeros(300), threshold=1.1).members == (0, 1, 2, 3)


def test_eigenlearners_are_the_principal_components_of_the_outputs():
    eigen = EigenLearners(PARTS, n_components=4, final_estimator=NaiveBayes(), random_state=0).fit(
        X, Y
    )
    outputs = out_of_fold_outputs(PARTS, X, Y, random_state=0)
    components = (outputs.features - outputs.features.mean(axis=0)) @ eigen.loadings_
    covariance = np.cov(components, rowvar=False, bias=True)
    assert np.allclose(covariance, np.diag(eigen.variances_), atol=1e-12)
    theirs = PCA(4).fit(outputs.features)
    assert np.allclose(np.abs(theirs.components_), np.abs(eigen.loadings_.T), atol=1e-8)
    assert eigen.output_names_ == outputs.feature_names
    assert np.allclose(np.linalg.norm(eigen.loadings_, axis=0), 1)
    assert eigen.components(X).shape == (178, 4)
    assert eigen.score(X, Y) > 0.95


def test_any_extractor_may_make_the_metalearners():
    eigen = EigenLearners(
        PARTS, extractor=PCA(2, whiten=True), final_estimator=NaiveBayes(), random_state=0
    )
    eigen.fit(X, Y)
    assert eigen.loadings_ is None
    assert eigen.components(X).shape == (178, 2)
    assert eigen.score(X, Y) > 0.9


def test_correspondence_analysis_from_its_definition():
    table = np.array([[20, 5, 1], [4, 18, 6], [2, 7, 25.0]])
    record = correspondence_analysis(table)
    assert isinstance(record, Correspondence)
    shares = table / table.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    assert record.inertias.sum() == pytest.approx(((shares - expected) ** 2 / expected).sum())
    profiles = table / table.sum(axis=1, keepdims=True)
    assert np.allclose(record.rows, profiles @ record.columns)
    masses = shares.sum(axis=1)
    assert np.allclose((masses[:, None] * record.rows**2).sum(axis=0), record.inertias)
    with pytest.raises(DataError, match="some in every row"):
        correspondence_analysis([[0, 0], [1, 2]])


def test_scann_takes_the_nearest_class():
    scann = CorrespondenceClassifier(PARTS, random_state=0).fit(X, Y)
    places = scann.coordinates(X)
    nearest = ((places[:, None] - scann.centres_) ** 2).sum(axis=2).argmin(axis=1)
    assert (scann.predict(X) == scann.classes_[nearest]).all()
    assert scann.score(X, Y) > 0.95
    assert scann.columns_.shape[0] == len(scann.output_names_) == 9
