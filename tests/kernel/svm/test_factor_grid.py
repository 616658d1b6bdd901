"""Factorial grids: the same as scikit-learn's search, factors of machine and kernel, refusals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from verulam.base import DataError
from verulam.kernel import (
    Gaussian,
    Polynomial,
    RankingMachine,
    SpectrumKernel,
    SupportVectorClassifier,
    SupportVectorRegressor,
    factor_grid,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 2))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=90) > 0, "same", "other")
Z = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=90)


def folds(kind, n_folds=4):
    """Return the parts that the grid makes of the seed 0."""
    seed = int(np.random.default_rng(0).integers(2**31))
    return kind(n_folds, shuffle=True, random_state=seed)


def test_cost_and_width_as_in_scikit_learn():
    machine = SupportVectorClassifier(kernel=Gaussian(1.0), tol=1e-6)
    costs, widths = [0.1, 1.0, 10.0], [0.3, 1.0, 3.0]
    grid = factor_grid(machine, X, Y, {"C": costs, "width": widths}, n_folds=4)
    search = GridSearchCV(
        machine,
        {"C": costs, "kernel": [Gaussian(width) for width in widths]},
        cv=folds(StratifiedKFold),
    ).fit(X, Y)
    assert_allclose(grid.table()["score"], search.cv_results_["mean_test_score"])
    assert grid.scores.shape == (9, 4)
    assert_allclose(grid.table()["deviation"], grid.scores.std(axis=1, ddof=1))
    assert grid.scores.mean(axis=1)[grid.best_place] == search.best_score_
    # The middle of the grid is chosen: wide kernels are planes, which cannot part these classes.
    assert grid.best["width"] == 1.0
    best_machine = grid.best_machine()
    assert best_machine.kernel == Gaussian(1.0)
    assert grid.best["C"] == best_machine.C
    assert machine.kernel == Gaussian(1.0)
    assert machine.C == 1.0


def test_costs_in_any_order_have_their_own_scores():
    machine = SupportVectorClassifier(kernel=Gaussian(1.0), tol=1e-6)
    costs, widths = [10.0, 0.1, 1.0], [1.0, 0.3]
    grid = factor_grid(machine, X, Y, {"C": costs, "width": widths}, n_folds=4)
    search = GridSearchCV(
        machine,
        {"C": costs, "kernel": [Gaussian(width) for width in widths]},
        cv=folds(StratifiedKFold),
    ).fit(X, Y)
    assert [setting["C"] for setting in grid.settings] == [10.0, 10.0, 0.1, 0.1, 1.0, 1.0]
    theirs = [search.cv_results_[f"split{part}_test_score"] for part in range(4)]
    assert_allclose(grid.scores, np.transpose(theirs))
    assert len(set(grid.scores.mean(axis=1)[::2])) == 3
    # A higher cost leaves fewer rows inside the margin.
    assert grid.support_shares[0] < grid.support_shares[4] < grid.support_shares[2]


def test_an_infinite_cost_is_trained_beside_the_path():
    parted = X + np.where(Y == "same", 3.0, -3.0)[:, None]
    machine = SupportVectorClassifier(kernel="linear", tol=1e-6)
    grid = factor_grid(machine, parted, Y, {"C": [np.inf, 1e-3, 1e-5]}, n_folds=4)
    hard = factor_grid(machine, parted, Y, {"form": ["hard"]}, n_folds=4)
    finite = factor_grid(machine, parted, Y, {"C": [1e-3, 1e-5]}, n_folds=4)
    assert_allclose(grid.scores, np.vstack([hard.scores, finite.scores]))
    assert_allclose(grid.support_shares, [*hard.support_shares, *finite.support_shares])
    # Where classes overlap, that setting alone is refused.
    refused = factor_grid(machine, X, Y, {"C": [1.0, np.inf, 0.1]}, n_folds=4).refusals
    assert list(refused) == [1]
    assert "not separable" in refused[1]


def test_ties_go_to_fewer_support_vectors():
    far = X + np.where(Y == "same", 20.0, -20.0)[:, None]
    machine = SupportVectorClassifier(kernel="linear")
    grid = factor_grid(machine, far, Y, {"C": [1e-6, 1e-3, 1.0]})
    assert grid.scores[1:].min() == 1.0
    assert grid.best_place == int(np.argmin(grid.support_shares))


@pytest.mark.parametrize(
    ("machine", "factors"),
    [
        (SupportVectorRegressor(kernel=Gaussian(1.0)), {"C": [1.0, 9.0], "epsilon": [0.1, 0.5]}),
        (SupportVectorRegressor(form="nu"), {"nu": [0.2, 0.6], "width": [0.5, 2.0]}),
        (SupportVectorRegressor(kernel=Polynomial(2)), {"degree": [1, 2, 3]}),
    ],
)
def test_tubes_shares_and_degrees(machine, factors):
    grid = factor_grid(machine, X, Z, factors, n_folds=4)
    for place, setting in enumerate(grid.settings):
        parameters = {
            name: value for name, value in setting.items() if name in machine.get_params()
        }
        kernel = {"width": Gaussian, "degree": Polynomial}
        alone = machine.__class__(**machine.get_params(deep=False) | parameters)
        for name in set(setting) - set(parameters):
            alone.set_params(kernel=kernel[name](setting[name]))
        expected = [
            alone.fit(X[rest], Z[rest]).score(X[held], Z[held])
            for rest, held in folds(KFold).split(X)
        ]
        assert_allclose(grid.scores[place], expected)


def test_validation_rows_tables_objects_and_matrices():
    machine = SupportVectorClassifier(kernel=Gaussian(1.0))
    held = factor_grid(machine, X[:60], Y[:60], {"C": [1.0]}, validation=(X[60:], Y[60:]))
    assert held.scores.tolist() == [[machine.fit(X[:60], Y[:60]).score(X[60:], Y[60:])]]
    assert "deviation" not in held.table()
    plain = factor_grid(machine, X, Y, {"C": [0.1, 1.0]})
    table = factor_grid(machine, pd.DataFrame(X, columns=["a", "b"]), Y, {"C": [0.1, 1.0]})
    by_matrix = SupportVectorClassifier(kernel="precomputed")
    matrix = factor_grid(by_matrix, Gaussian(1.0)(X), Y, {"C": [0.1, 1.0]})
    assert_allclose(table.scores, plain.scores)
    assert_allclose(matrix.scores, plain.scores)
    words = ["".join(RNG.choice(list("ab"), 6, p=p)) for p in ([0.8, 0.2], [0.2, 0.8]) * 12]
    texts = SupportVectorClassifier(kernel=SpectrumKernel(length=1))
    grid = factor_grid(texts, words, np.arange(24) % 2, {"length": [1, 2], "C": [0.1, 1.0]})
    assert grid.scores.mean() > 0.7


def test_what_cannot_be_trained_is_kept_and_said():
    few = np.where(np.arange(90) < 70, 0, 1)
    nu = SupportVectorClassifier(form="nu")
    grid = factor_grid(nu, X, few, {"nu": [0.1, 0.9]}, n_folds=3)
    assert list(grid.refusals) == [1]
    assert "largest feasible value" in grid.refusals[1]
    assert np.isnan(grid.table()["score"][1])
    assert grid.best == {"nu": 0.1}
    with pytest.raises(DataError, match=r"no setting of the grid could be trained: nu=0\.9"):
        factor_grid(nu, X, few, {"nu": [0.9]})


def test_refusals():
    machine = SupportVectorClassifier(kernel=Gaussian(1.0))
    with pytest.raises(DataError, match=r"'degree' is a parameter neither .* kernel \(width\)"):
        factor_grid(machine, X, Y, {"degree": [1]})
    with pytest.raises(DataError, match="width must be a finite number above 0"):
        factor_grid(machine, X, Y, {"width": [1.0, -1.0]})
    with pytest.raises(DataError, match="each with values"):
        factor_grid(machine, X, Y, {"C": []})
    with pytest.raises(DataError, match="n_folds must be from 2"):
        factor_grid(machine, X, Y, {"C": [1.0]}, n_folds=1)
    ranker = RankingMachine()
    assert factor_grid(ranker, X, Z, {"C": [1.0]}).scores.mean() > 0.5
