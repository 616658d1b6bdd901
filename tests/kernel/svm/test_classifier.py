"""SupportVectorClassifier: agreement with libsvm, cases, bounds, weights, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC

from verulam.base import DataError, DataWarning
from verulam.kernel import (
    Gaussian,
    Linear,
    NotSeparableError,
    Polynomial,
    SupportVectorClassifier,
    polynomial_features,
)


def two_classes(size=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 4))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=size) > 0, "yes", "no")


@pytest.mark.parametrize("cost", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_agrees_with_libsvm(kernel, cost):
    X, y = two_classes()
    ours = SupportVectorClassifier(kernel=kernel, C=cost, tol=1e-6).fit(X, y)
    peer = SVC(kernel=kernel, C=cost, tol=1e-6).fit(X, y)
    gram = ours.kernel_(X)
    objectives = []
    for machine in (ours, peer):
        values = np.zeros(len(X))
        values[machine.support_] = machine.dual_coef_.ravel()
        objectives.append(np.abs(values).sum() - 0.5 * values @ gram @ values)
    assert_allclose(objectives[0], objectives[1], rtol=1e-6)
    assert ours.machines_[0].dual_objective == pytest.approx(objectives[0])
    assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-3)
    assert_array_equal(ours.predict(X), peer.predict(X))
    assert_allclose(ours.intercept_, peer.intercept_, atol=1e-3)


def test_nu_agrees_with_libsvm():
    X, y = two_classes()
    ours = SupportVectorClassifier(form="nu", nu=0.4, tol=1e-7).fit(X, y)
    peer = NuSVC(nu=0.4, tol=1e-7).fit(X, y)
    assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-3)
    report = ours.instance_report(X, y)
    assert report.n_with_slack / len(X) <= 0.4 <= ours.support_share_


def test_a_share_without_margin_is_refused_with_advice_that_helps():
    """Mixtures of overlapping classes coincide; a larger share keeps them apart."""
    X = np.linspace(-1.0, 1.0, 20)[:, None]
    y = (np.arange(20) % 3 == 0) | (X[:, 0] > 0.6)
    with pytest.raises(DataError, match="Take a larger nu"):
        SupportVectorClassifier(kernel="linear", form="nu", nu=0.2).fit(X, y)
    machine = SupportVectorClassifier(kernel="linear", form="nu", nu=0.85).fit(X, y)
    assert machine.machines_[0].margin > 0


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    pairs = SupportVectorClassifier(tol=1e-6).fit(X, y)
    assert (pairs.predict(X) == SVC(tol=1e-6).fit(X, y).predict(X)).mean() >= 0.99
    assert pairs.codes_.shape == (3, 3)
    gamma = 1 / (4 * X.var())
    all_of_them = SupportVectorClassifier(strategy="one_vs_all", tol=1e-6).fit(X, y)
    peer = OneVsRestClassifier(SVC(gamma=gamma, tol=1e-6)).fit(X, y)
    assert_allclose(all_of_them.decision_function(X), peer.decision_function(X), atol=1e-3)


def test_weights_multiply_costs():
    X, y = two_classes()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(X))
    ours = SupportVectorClassifier(tol=1e-6, class_weight={"yes": 4.0}).fit(X, y, weights)
    peer = SVC(tol=1e-6, class_weight={"yes": 4.0}).fit(X, y, weights)
    assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-3)
    balanced = SupportVectorClassifier(tol=1e-6, class_weight="balanced").fit(X, y)
    peer = SVC(tol=1e-6, class_weight="balanced").fit(X, y)
    assert_allclose(balanced.decision_function(X), peer.decision_function(X), atol=1e-3)


def test_features_and_kernel_are_the_same_machine():
    X, y = two_classes(120)
    kernel = Polynomial(2)
    ours = SupportVectorClassifier(kernel=kernel, tol=1e-8).fit(X, y)
    features = polynomial_features(X, kernel)
    explicit = SupportVectorClassifier(kernel=Linear(), tol=1e-8).fit(features, y)
    assert_allclose(ours.decision_function(X), explicit.decision_function(features), atol=1e-5)
    by_matrix = SupportVectorClassifier(kernel="precomputed", tol=1e-8).fit(kernel(X), y)
    assert_allclose(
        by_matrix.decision_function(kernel(X[:9], X)), ours.decision_function(X[:9]), atol=1e-6
    )


def test_without_bias_the_coefficients_need_not_balance():
    X, y = two_classes(100)
    machine = SupportVectorClassifier(kernel="linear", fit_intercept=False, tol=1e-8).fit(
        X + 1.0, y
    )
    assert machine.intercept_ == pytest.approx([0.0])
    assert abs(machine.dual_coef_.sum()) > 0.1
    signs = np.where(y == "yes", 1.0, -1.0)
    with_column = SupportVectorClassifier(kernel="linear", tol=1e-8).fit(X, y)
    slack = np.maximum(0, 1 - signs * machine.decision_function(X + 1.0)).sum()
    weights = machine.dual_coef_[0] @ machine.support_vectors_
    primal = 0.5 * weights @ weights + slack
    assert primal == pytest.approx(machine.machines_[0].dual_objective, rel=1e-6)
    assert with_column.intercept_ != pytest.approx([0.0], abs=1e-3)


def test_slack_means_the_full_coefficient():
    """Any slack above zero has alpha = C, whatever its size."""
    X, y = two_classes()
    machine = SupportVectorClassifier(C=2.0, tol=1e-6).fit(X, y)
    report = machine.instance_report(X, y)
    alphas = np.zeros(len(X))
    alphas[machine.support_] = np.abs(machine.dual_coef_[0])
    assert_allclose(alphas[report.slack > 0], 2.0)
    assert (alphas[report.cases == "safe"] == 0).all()
    assert 0 < report.counts()["on margin"] == ((alphas > 0) & (alphas < 2)).sum()
    primal = report.soft_error * 2.0 + 0.5 / machine.machines_[0].margin ** 2
    assert primal == pytest.approx(machine.machines_[0].dual_objective, rel=1e-5)


def test_support_vectors_bound_the_leave_one_out_error():
    X, y = two_classes(60)
    machine = SupportVectorClassifier(kernel=Gaussian(1.0), C=10.0)
    error = 1 - cross_val_score(machine, X, y, cv=LeaveOneOut()).mean()
    assert error <= machine.fit(X, y).support_share_ < 1
    alphas = np.abs(machine.dual_coef_[0])
    assert machine.support_share_ == (alphas > 0).sum() / 60


def test_an_infinite_cost_is_the_hard_margin():
    X = np.random.default_rng(3).normal(size=(30, 2))
    y = (X @ [1.0, 2.0] > 0).astype(int)
    hard = SupportVectorClassifier(kernel="linear", form="hard").fit(X, y)
    endless = SupportVectorClassifier(kernel="linear", C=np.inf).fit(X, y)
    assert_array_equal(endless.dual_coef_, hard.dual_coef_)
    assert_array_equal(endless.intercept_, hard.intercept_)
    with pytest.raises(NotSeparableError, match="not separable"):
        SupportVectorClassifier(kernel="linear", C=np.inf).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


@pytest.mark.parametrize("options", [{"form": "hard"}, {"C": np.inf}])
@pytest.mark.parametrize("seed", range(3))
def test_hard_margin_through_the_origin(options, seed):
    """By scikit-learn's plane of a large cost, and by the program itself, solved by SLSQP."""
    rng = np.random.default_rng(seed)
    signs = np.repeat([-1.0, 1.0], [25, 15])
    X = rng.normal(size=(40, 3)) + 3.0 * signs[:, None] * [1.0, 0.5, 0.0] + [0.5, 0.0, 0.0]
    machine = SupportVectorClassifier(kernel="linear", fit_intercept=False, tol=1e-8, **options)
    machine.fit(X, signs)
    plane = machine.dual_coef_[0] @ machine.support_vectors_
    assert machine.intercept_.tolist() == [0.0]
    assert abs(machine.dual_coef_.sum()) > 1e-3
    assert_allclose((signs * machine.decision_function(X)).min(), 1.0, atol=1e-6)
    peer = LinearSVC(C=1e6, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=100_000)
    assert_allclose(plane, peer.fit(X, signs).coef_[0], rtol=1e-4, atol=1e-6)
    program = minimize(
        lambda w: 0.5 * w @ w,
        plane + 0.1,
        jac=lambda w: w,
        constraints={"type": "ineq", "fun": lambda w: signs * (X @ w) - 1.0},
        options={"ftol": 1e-12},
    )
    assert_allclose(plane, program.x, atol=1e-5)
    assert machine.machines_[0].margin == pytest.approx(1.0 / np.linalg.norm(program.x))
    assert machine.machines_[0].dual_objective == pytest.approx(program.fun, rel=1e-6)


def test_classes_that_only_planes_off_the_origin_separate():
    X, y = np.array([[1.0], [2.0], [3.0]]), [0, 0, 1]
    assert SupportVectorClassifier(kernel="linear", form="hard").fit(X, y).score(X, y) == 1.0
    with pytest.raises(NotSeparableError, match="by a plane through the origin") as raised:
        SupportVectorClassifier(kernel="linear", form="hard", fit_intercept=False).fit(X, y)
    shares = raised.value.certificate
    assert shares.sum() == pytest.approx(1.0)
    assert_allclose((shares * [-1.0, -1.0, 1.0]) @ X, 0.0, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0), "precomputed"])
def test_nu_without_an_intercept_is_a_cost_without_one(kernel):
    """The cost 1 / (N rho) gives the machine of nu, scaled to a margin of one."""
    X, y = two_classes(80)
    rows = X @ X.T if kernel == "precomputed" else X
    machine = SupportVectorClassifier(
        kernel=kernel, form="nu", nu=0.6, fit_intercept=False, tol=1e-9
    ).fit(rows, y)
    assert machine.intercept_.tolist() == [0.0]
    assert abs(machine.dual_coef_.sum()) > 1e-3
    cost = np.abs(machine.dual_coef_).max()
    same = SupportVectorClassifier(kernel=kernel, C=cost, fit_intercept=False, tol=1e-9)
    outputs = machine.decision_function(rows)
    assert_allclose(outputs, same.fit(rows, y).decision_function(rows), atol=1e-4)
    margins = np.where(y == machine.classes_[1], 1.0, -1.0) * outputs
    assert (margins < 1 - 1e-6).mean() <= 0.6 <= machine.support_share_


def test_unbalanced_classes_allow_any_share_without_an_intercept():
    X, y = [[0.0, 1.0], [1.0, 2.0], [2.0, 0.0], [-3.0, 1.0]], ["no", "no", "no", "yes"]
    machine = SupportVectorClassifier(kernel="linear", form="nu", nu=0.9, fit_intercept=False)
    assert machine.fit(X, y).intercept_.tolist() == [0.0]
    with pytest.raises(DataError, match=r"nu=0.25 leaves no margin"):
        machine.set_params(nu=0.25).fit([[1.0], [1.0], [1.0], [1.0]], y[::-1])


def test_hard_margin_says_why_not():
    with pytest.raises(NotSeparableError, match="squared distance") as raised:
        SupportVectorClassifier(kernel="linear", form="hard").fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert_allclose(raised.value.certificate, [0.5, 1.0, 0.5], atol=1e-3)


def test_indefinite_gram_matrices_are_used_and_said():
    gram = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.warns(DataWarning, match="smallest eigenvalue is -1"):
        SupportVectorClassifier(kernel="precomputed").fit(gram, [0, 1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "'C' parameter"),
        ({"C": -1.0}, "'C' parameter"),
        ({"form": "nu", "nu": 0.9}, "largest feasible value is 0.5"),
        ({"class_weight": {"maybe": 1.0}}, "'maybe' is not among"),
        ({"class_weight": {"yes": 0.0}}, "must be above 0"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "returned nan"),
        ({"kernel": "precomputed"}, "must be square"),
    ],
)
def test_refused_options(options, message):
    X, y = [[0.0, 1.0], [1.0, 2.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "no", "yes"]
    with pytest.raises(ValueError, match=message):
        SupportVectorClassifier(**options).fit(X, y)


def test_refused_data():
    machine = SupportVectorClassifier()
    with pytest.raises(DataError, match="1 class only: 'a'"):
        machine.fit([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(ValueError, match="could not convert string"):
        machine.fit([["red"], ["blue"]], [0, 1])
    with pytest.raises(DataError, match="weights of a negative class are zero"):
        machine.fit([[0.0], [1.0]], [0, 1], sample_weight=[0.0, 1.0])
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="this machine has 3"):
        machine.fit(X, y).instance_report(X, y)
    with pytest.raises(DataError, match="training did not see"):
        machine.fit(X[:100], y[:100]).instance_report(X, y)


def test_probabilities_need_calibration():
    learner = SupportVectorClassifier().fit([[0.0], [1.0]], ["a", "b"])
    assert not hasattr(learner, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        learner.predict_proba([[0.0]])
    assert "calibration='platt' or 'softmax'" in str(caught.value.__cause__)
