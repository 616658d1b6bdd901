"""Weights of rows: whole numbers count rows so often, in members and in what is found of them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BestSingleClassifier,
    BestSingleRegressor,
    CascadeClassifier,
    CascadeRegressor,
    CorrespondenceClassifier,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EigenLearners,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    GatedClassifier,
    GatedRegressor,
    IncrementalCodeClassifier,
    MemberOutputs,
    MultiViewClassifier,
    OutputCodeClassifier,
    ResidualBoostingRegressor,
    SharedFactors,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    estimated_weights,
    score_scale,
    select_members,
    simplex_weights,
    variance_analysis,
)
from verulam.ensemble._local import cascade, dynamic, gated
from verulam.ensemble._members.members import takes_weights, weight_argument
from verulam.ensemble._stacking import metalearners, selection, stacking
from verulam.ensemble._voting import best_single, voting
from verulam.linear import LogisticDiscriminant
from verulam.nonparametric import KNeighborsClassifier, NeighbourSmoother
from verulam.parametric import LeastSquares, NaiveBayes, NearestMean
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

WINE = dataset("wine")
X, Y = WINE.inputs.to_numpy()[::2, [0, 1, 2, 6, 9]], np.asarray(WINE.target_values)[::2]
NUMBERS = np.sin(X[:, 0]) + X[:, 3] + 0.3 * X[:, 1]
COUNTS = np.random.default_rng(0).integers(0, 4, size=len(X))
PLACES = np.repeat(np.arange(len(X)), COUNTS)
FOLDS = np.arange(len(X)) % 3
WITH_FOLDS = (voting, best_single, stacking, selection, metalearners, dynamic, gated)


class SureLine(LeastSquares):
    """A line that says how sure it is."""

    def predict(self, X, return_std=False):
        values = super().predict(X)
        return (values, np.abs(values)) if return_std else values


class SignRegions(gated.Regions):
    """Two regions without chance."""

    def transform(self, X):
        first = np.asarray(X)[:, 0] > 13.0
        return np.column_stack([0.1 + 0.8 * first, 0.9 - 0.8 * first])


@pytest.fixture
def deal_rows(monkeypatch):
    """Return what shares out rows by where they stand in X, so that copies stay together."""

    def deal(rows):
        def numbers(codes, n_rows, folds, seed):
            return FOLDS[rows] if n_rows > folds else np.arange(n_rows)

        def divided(self, part, codes, random):
            fresh = FOLDS[rows[part]] == 0
            return part[~fresh], part[fresh]

        for module in WITH_FOLDS:
            monkeypatch.setattr(module, "fold_numbers", numbers)
        monkeypatch.setattr(CascadeClassifier, "_divided", divided)
        monkeypatch.setattr(cascade, "FEWEST_ROWS", 3)
        monkeypatch.setattr(gated, "Regions", SignRegions)

    return deal


def classifiers():
    parts = [NaiveBayes(), DecisionTreeClassifier(max_depth=2)]
    three = [*parts, NearestMean()]
    scaled = make_pipeline(StandardScaler(), LogisticDiscriminant(alpha=0.1))
    logistic = [LogisticDiscriminant(alpha=0.1), LogisticDiscriminant(alpha=0.01)]
    yield VotingClassifier([*parts, scaled])
    for weights in ("accuracy", "log_odds", "covariance", "posterior"):
        yield VotingClassifier(parts, weights=weights)
    for scaling in ("min_max", "z", "median", "tanh"):
        yield VotingClassifier(parts, scaling=scaling)
    yield BestSingleClassifier(parts)
    yield StackingClassifier(parts)
    yield StackingClassifier(parts, "simplex")
    yield StackingClassifier(parts, DecisionTreeClassifier(max_depth=2))
    yield EnsembleSelectionClassifier(three)
    yield EnsembleSelectionClassifier(three, combiner="simplex", direction="backward")
    yield EigenLearners(parts)
    yield CorrespondenceClassifier(parts)
    yield OutputCodeClassifier(DecisionTreeClassifier(max_depth=2))
    yield IncrementalCodeClassifier(DecisionTreeClassifier(max_depth=1))
    yield IncrementalCodeClassifier(DecisionTreeClassifier(max_depth=1), learn_code=True)
    yield CascadeClassifier(parts, thresholds=0.95)
    yield GatedClassifier(parts, max_iter=3)
    yield GatedClassifier(parts, gate=LogisticDiscriminant(alpha=0.1), max_iter=3)
    yield GatedClassifier(logistic, training="joint", max_iter=3)
    for integration in ("late", "early", "latent"):
        yield MultiViewClassifier(integration=integration)
    yield MultiViewClassifier(combiner="stacking")


def regressors():
    parts = [LeastSquares(), DecisionTreeRegressor(max_depth=2)]
    yield VotingRegressor(parts)
    for weights in ("accuracy", "covariance", "posterior"):
        yield VotingRegressor(parts, weights=weights)
    yield BestSingleRegressor(parts)
    yield StackingRegressor(parts)
    yield StackingRegressor(parts, "simplex")
    yield EnsembleSelectionRegressor(parts, replace=True)
    yield GatedRegressor(parts, max_iter=3)
    yield GatedRegressor([LeastSquares(), LeastSquares()], training="joint", max_iter=3)
    yield CascadeRegressor([SureLine(), SureLine()])
    yield ResidualBoostingRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=4)


def named(learner):
    return str(learner).replace("\n", "").replace(" ", "")[:70]


@pytest.mark.parametrize("learner", [*classifiers(), *regressors()], ids=named)
def test_weights_count_rows(learner, deal_rows):
    is_class = hasattr(learner, "predict_proba")
    targets, outputs = (Y, "predict_proba") if is_class else (NUMBERS, "predict")
    used = np.flatnonzero(COUNTS)
    deal_rows(used)
    learner.set_params(random_state=0).fit(X, targets, sample_weight=COUNTS)
    weighted, cost = getattr(learner, outputs)(X), learner.evaluations_
    deal_rows(PLACES)
    repeated = getattr(learner.fit(X[PLACES], targets[PLACES]), outputs)(X)
    assert np.allclose(weighted, repeated, atol=1e-3)
    assert cost == pytest.approx(learner.evaluations_)
    deal_rows(np.arange(len(X)))
    assert not np.allclose(getattr(learner.fit(X, targets), outputs)(X), weighted, atol=1e-3)


@pytest.mark.parametrize("rule", ["best", "vote"])
def test_neighbours_of_more_weight_decide_who_is_competent(rule):
    line = np.linspace(0.0, 1.0, 60)[:, None]
    labels = (np.arange(60) % 10 < 5).astype(int)
    members = [("one", NaiveBayes()), ("other", DecisionTreeClassifier(max_depth=3))]
    dynamic_ = DynamicSelectionClassifier(members, n_neighbors=9, rule=rule, random_state=0)
    dynamic_.fit(line, labels, sample_weight=np.full(60, 2.0))
    before = dynamic_.competent(line)
    assert np.array_equal(before, dynamic_.fit(line, labels).competent(line))
    wrong = ~dynamic_.right_[0]
    # Where the first member is wrong and the other right, that is all that counts.
    dynamic_._counts = np.where(wrong & dynamic_.right_[1], 1e6, 1.0)
    after = dynamic_.competent(line)
    assert after[1].sum() > before[1].sum()
    numbers = DynamicSelectionRegressor([LeastSquares(), DecisionTreeRegressor(max_depth=2)])
    numbers.fit(line, line[:, 0] ** 2, sample_weight=np.arange(60) + 1.0)
    assert np.isfinite(numbers.predict(line)).all()


NEAR = KNeighborsClassifier()


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (VotingClassifier(), "neighbours"),
        (BestSingleClassifier(), "neighbours"),
        (StackingClassifier(), "neighbours"),
        (StackingClassifier([NaiveBayes()], NEAR), "final_estimator"),
        (EnsembleSelectionClassifier(), "neighbours"),
        (EigenLearners([NaiveBayes()], final_estimator=NEAR), "final_estimator"),
        (EigenLearners([NaiveBayes()], extractor=make_pipeline(StandardScaler(), SharedFactors())),
         None),
        (CorrespondenceClassifier(), "neighbours"),
        (DynamicSelectionClassifier(), "neighbours"),
        (GatedClassifier(), "neighbours"),
        (CascadeClassifier(), "neighbours"),
        (OutputCodeClassifier(NEAR), "estimator"),
        (IncrementalCodeClassifier(NEAR), "estimator"),
        (MultiViewClassifier(estimator=NEAR), "estimator"),
        (MultiViewClassifier(estimator=NEAR, integration="early"), "estimator"),
        (VotingRegressor(), "neighbours"),
        (BestSingleRegressor(), "neighbours"),
        (StackingRegressor(), "neighbours"),
        (EnsembleSelectionRegressor(), "neighbours"),
        (DynamicSelectionRegressor(), "neighbours"),
        (GatedRegressor(), "neighbours"),
        (CascadeRegressor([NeighbourSmoother()]), "NeighbourSmoother"),
        (ResidualBoostingRegressor(NeighbourSmoother()), "estimator"),
    ],
    ids=named,
)  # fmt: skip
def test_a_member_that_takes_no_weights_is_named(learner, name):
    targets = Y if hasattr(learner, "predict_proba") else NUMBERS
    if name is None:
        assert learner.fit(X, targets, sample_weight=COUNTS).variances_.shape == (1,)
        return
    with pytest.raises(DataError, match=rf"sample_weight: member '{name}' \(.*takes no weights"):
        learner.fit(X, targets, sample_weight=COUNTS)


def test_an_ensemble_takes_weights_if_its_members_do():
    assert takes_weights(VotingClassifier([NaiveBayes()]))
    assert not takes_weights(VotingClassifier([NaiveBayes(), KNeighborsClassifier()]))
    assert not takes_weights(BaggingClassifier(KNeighborsClassifier()))
    assert not takes_weights(make_pipeline(StandardScaler(), BaggingClassifier(NEAR)))
    assert takes_weights(AdaBoostClassifier(NEAR, method="resampling"))
    assert not takes_weights(AdaBoostClassifier(NEAR))


def test_all_steps_that_can_weigh_rows_do():
    steps = make_pipeline(StandardScaler(), make_pipeline(SharedFactors(), NaiveBayes()))
    assert list(weight_argument(steps, np.ones(2))) == [
        "standardscaler__sample_weight",
        "pipeline__sharedfactors__sample_weight",
        "pipeline__naivebayes__sample_weight",
    ]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(len(X)), "sample_weight is zero for every row"),
        (np.equal(Y, Y[0]).astype(float), "sample_weight leaves y only one class"),
        (-COUNTS, "[Nn]egative"),
        (COUNTS[:5], "inconsistent|shape"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        VotingClassifier([NaiveBayes()]).fit(X, Y, sample_weight=weights)


def test_functions_of_outputs_count_rows():
    random = np.random.default_rng(1)
    said, truth = random.normal(size=(3, len(X), 1)), random.normal(size=len(X))
    outputs = MemberOutputs(said, ("a", "b", "c"))
    repeated = MemberOutputs(said[:, PLACES], ("a", "b", "c"))
    assert np.allclose(
        simplex_weights(outputs, truth, COUNTS), simplex_weights(repeated, truth[PLACES])
    )
    for method in ("accuracy", "covariance", "posterior"):
        assert np.allclose(
            estimated_weights(outputs, truth, method, COUNTS),
            estimated_weights(repeated, truth[PLACES], method),
        )
    one = variance_analysis(outputs, truth, sample_weight=COUNTS)
    other = variance_analysis(repeated, truth[PLACES])
    assert np.allclose(one.covariances, other.covariances)
    assert one.mean_squared_error == pytest.approx(other.mean_squared_error)
    weighted = select_members(outputs, truth, sample_weight=COUNTS)
    assert weighted.score == pytest.approx(select_members(repeated, truth[PLACES]).score)
    for method in ("z", "median", "tanh", "min_max"):
        one = score_scale(said[0, COUNTS > 0], method, COUNTS[COUNTS > 0])
        other = score_scale(said[0, PLACES], method)
        assert np.allclose([one.centre, one.width], [other.centre, other.width])
    with pytest.raises(DataError, match=r"sample_weight must be 89 finite numbers of 0 or more"):
        simplex_weights(outputs, truth, COUNTS[:3])
