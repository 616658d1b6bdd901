"""Conditions of optimality of every machine on random problems: 40 each, 200 in the long run.

Each test computes them in plain NumPy from the public attributes of a fitted machine: kernels,
outputs, bounds and sums are made here, and nothing of the solver's own report is believed.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from verulam.kernel import (
    ClassDescriptions,
    Gaussian,
    Linear,
    LocalisedKernelClassifier,
    MultipleKernelClassifier,
    OneClassMachine,
    Polynomial,
    RankingMachine,
    SupportVectorClassifier,
    SupportVectorDescription,
    SupportVectorRegressor,
    WestonWatkinsClassifier,
    cost_path,
    lagrangian_machine,
)

TOLERANCE = 1e-6
#: What rounding adds where kernel values are kept in single precision.
ALLOWED = 1e-5


#: How many problems a test sees; whoever changes a solver runs the long ones, too.
N_PROBLEMS = [40]


@pytest.fixture(
    autouse=True, scope="module", params=[40, pytest.param(200, marks=pytest.mark.slow)]
)
def _n_problems(request):
    N_PROBLEMS[:] = [request.param]


def gaussian_gram(X, width):
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * width**2))


def problems(n_classes=2):
    """Random inputs, classes and numbers, with a kernel in turn and its Gram matrix."""
    for seed in range(*N_PROBLEMS):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(10, 41)), int(rng.integers(1, 4))))
        y = np.digitize(X[:, 0] + rng.normal(size=len(X)), [-0.5, 0.5][: n_classes - 1])
        y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
        width = float(rng.uniform(0.5, 2.0))
        kernel, gram = [
            (Gaussian(width), gaussian_gram(X, width)),
            (Linear(), X @ X.T),
            (Polynomial(2), (X @ X.T + 1) ** 2),
        ][seed % 3]
        yield rng, X, y, kernel, gram


def full(machine, size):
    """Coefficients of all rows, one row of the table for each machine."""
    coefficients = np.zeros((len(np.atleast_2d(machine.dual_coef_)), size))
    coefficients[:, machine.support_] = machine.dual_coef_
    return coefficients


def margin_lack(coefficients, outputs, signs, costs):
    """Largest violation of the soft margin's conditions: the box, and the case of each row."""
    alphas, margins = coefficients * signs, signs * outputs
    negligible = 1e-9 * max(1.0, alphas.max())
    return max(
        -alphas.min(),
        (alphas - costs).max(),
        (1.0 - margins)[alphas < costs - negligible].max(initial=0.0),
        (margins - 1.0)[alphas > negligible].max(initial=0.0),
    )


def assert_plane(machine, gram, classes, costs, allowed=ALLOWED):
    """Check every machine of a classifier on the rows that it was trained with."""
    sides = machine.codes_[np.searchsorted(machine.classes_, classes)].T
    for beta, bias, signs in zip(full(machine, len(gram)), machine.intercept_, sides, strict=True):
        used = signs != 0
        assert not beta[~used].any()
        outputs = gram @ beta + bias
        assert margin_lack(beta[used], outputs[used], signs[used], costs[used]) < allowed
        assert abs(beta.sum()) < ALLOWED * max(1.0, np.abs(beta).max())


def test_hard_margin():
    for rng, X, y, _, _ in problems():
        # So near to each other that coefficients are far above the usual cost.
        X = 0.1 * (X + np.where(y == 1, 3.0, -3.0)[:, None] + rng.normal(size=X.shape[1]))
        machine = SupportVectorClassifier(kernel="linear", form="hard", tol=TOLERANCE).fit(X, y)
        assert_plane(machine, X @ X.T, y, np.full(len(X), np.inf))
        assert np.abs(machine.dual_coef_).max() > 1.0


def test_cost_of_slack():
    for rng, X, y, kernel, gram in problems():
        cost = float(10 ** rng.uniform(-1, 1))
        machine = SupportVectorClassifier(kernel=kernel, C=cost, tol=TOLERANCE).fit(X, y)
        assert_plane(machine, gram, y, np.full(len(X), cost))


def test_no_bias():
    for _, X, y, kernel, gram in problems():
        machine = SupportVectorClassifier(kernel=kernel, fit_intercept=False, tol=TOLERANCE).fit(
            X, y
        )
        (beta,) = full(machine, len(X))
        assert machine.intercept_.tolist() == [0.0]
        assert margin_lack(beta, gram @ beta, np.where(y == 1, 1.0, -1.0), 1.0) < ALLOWED


def test_weights_of_rows_and_classes():
    for rng, X, y, kernel, gram in problems():
        weights, factor = rng.uniform(0.2, 3.0, len(X)), float(rng.uniform(0.3, 3.0))
        machine = SupportVectorClassifier(kernel=kernel, class_weight={1: factor}, tol=TOLERANCE)
        assert_plane(machine.fit(X, y, weights), gram, y, weights * np.where(y == 1, factor, 1.0))


def test_share_of_margin_errors():
    """Scaled to a margin of one it is a machine of some cost, which its own sum tells."""
    for rng, X, y, _, _ in problems():
        # Inputs of three columns: on a line, classes that overlap leave next to no margin.
        X = rng.normal(size=(len(X), 3))
        nu = float(rng.uniform(0.1, 0.95)) * 2.0 * min((y == 0).mean(), (y == 1).mean())
        machine = SupportVectorClassifier(kernel=Gaussian(0.7), form="nu", nu=nu, tol=TOLERANCE)
        cost = np.abs(machine.fit(X, y).dual_coef_).sum() / (nu * len(X))
        # Violations grow with the scale.
        allowed = ALLOWED * max(1.0, cost)
        assert_plane(machine, gaussian_gram(X, 0.7), y, np.full(len(X), cost), allowed)


@pytest.mark.parametrize("strategy", ["pairwise", "one_vs_all", [[1, 1], [1, -1], [-1, 0]]])
def test_parts_of_several_classes(strategy):
    for _, X, y, kernel, gram in problems(n_classes=3):
        machine = SupportVectorClassifier(kernel=kernel, strategy=strategy, tol=TOLERANCE)
        assert_plane(machine.fit(X, y), gram, y, np.ones(len(X)))


def test_path_of_costs():
    for _, X, y, kernel, gram in problems():
        path = cost_path(SupportVectorClassifier(kernel=kernel, tol=TOLERANCE), X, y, [0.1, 1, 5])
        for cost, machine in zip(path.costs, path.classifiers, strict=True):
            assert_plane(machine, gram, y, np.full(len(X), cost))


def test_all_classes_at_once():
    """The coefficients of the other classes are the multipliers themselves."""
    for rng, X, y, kernel, gram in problems(n_classes=3):
        cost = float(10 ** rng.uniform(-1, 0.5))
        machine = WestonWatkinsClassifier(kernel=kernel, C=cost, tol=TOLERANCE).fit(X, y)
        beta, rows = full(machine, len(X)), np.arange(len(X))
        assert np.abs(beta.sum(axis=0)).max() < ALLOWED
        np.testing.assert_allclose(machine.intercept_, beta.sum(axis=1), atol=ALLOWED)
        scores = beta @ gram + machine.intercept_[:, None]
        rivals = np.arange(3)[:, None] != y
        leads = 0.5 * (scores[y, rows] - scores)[rivals]
        assert margin_lack(-beta[rivals], leads, np.ones(len(leads)), cost) < ALLOWED


def tube_lack(beta, residuals, epsilon, cost):
    """Largest violation of the tube's conditions, each wall by itself."""
    return max(
        (np.abs(beta) - cost).max(),
        *(
            max(
                (side * residuals - epsilon)[side * beta < cost * (1 - 1e-9)].max(initial=0.0),
                (epsilon - side * residuals)[side * beta > cost * 1e-9].max(initial=0.0),
            )
            for side in (1.0, -1.0)
        ),
    )


@pytest.mark.parametrize("form", ["epsilon", "nu"])
def test_tubes(form):
    for rng, X, _, kernel, gram in problems():
        y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
        cost, nu = float(10 ** rng.uniform(-1, 1)), float(rng.uniform(0.1, 0.9))
        machine = SupportVectorRegressor(
            kernel=kernel, form=form, C=cost, nu=nu, epsilon=0.2, tol=TOLERANCE
        ).fit(X, y)
        (beta,) = full(machine, len(X))
        residuals = y - gram @ beta - machine.intercept_
        assert tube_lack(beta, residuals, machine.epsilon_, cost) < ALLOWED * max(1.0, cost)
        assert abs(beta.sum()) < ALLOWED * max(1.0, cost)
        if form == "epsilon":
            assert machine.epsilon_ == 0.2
        else:
            # The share is used up where there is a tube; a row on both walls of none cancels some.
            used = np.abs(beta).sum() / (nu * cost * len(X))
            assert used <= 1 + 1e-6
            assert machine.epsilon_ < ALLOWED or used > 1 - 1e-6


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_preferences(kind):
    """Multipliers of the pairs that give the coefficients leave no gap to the primal program."""
    for seed, (rng, X, y, kernel, gram) in enumerate(problems(n_classes=3)):
        X, y = X[:14], y[:14]
        if kind == "linear":
            kernel, gram = Linear(), X @ X.T
        groups = rng.integers(0, seed % 2, len(X), endpoint=True)
        groups[:6] = 0
        cost = float(10 ** rng.uniform(-2, 0))
        machine = RankingMachine(kernel=kernel, C=cost, tol=1e-8).fit(X, y, groups)
        (beta,) = full(machine, len(X))
        gram = gram[: len(X), : len(X)]
        better, worse = np.nonzero((y[:, None] > y) & (groups[:, None] == groups))
        differences = np.zeros((len(X), len(better)))
        pairs = np.arange(len(better))
        differences[better, pairs], differences[worse, pairs] = 1.0, -1.0
        scores = gram @ beta
        square = float(beta @ scores)
        slack = np.maximum(0.0, 1.0 - (scores[better] - scores[worse])).sum()
        primal = 0.5 * square + cost * slack
        # Coefficients of one and the same vector of the kernel's space are equally good.
        values, vectors = np.linalg.eigh(gram)
        features = (vectors * np.sqrt(values.clip(0.0)))[:, values > 1e-9 * values[-1]].T
        dual = linprog(
            -np.ones(len(better)),
            A_eq=features @ differences,
            b_eq=features @ beta,
            bounds=(0.0, cost),
        )
        assert dual.success
        assert primal - (-dual.fun - 0.5 * square) < 1e-6 * primal
        assert machine.n_pairs_ == len(better)


def test_balls():
    for rng, X, _, kernel, gram in problems():
        cost = float(rng.uniform(1.1, 10.0)) / len(X)
        machine = SupportVectorDescription(kernel=kernel, C=cost, tol=TOLERANCE).fit(X)
        (alphas,) = full(machine, len(X))
        squares = np.diag(gram) - 2 * gram @ alphas + alphas @ gram @ alphas
        scale, square = np.diag(gram).max(), machine.radius_**2
        assert abs(alphas.sum() - 1.0) < 1e-9
        assert alphas.min() >= 0.0
        assert alphas.max() <= cost * (1 + 1e-9)
        assert (squares - square)[alphas < cost * (1 - 1e-9)].max(initial=0.0) < ALLOWED * scale
        assert (square - squares)[alphas > cost * 1e-9].max(initial=0.0) < ALLOWED * scale


def assert_far_plane(machine, gram, nu):
    (alphas,) = full(machine, len(gram))
    bound, scores = 1.0 / (nu * len(gram)), gram @ alphas
    scale = np.diag(gram).max()
    assert abs(alphas.sum() - 1.0) < 1e-9
    assert alphas.min() >= 0.0
    assert alphas.max() <= bound * (1 + 1e-9)
    below, above = alphas < bound * (1 - 1e-9), alphas > bound * 1e-9
    assert (machine.offset_ - scores)[below].max(initial=0.0) < ALLOWED * scale
    assert (scores - machine.offset_)[above].max(initial=0.0) < ALLOWED * scale


def test_planes_far_from_the_origin():
    for rng, X, _, kernel, gram in problems():
        nu = float(rng.uniform(0.1, 0.9))
        machine = OneClassMachine(kernel=kernel, nu=nu, tol=TOLERANCE).fit(X)
        assert_far_plane(machine, gram, nu)


def test_descriptions_of_classes():
    for rng, X, y, kernel, gram in problems():
        nu = float(rng.uniform(0.1, 0.9))
        machine = ClassDescriptions(kernel=kernel, nu=nu, tol=TOLERANCE).fit(X, y)
        for label, part in enumerate(machine.machines_):
            assert_far_plane(part, gram[np.ix_(y == label, y == label)], nu)


def test_squared_slack():
    for rng, _, y, _, gram in problems():
        cost, signs = float(10 ** rng.uniform(-1, 1)), np.where(y == 1, 1.0, -1.0)
        machine = lagrangian_machine(gram, signs, cost=cost, tol=1e-9)
        multipliers = machine.coefficients * signs
        outputs = gram @ machine.coefficients + machine.intercept
        slopes = multipliers / cost + signs * outputs - 1.0
        assert machine.intercept == pytest.approx(machine.coefficients.sum())
        assert multipliers.min() > -ALLOWED
        assert slopes.min() > -ALLOWED
        assert np.abs(multipliers * slopes).max() < ALLOWED


def scaled(gram):
    return gram / (np.trace(gram) / len(gram) - gram.mean())


def test_weights_of_kernels():
    """The machine is optimal for the weights, and no kernel could lower the objective."""
    for _, X, y, _, _ in problems():
        kernels = [Linear(), Polynomial(2), Gaussian(1.0)]
        grams = [X @ X.T, (X @ X.T + 1) ** 2, gaussian_gram(X, 1.0)]
        grams = np.array([scaled(gram) for gram in grams])
        machine = MultipleKernelClassifier(kernels, tol=1e-4, max_iter=1000).fit(X, y)
        (beta,) = machine.coefficients_
        gram = np.tensordot(machine.weights_, grams, axes=1)
        signs = np.where(y == 1, 1.0, -1.0)
        assert margin_lack(beta, gram @ beta + machine.biases_[0], signs, 1.0) < 2e-4
        assert machine.weights_.min() >= 0.0
        assert machine.weights_.sum() == pytest.approx(1.0)
        squares = np.array([beta @ kernel_gram @ beta for kernel_gram in grams])
        lack = 0.5 * (squares.max() - machine.weights_ @ squares)
        assert lack < 2e-4 * (np.abs(beta).sum() - 0.5 * beta @ gram @ beta)


def test_machine_behind_gates():
    for seed, (_, X, y, kernel, gram) in enumerate(problems()):
        machine = LocalisedKernelClassifier(
            [kernel, Linear()], max_iter=2, tol=1e-4, random_state=seed
        ).fit(X, y)
        first, second = machine.gate_openings(X).T
        middle = np.eye(len(X)) - 1.0 / len(X)
        both = np.outer(first, first) * scaled(middle @ gram @ middle)
        both += np.outer(second, second) * scaled(middle @ X @ X.T @ middle)
        (beta,) = machine.coefficients_
        signs = np.where(y == 1, 1.0, -1.0)
        assert margin_lack(beta, both @ beta + machine.biases_[0], signs, 1.0) < 1e-4
