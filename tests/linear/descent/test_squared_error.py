"""Equations instead of inequalities: the pseudo-inverse, Fisher, Bayes, Ho-Kashyap."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import AND, CORNERS, OR, XOR, overlapping, separable

from verulam.base import DataError, DataWarning
from verulam.linear import HoKashyap, MinimumSquaredError, sign_normalise


def test_worked_example():
    line = MinimumSquaredError().fit([[1, 2], [2, 0], [3, 1], [2, 3]], [1, 1, 0, 0])
    assert [*line.intercept_, *line.coef_[0]] == pytest.approx([11 / 3, -4 / 3, -2 / 3])


def test_the_solution_is_the_limit_of_ridge_solutions():
    rows, classes = overlapping()
    signed = sign_normalise(rows, classes == 1)
    limit = np.linalg.solve(signed.T @ signed + 1e-10 * np.eye(4), signed.sum(axis=0))
    line = MinimumSquaredError().fit(rows, classes)
    assert np.allclose([*line.intercept_, *line.coef_[0]], limit)


def test_fishers_margins_give_fishers_direction_and_the_mean_as_threshold():
    rows, classes = overlapping()
    rows, classes = rows[20:][classes[20:].argsort()][:150], np.sort(classes[20:])[:150]
    line = MinimumSquaredError(margins="fisher").fit(rows, classes)
    fisher = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, classes).coef_[0]
    weights = line.coef_[0]
    assert np.allclose(weights / np.linalg.norm(weights), fisher / np.linalg.norm(fisher))
    assert line.decision_function(rows.mean(axis=0)[None]) == pytest.approx([0.0], abs=1e-9)


def test_the_residual_sum_is_that_of_the_equations():
    rows, classes = overlapping(40)
    weights = np.random.default_rng(1).integers(1, 4, size=40)
    signed = sign_normalise(rows, classes == 1)
    sizes = np.array([weights[classes == 0].sum(), weights[classes == 1].sum()])
    for margins, sides in (("ones", np.ones(40)), ("fisher", weights.sum() / sizes[classes])):
        line = MinimumSquaredError(margins=margins).fit(rows, classes, weights)
        errors = signed @ [*line.intercept_, *line.coef_[0]] - sides
        assert line.residual_sum_ == pytest.approx(weights @ errors**2)


def test_ones_approach_the_difference_of_the_posteriors():
    random = np.random.default_rng(0)
    classes = random.integers(0, 2, size=200_000)
    points = random.normal(size=200_000) + 2.0 * classes
    line = MinimumSquaredError().fit(points[:, None], classes)
    grid = np.linspace(-4, 6, 2001)
    densities = norm.pdf(grid - 2.0), norm.pdf(grid)
    posterior = (densities[0] - densities[1]) / (densities[0] + densities[1])
    weights = np.sqrt(densities[0] + densities[1])
    best = np.polyfit(grid, posterior, 1, w=weights)
    assert line.coef_[0, 0] == pytest.approx(best[0], abs=0.01)
    assert line.intercept_[0] == pytest.approx(best[1], abs=0.01)


def test_weights_of_rows_are_repetitions():
    rows, classes = overlapping(30)
    counts = np.random.default_rng(0).integers(1, 4, size=30)
    weighted = MinimumSquaredError(margins="fisher").fit(rows, classes, counts)
    repeated = MinimumSquaredError(margins="fisher").fit(
        np.repeat(rows, counts, axis=0), np.repeat(classes, counts)
    )
    assert np.allclose(weighted.coef_, repeated.coef_)


def test_singular_equations_have_a_shortest_solution():
    rows, classes = overlapping(40)
    doubled = np.c_[rows, rows[:, :1]]
    with pytest.warns(DataWarning, match="singular: the rows have 5 weights but rank 4"):
        line = MinimumSquaredError().fit(doubled, classes)
    assert line.rank_ == 4
    assert line.coef_[0, 0] == pytest.approx(line.coef_[0, 3])


@pytest.mark.parametrize(
    ("margins", "message"),
    [([1.0, 2.0], "40 positive numbers"), ([-1.0] * 40, "positive"), ([0.0] * 40, "positive")],
)
def test_margins_must_be_positive_and_as_many_as_rows(margins, message):
    with pytest.raises(DataError, match=message):
        MinimumSquaredError(margins=margins).fit(*overlapping(40))


def test_a_class_without_weight_is_refused():
    rows, classes = overlapping(10)
    with pytest.raises(DataError, match="without any weight"):
        MinimumSquaredError(margins="fisher").fit(rows, classes, (classes == 1).astype(float))


@pytest.mark.parametrize("solver", ["simple", "modified"])
@pytest.mark.parametrize("classes", [AND, OR])
def test_ho_kashyap_finds_a_plane(solver, classes):
    trainer = HoKashyap(solver=solver).fit(CORNERS, classes)
    assert trainer.separable_
    assert trainer.predict(CORNERS).tolist() == classes.tolist()
    assert (trainer.margins_ >= 1.0).all()


@pytest.mark.parametrize("solver", ["simple", "modified"])
def test_ho_kashyap_proves_that_there_is_none(solver):
    trainer = HoKashyap(solver=solver).fit(CORNERS, XOR)
    assert trainer.separable_ is False
    assert trainer.converged_


def test_a_modified_step_follows_the_absolute_errors():
    rows, classes = overlapping(40)
    signed = sign_normalise(rows, classes == 1)
    trainer = HoKashyap(solver="modified", learning_rate=0.5, max_iter=1, record="steps")
    with pytest.warns(ConvergenceWarning):
        trainer.fit(rows, classes)
    first, second = trainer.trajectory_.weights
    errors = signed @ first - 1.0
    length = np.linalg.norm(signed, 2) ** 2
    assert np.allclose(first, np.linalg.lstsq(signed, np.ones(40))[0])
    assert np.allclose(second, first + 0.5 * signed.T @ np.abs(errors) / length)
    assert np.allclose(trainer.margins_, 1.0 + 0.5 * (errors + np.abs(errors)))


def test_ho_kashyap_margins_never_decrease_and_it_needs_more_than_least_squares():
    rows = np.array([[0.0], [1.0], [1.5], [2.0], [30.0]])
    classes = np.array([0, 0, 1, 1, 1])
    trainer = HoKashyap(record="steps").fit(rows, classes)
    assert trainer.separable_
    assert trainer.score(rows, classes) == 1.0
    assert trainer.trajectory_.errors[0] > 0
    assert (trainer.margins_ >= 1.0).all()


def test_ho_kashyap_cut_short_leaves_the_question_open():
    with pytest.warns(ConvergenceWarning, match="a linear program proves"):
        trainer = HoKashyap(max_iter=1).fit(*overlapping())
    assert trainer.separable_ is None


def test_ho_kashyap_agrees_with_random_separable_classes():
    for seed in range(5):
        rows, classes = separable(gap=0.3, seed=seed)
        assert HoKashyap().fit(rows, classes).separable_


@pytest.mark.parametrize("solver", ["simple", "modified"])
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_ho_kashyap_decides_whatever_the_offset(solver, offset):
    rows, classes = separable(gap=0.4)
    line = HoKashyap(solver=solver).fit(rows + offset, classes)
    assert line.separable_ is True
    assert line.score(rows + offset, classes) == 1.0
    overlapped, labels = overlapping(40)
    plain = HoKashyap().fit(overlapped, labels)
    moved = HoKashyap().fit(overlapped + offset, labels)
    assert plain.separable_ is moved.separable_ is False
    assert np.allclose(moved.coef_, plain.coef_, atol=1e-3)


@pytest.mark.parametrize(("largest_margin", "decision"), [(10.0, False), (1.0, None)])
def test_errors_count_as_none_beside_the_largest_margin(largest_margin, decision):
    trainer = HoKashyap(tol=0.01)
    rows, errors = np.array([[1.0], [1.0], [-1.0]]), np.array([0.05, -1.0, -1.0])
    assert trainer._decide(rows, errors - 1.0, errors, largest_margin) is decision
