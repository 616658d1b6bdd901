"""Mixtures and trees of experts: gradients, limits, likelihoods, what each expert holds."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

from verulam.base import DataError, DataWarning
from verulam.local import (
    ExpertDiagnostics,
    HierarchicalExpertsClassifier,
    HierarchicalExpertsRegressor,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    trace_experts,
)
from verulam.local._experts.parts import HiddenExperts, LinearExperts, TreeGate, even_tree
from verulam.local._radial.gates import RadialGate
from verulam.local._radial.mixing import Targets
from verulam.local._radial.objective import ConstantExperts, LocalError, LocalModel
from verulam.local._radial.units import UnitLayout

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(30, 3))
LINE = np.linspace(-1, 1, 120)[:, None]
VEE = np.abs(LINE[:, 0]) + 0.01 * RANDOM.normal(size=120)
PLANE = RANDOM.uniform(-1, 1, size=(200, 2))
ABOVE = (PLANE[:, 1] > np.abs(PLANE[:, 0])).astype(int)
IRIS, SPECIES = load_iris(return_X_y=True)
GATES = {
    "softmax": TreeGate(3, even_tree((4,))),
    "two levels": TreeGate(3, even_tree((2, 2))),
    "uneven": TreeGate(3, (None, ((None, None), None))),
    "hidden layer": TreeGate(3, even_tree((4,)), 5),
    "radial": RadialGate(UnitLayout(4, 3, "diag")),
}
EXPERTS = {
    "constant": ConstantExperts(4, 2),
    "linear": LinearExperts(3, 4, 2),
    "perceptrons": HiddenExperts(3, 4, 2, 3),
    "low rank": HiddenExperts(3, 4, 2, 2, "identity"),
}
LEARNERS = (
    MixtureOfExpertsRegressor, HierarchicalExpertsRegressor, MixtureOfExpertsClassifier,
    HierarchicalExpertsClassifier,
)  # fmt: skip


def problem(gate, experts, competitive, classes, seed=1):
    random = np.random.default_rng(seed)
    model = LocalModel(gate, experts, 3, 2, "none", competitive, classes)
    numbers = random.normal(size=(30, 2))
    targets = Targets(np.eye(2)[(numbers[:, 0] > 0).astype(int)] if classes else numbers, classes)
    error = LocalError(model, ROWS, targets, random.uniform(0.5, 2.0, size=30))
    return error, 0.5 * random.normal(size=model.n_parameters)


@pytest.mark.parametrize(
    ("gate", "experts", "competitive", "classes"),
    list(product(GATES, EXPERTS, (False, True), (False, True))),
)
def test_gradients_by_central_differences(gate, experts, competitive, classes):
    error, theta = problem(GATES[gate], EXPERTS[experts], competitive, classes)
    step = 1e-6
    numeric = [
        (
            error.value_and_gradient(theta + step * direction)[0]
            - error.value_and_gradient(theta - step * direction)[0]
        )
        / (2 * step)
        for direction in np.eye(len(theta))
    ]
    assert_allclose(error.value_and_gradient(theta)[1], numeric, atol=1e-8)


def test_steps_of_a_tree_are_the_corrected_ones():
    """Alpaydin ex. 9 with r - y_ij in place of the printed r - y."""
    gate, experts = TreeGate(3, even_tree((2, 2))), LinearExperts(3, 4, 1)
    model = LocalModel(gate, experts, 3, 1, "none", True)
    theta = 0.5 * np.random.default_rng(3).normal(size=model.n_parameters)
    theta[-1] = 0.0
    r = np.random.default_rng(4).normal(size=(30, 1))
    error = LocalError(model, ROWS, Targets(r, False))
    by_gate, by_expert, _, _ = model.split(30 * error.value_and_gradient(theta)[1])
    x = np.column_stack([np.ones(30), ROWS])
    planes = x @ theta[:24].reshape(4, 6)
    soft = [np.exp(planes[:, part]) for part in (slice(0, 2), slice(2, 4), slice(4, 6))]
    root, *below = [part / part.sum(axis=1, keepdims=True) for part in soft]
    outputs = x @ theta[24:40].reshape(4, 4)
    joint = np.hstack([root[:, [i]] * below[i] for i in (0, 1)]) * np.exp(-0.5 * (r - outputs) ** 2)
    f = joint / joint.sum(axis=1, keepdims=True)
    assert_allclose(by_expert.reshape(4, 4), -x.T @ (f * (r - outputs)), atol=1e-9)
    f_i = np.column_stack([f[:, :2].sum(axis=1), f[:, 2:].sum(axis=1)])
    expected = [x.T @ (f_i - root)]
    for i in (0, 1):
        mine = f[:, 2 * i : 2 * i + 2]
        expected.append(x.T @ (mine - f_i[:, [i]] * below[i]))
    assert_allclose(by_gate.reshape(4, 6), -np.hstack(expected), atol=1e-9)


def test_steps_of_experts_are_the_printed_ones():
    """Alpaydin 12.51, 12.52 for experts that cooperate, 12.55, 12.56 for those that compete."""
    x = np.column_stack([np.ones(30), ROWS])
    r = np.random.default_rng(4).normal(size=(30, 1))
    gate, experts = TreeGate(3, even_tree((3,))), LinearExperts(3, 3, 1)
    for competitive in (False, True):
        model = LocalModel(gate, experts, 3, 1, "none", competitive)
        theta = 0.5 * np.random.default_rng(3).normal(size=model.n_parameters)
        if competitive:
            theta[-1] = 0.0
        error = LocalError(model, ROWS, Targets(r, False))
        by_gate, by_expert, _, _ = model.split(30 * error.value_and_gradient(theta)[1])
        g = np.exp(x @ theta[:12].reshape(4, 3))
        g /= g.sum(axis=1, keepdims=True)
        w = x @ theta[12:24].reshape(4, 3)
        if competitive:
            f = g * np.exp(-0.5 * (r - w) ** 2)
            f /= f.sum(axis=1, keepdims=True)
            steps = x.T @ (f - g), x.T @ (f * (r - w))
        else:
            y = (g * w).sum(axis=1, keepdims=True)
            steps = x.T @ ((r - y) * (w - y) * g), x.T @ ((r - y) * g)
        assert_allclose(by_gate.reshape(4, 3), -steps[0], atol=1e-9)
        assert_allclose(by_expert.reshape(4, 3), -steps[1], atol=1e-9)


@pytest.mark.parametrize("training", ["em", "gradient"])
def test_one_expert_is_least_squares_or_softmax(training):
    options = {"alpha": 0, "training": training, "tol": 1e-9}
    rows, target = ROWS, ROWS @ [1.0, 2.0, 3.0] + RANDOM.normal(size=30)
    line = LinearRegression().fit(rows, target)
    for learner in (
        MixtureOfExpertsRegressor(1, **options),
        MixtureOfExpertsRegressor(1, gate="radial", **options),
        HierarchicalExpertsRegressor((1, 1), **options),
    ):
        learner.fit(rows, target)
        assert_allclose(learner.predict(rows), line.predict(rows), atol=1e-6)
        assert_allclose(learner.coef_[0], line.coef_, atol=1e-6)
        assert_allclose(learner.intercept_[0], line.intercept_, atol=1e-6)
    scaled = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    theirs = LogisticRegression(C=2.0, tol=1e-9, max_iter=5000).fit(scaled, SPECIES)
    ours = MixtureOfExpertsClassifier(1, **{**options, "alpha": 0.5}).fit(IRIS, SPECIES)
    assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(scaled), atol=1e-4)


@pytest.mark.parametrize("training", ["em", "gradient", "em-gradient"])
def test_a_tree_of_depth_one_is_the_mixture(training):
    options = {"training": training, "random_state": 0}
    tree = HierarchicalExpertsRegressor((3,), **options).fit(LINE, VEE)
    mixture = MixtureOfExpertsRegressor(3, **options).fit(LINE, VEE)
    assert_allclose(tree.predict(LINE), mixture.predict(LINE), atol=1e-12)
    tree = HierarchicalExpertsClassifier((2,), **options).fit(PLANE, ABOVE)
    mixture = MixtureOfExpertsClassifier(2, **options).fit(PLANE, ABOVE)
    assert_allclose(tree.predict_proba(PLANE), mixture.predict_proba(PLANE), atol=1e-12)


@pytest.mark.filterwarnings("ignore:Training ended at max_iter")
@pytest.mark.parametrize("gate", ["softmax", "radial"])
def test_expectation_maximisation_never_lowers_the_likelihood(gate):
    for learner, rows, target in (
        (MixtureOfExpertsRegressor(4, gate=gate, tol=1e-7), LINE, VEE),
        (MixtureOfExpertsRegressor(3, gate=gate, tol=1e-7), LINE, np.column_stack([VEE, LINE])),
        (MixtureOfExpertsClassifier(3, gate=gate, tol=1e-6), PLANE, ABOVE),
        (HierarchicalExpertsRegressor((2, 2), tol=1e-7), LINE, VEE),
        (HierarchicalExpertsClassifier((2, 2), tol=1e-5), IRIS, SPECIES),
    ):
        learner.set_params(random_state=0)
        learner.fit(rows, target)
        curve = learner.log_likelihoods_
        assert len(curve) > 2
        assert (np.diff(curve) >= -1e-9 * np.abs(curve[:-1])).all()


@pytest.mark.parametrize("training", ["em", "gradient"])
@pytest.mark.parametrize("gate", ["softmax", "radial"])
def test_two_lines_are_recovered(training, gate):
    learner = MixtureOfExpertsRegressor(2, gate=gate, training=training, random_state=0)
    learner.fit(LINE, VEE)
    assert_allclose(np.sort(learner.coef_.ravel()), [-1.0, 1.0], atol=0.05)
    assert_allclose(learner.intercept_, 0.0, atol=0.03)
    shares = learner.gate_weights([[-0.8], [0.8]])
    assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares.max(axis=1) > 0.95).all()
    assert learner.noise_ < 0.03


@pytest.mark.parametrize("gate", ["softmax", "radial"])
def test_experts_that_cooperate(gate):
    options = {
        "combination": "cooperative",
        "training": "gradient",
        "gate": gate,
        "random_state": 0,
    }
    learner = MixtureOfExpertsRegressor(2, **options).fit(LINE, VEE)
    assert learner.score(LINE, VEE) > 0.99
    outputs = learner.expert_outputs(LINE)[:, :, 0]
    mixed = (learner.gate_weights(LINE) * outputs).sum(axis=1)
    assert_allclose(mixed, learner.predict(LINE), atol=1e-9)
    classes = MixtureOfExpertsClassifier(2, **options).fit(PLANE, ABOVE)
    assert classes.score(PLANE, ABOVE) > 0.97
    sums = np.einsum("hkj,nj->nhk", classes.coef_, PLANE) + classes.intercept_
    sums = np.einsum("nh,nhk->nk", classes.gate_weights(PLANE), sums)
    exponentials = np.exp(sums - sums.max(axis=1, keepdims=True))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    assert_allclose(classes.predict_proba(PLANE), expected, atol=1e-9)


def test_classes_of_competing_experts_are_mixed_by_the_gate():
    learner = MixtureOfExpertsClassifier(2, random_state=0).fit(PLANE, ABOVE)
    sums = np.einsum("hkj,nj->nhk", learner.coef_, PLANE) + learner.intercept_
    exponentials = np.exp(sums - sums.max(axis=2, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=2, keepdims=True)
    assert_allclose(learner.expert_outputs(PLANE), probabilities, atol=1e-9)
    expected = np.einsum("nh,nhk->nk", learner.gate_weights(PLANE), probabilities)
    assert_allclose(learner.predict_proba(PLANE), expected, atol=1e-9)
    planes = PLANE @ learner.gate_coef_.T + learner.gate_intercept_
    gates = np.exp(planes - planes.max(axis=1, keepdims=True))
    assert_allclose(
        learner.gate_weights(PLANE), gates / gates.sum(axis=1, keepdims=True), atol=1e-9
    )


def test_descent_after_expectation_maximisation_lowers_the_error():
    options = {"gate": "radial", "covariance_type": "full", "random_state": 0}
    joint = MixtureOfExpertsRegressor(3, **options).fit(LINE, VEE)
    both = MixtureOfExpertsRegressor(3, training="em-gradient", **options).fit(LINE, VEE)
    assert both.loss_ < joint.loss_
    assert len(both.history_)


def test_perceptrons_as_experts_and_as_gate():
    """Alpaydin ex. 6."""
    rows = np.linspace(-1, 1, 150)[:, None]
    target = np.where(rows[:, 0] > 0, np.sin(6 * rows[:, 0]), np.cos(9 * rows[:, 0]))
    options = {"training": "gradient", "random_state": 0}
    linear = MixtureOfExpertsRegressor(2, **options).fit(rows, target)
    deep = MixtureOfExpertsRegressor(2, hidden_units=4, gate_hidden_units=3, **options)
    deep.fit(rows, target)
    assert deep.score(rows, target) > linear.score(rows, target) + 0.2
    with pytest.raises(AttributeError, match="coef_ and intercept_ are there for linear experts"):
        deep.coef_  # noqa: B018 - the property is the test
    with pytest.raises(AttributeError, match="gate_coef_ and gate_intercept_"):
        deep.gate_coef_  # noqa: B018 - the property is the test
    classes = MixtureOfExpertsClassifier(2, hidden_units=3, gate_hidden_units=3, **options)
    assert classes.fit(PLANE, ABOVE).score(PLANE, ABOVE) > 0.97


def test_experts_of_all_directions_are_plain_experts():
    """Alpaydin ex. 10: with as many directions as columns nothing is reduced."""
    random = np.random.default_rng(7)
    rows = random.normal(size=(150, 4))
    target = np.where(rows[:, 0] > 0, rows @ [1, 1, 0, 0], rows @ [0, 0, 1, -2]) + 3.0
    options = {"training": "gradient", "alpha": 0, "random_state": 0, "noise_scale": 0.5}
    options["max_iter"] = 2000  # directions and their weights are one product: a flat valley
    plain = MixtureOfExpertsRegressor(2, **options).fit(rows, target)
    for reduction in ("learned", "pca"):
        full = MixtureOfExpertsRegressor(2, n_directions=4, reduction=reduction, **options)
        full.fit(rows, target)
        assert full.loss_ == pytest.approx(plain.loss_, abs=1e-5)
        assert_allclose(full.predict(rows), plain.predict(rows), atol=1e-3)
    one = MixtureOfExpertsRegressor(2, n_directions=1, **options).fit(rows, target)
    assert one.score(rows, target) > 0.999
    assert np.linalg.matrix_rank(one.coef_[0][:, None]) == 1
    local = MixtureOfExpertsRegressor(2, n_directions=1, reduction="pca", **options)
    assert local.fit(rows, target).loss_ > one.loss_
    assert local.n_parameters_ == one.n_parameters_ - 2 * 5


def test_low_rank_experts_of_several_outputs():
    random = np.random.default_rng(8)
    rows = random.normal(size=(100, 5))
    targets = (rows[:, :1] + rows[:, 1:2]) * np.array([[1.0, 2.0, -1.0]])
    learner = MixtureOfExpertsRegressor(
        2, n_directions=1, training="gradient", combination="cooperative", random_state=0
    ).fit(rows, targets)  # fmt: skip
    assert learner.score(rows, targets) > 0.99
    assert np.linalg.matrix_rank(learner.coef_[0], tol=1e-8) == 1
    assert learner.intercept_.shape == (2, 3)


def test_any_depth_and_any_branching():
    waves = np.abs(np.abs(np.abs(LINE[:, 0]) - 0.5) - 0.25)
    learner = HierarchicalExpertsRegressor((2, 2, 2), random_state=0).fit(LINE, waves)
    assert learner.n_experts_ == 8
    assert learner.score(LINE, waves) > 0.95
    shares = learner.gate_weights(LINE)
    assert_allclose(shares.sum(axis=1), 1.0)
    uneven = HierarchicalExpertsClassifier((3, 2), alpha=0.1, tol=1e-3, random_state=0)
    assert uneven.fit(IRIS, SPECIES).n_experts_ == 6
    assert uneven.score(IRIS, SPECIES) > 0.96


def test_parameters_are_counted():
    """H (d + 1) of the gate and H K (d + 1) of the experts (Alpaydin ex. 5)."""
    learner = MixtureOfExpertsClassifier(3, tol=0.01, random_state=0).fit(IRIS, SPECIES)
    assert learner.n_parameters_ == 3 * 5 + 3 * 3 * 5
    numbers = MixtureOfExpertsRegressor(3, tol=0.01, random_state=0).fit(IRIS, SPECIES)
    assert numbers.n_parameters_ == 3 * 5 + 3 * 5 + 1
    stated = MixtureOfExpertsRegressor(3, noise_scale=0.1, tol=0.01, random_state=0)
    assert stated.fit(IRIS, SPECIES).n_parameters_ == 3 * 5 + 3 * 5
    assert stated.noise_ == pytest.approx(0.1)


def test_covariances_of_competing_experts_become_negative():
    trace = trace_experts(MixtureOfExpertsRegressor(2, random_state=0), LINE, VEE)
    assert trace["covariance"].iloc[-1] < 0
    assert trace["epoch"].tolist() == list(range(1, len(trace) + 1))
    assert trace["loss"].iloc[-1] < trace["loss"].iloc[0]
    descent = MixtureOfExpertsRegressor(
        2, training="gradient", solver="adam", max_iter=5, random_state=0
    )
    assert len(trace_experts(descent, LINE, VEE)) == 5
    with pytest.raises(TypeError, match="learner: expected a mixture or a tree of experts"):
        trace_experts(LinearRegression(), LINE, VEE)


def test_diagnostics_by_their_definition():
    learner = MixtureOfExpertsRegressor(3, random_state=0).fit(LINE, VEE)
    parts = learner.diagnose(LINE, VEE)
    assert isinstance(parts, ExpertDiagnostics)
    errors = learner.expert_outputs(LINE)[:, :, 0] - VEE[:, None]
    assert_allclose(parts.biases, errors.mean(axis=0))
    assert_allclose(parts.covariances, np.cov(errors.T, bias=True))
    average = errors.mean(axis=1)
    assert parts.bias == pytest.approx(average.mean())
    assert parts.variance_part + parts.covariance_part == pytest.approx(average.var())
    assert_allclose(parts.shares, learner.gate_weights(LINE).mean(axis=0))
    with pytest.raises(DataError, match="y: an array of numbers is expected"):
        learner.diagnose(LINE, ["a"] * 120)
    with pytest.raises(DataError, match="y has 3 entries for 120 rows"):
        learner.diagnose(LINE, VEE[:3])
    classes = MixtureOfExpertsClassifier(2, random_state=0).fit(PLANE, ABOVE)
    assert classes.diagnose(PLANE, ABOVE).covariances.shape == (2, 2)
    with pytest.raises(DataError, match="y has the label 6, which is none of the classes"):
        classes.diagnose(PLANE, ABOVE + 6)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_training_can_be_watched(learner):
    target = ABOVE if "Classifier" in learner.__name__ else PLANE[:, 0] ** 2
    watched = learner(training="em-gradient", solver="adam", max_iter=4, random_state=0)
    numbers = [epoch.number for epoch in watched.epochs(PLANE, target)]
    assert numbers == [1, 2, 3, 4, 1, 2, 3, 4]
    assert watched.n_iter_ == 8
    assert np.isfinite(watched.loss_)


def test_fewer_rows_than_experts_equal_rows_and_constant_columns():
    rows = np.repeat([[0.0, 1.0], [2.0, 1.0]], 3, axis=0)
    with pytest.warns(DataWarning, match="n_experts=4 is more than the 2 rows of X that differ"):
        learner = MixtureOfExpertsRegressor(alpha=1e-4, random_state=0).fit(
            rows, [0.0, 0, 0, 1, 1, 1]
        )
    assert_allclose(learner.predict(rows), [0, 0, 0, 1, 1, 1], atol=0.02)
    with pytest.warns(DataWarning, match="makes 4 experts, more than the 2 rows of X that differ"):
        tree = HierarchicalExpertsRegressor((2, 2), alpha=1e-4, random_state=0).fit(
            rows, [0.0, 0, 0, 1, 1, 1]
        )
    assert_allclose(tree.predict(rows), [0, 0, 0, 1, 1, 1], atol=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"combination": "cooperative"}, "training='em' is for experts that compete"),
        ({"hidden_units": 3}, "training='em' solves for linear experts and gates"),
        (
            {"hidden_units": 3, "n_directions": 2, "training": "gradient"},
            "hidden_units and n_directions: take one of them",
        ),
        (
            {"gate": "radial", "gate_hidden_units": 2, "training": "gradient"},
            "gate_hidden_units are for gate='softmax'",
        ),
    ],
)
def test_choices_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MixtureOfExpertsRegressor(2, **options).fit(LINE, VEE)


@pytest.mark.parametrize("branching", [(), (2, 0), (1.5,), "ab", ((2, 2),), (64, 128)])
def test_branching_that_makes_no_tree_is_refused(branching):
    with pytest.raises(ValueError, match="branching"):
        HierarchicalExpertsRegressor(branching).fit(LINE, VEE)


def test_one_class_and_missing_values_are_refused():
    with pytest.raises(ValueError, match="y has one class alone, 0"):
        MixtureOfExpertsClassifier(2).fit(PLANE, np.zeros(200, dtype=int))
    with pytest.raises(ValueError, match="NaN"):
        MixtureOfExpertsRegressor(2).fit(np.where(PLANE > 0.9, np.nan, PLANE), ABOVE)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_slopes_and_intercepts_of_experts_for_classes_have_the_shape_that_is_promised():
    rows, labels = RANDOM.normal(size=(90, 2)), np.arange(90) % 3
    model = MixtureOfExpertsClassifier(2, max_iter=5, random_state=0).fit(rows, labels)
    assert model.coef_.shape == (2, 3, 2)
    assert model.intercept_.shape == (2, 3)
