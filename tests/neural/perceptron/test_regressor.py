"""The perceptron for numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPRegressor as PeerRegressor

from verulam.base import DataError
from verulam.neural import MLPRegressor
from verulam.numerics import DivergenceError

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(100, 3))
NUMBERS = ROWS[:, 0] - 2 * ROWS[:, 1] + 0.1 * RANDOM.normal(size=100)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def small(**options):
    return MLPRegressor(**{"hidden_layer_sizes": 5, "max_iter": 30, "random_state": 0} | options)


def test_one_step_is_that_of_scikit_learn():
    options = {"activation": "logistic", "solver": "sgd", "alpha": 0.7, "momentum": 0.0,
               "batch_size": 100, "max_iter": 1, "shuffle": False}  # fmt: skip
    peer = PeerRegressor(
        hidden_layer_sizes=(5,), learning_rate_init=0.05, random_state=0, **options
    )
    peer.set_params(batch_size=1).partial_fit(ROWS[:1], NUMBERS[:1])
    start = [peer.coefs_[0], peer.intercepts_[0], peer.coefs_[1], peer.intercepts_[1]]
    theta = np.concatenate([array.ravel() for array in start])
    net = small(learning_rate=0.05, init=theta, **options).fit(ROWS, NUMBERS)
    peer.set_params(batch_size=100).partial_fit(ROWS, NUMBERS)
    for ours, theirs in zip(
        (*net.coefs_, *net.intercepts_), (*peer.coefs_, *peer.intercepts_), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_linear_units_find_least_squares():
    net = small(activation="identity", solver="lbfgs", alpha=0.0, max_iter=2000, tol=1e-9)
    line = LinearRegression().fit(ROWS, NUMBERS)
    np.testing.assert_allclose(net.fit(ROWS, NUMBERS).predict(ROWS), line.predict(ROWS), atol=1e-5)


def test_skipping_weights_with_decay_are_ridge_regression():
    absent = [np.zeros((3, 5)), np.zeros((5, 1))]
    net = small(skip=True, masks=absent, solver="lbfgs", alpha=7.0, max_iter=2000, tol=1e-10)
    ridge = Ridge(alpha=7.0).fit(ROWS, NUMBERS)
    np.testing.assert_allclose(net.fit(ROWS, NUMBERS).predict(ROWS), ridge.predict(ROWS), atol=1e-6)


def test_the_sine_of_the_text_is_fitted_as_epochs_go_by():
    """Alpaydin fig. 11.8: sin(6x) with noise, two hidden units."""
    random = np.random.default_rng(0)
    x = random.uniform(-0.5, 0.5, size=(50, 1))
    target = np.sin(6 * x[:, 0]) + random.normal(scale=0.1, size=50)
    net = small(
        hidden_layer_sizes=2, activation="logistic", solver="sgd", learning_rate=0.1, momentum=0.0,
        batch_size=1, alpha=0.0, max_iter=1000, tol=0.0, n_iter_no_change=1000, init="small",
    )  # fmt: skip
    errors = {
        epoch.number: np.mean((net.predict(x) - target) ** 2)
        for epoch in net.epochs(x, target)
        if epoch.number in (1, 300, 1000)
    }
    assert errors[1] > errors[300] > errors[1000]
    assert errors[1000] < 0.03


def test_several_targets_share_the_hidden_units():
    both = np.column_stack([NUMBERS, -NUMBERS])
    net = small(solver="lbfgs", max_iter=500).fit(ROWS, both)
    assert net.predict(ROWS).shape == (100, 2)
    assert net.score(ROWS, both) > 0.95
    assert [weights.shape for weights in net.coefs_] == [(3, 5), (5, 2)]
    assert net.n_outputs_ == 2


def test_a_network_for_each_target():
    both = np.column_stack([NUMBERS, np.sin(NUMBERS)])
    options = {"solver": "lbfgs", "max_iter": 300}
    apart = MultiOutputRegressor(small(**options)).fit(ROWS, both)
    for column in range(2):
        alone = small(**options).fit(ROWS, both[:, column])
        np.testing.assert_array_equal(apart.predict(ROWS)[:, column], alone.predict(ROWS))


@pytest.mark.parametrize("solver", ["lbfgs", "cg", "newton-cg"])
def test_solvers_with_a_search_need_fewer_epochs(solver):
    options = {"activation": "tanh", "alpha": 1.0, "batch_size": "all", "tol": 0.0,
               "n_iter_no_change": 1000}  # fmt: skip
    descent = small(solver="sgd", max_iter=300, learning_rate=0.05, **options).fit(ROWS, NUMBERS)
    searched = small(solver=solver, max_iter=60, **options).fit(ROWS, NUMBERS)
    assert searched.n_iter_ <= 60
    assert searched.loss_ < descent.loss_


def test_bounded_outputs():
    shares = 1 / (1 + np.exp(-NUMBERS))
    net = small(output_activation="logistic", solver="lbfgs", max_iter=300).fit(ROWS, shares)
    predicted = net.predict(10 * ROWS)
    assert ((predicted >= 0) & (predicted <= 1)).all()
    assert net.score(ROWS, shares) > 0.95
    tanh = small(output_activation="tanh", solver="lbfgs", max_iter=300).fit(ROWS, np.tanh(NUMBERS))
    assert tanh.score(ROWS, np.tanh(NUMBERS)) > 0.95
    with pytest.raises(
        DataError, match="output_activation='logistic' gives numbers from 0 to 1; y has"
    ):
        small(output_activation="logistic").fit(ROWS, NUMBERS)
    with pytest.raises(DataError, match="from -1 to 1"):
        small(output_activation="tanh").fit(ROWS, NUMBERS)


def test_weights_are_repeated_rows():
    counts = np.arange(100) % 3
    options = {"batch_size": "all", "max_iter": 15}
    weighted = small(**options).fit(ROWS, NUMBERS, sample_weight=counts)
    repeated = small(**options).fit(np.repeat(ROWS, counts, axis=0), np.repeat(NUMBERS, counts))
    np.testing.assert_allclose(weighted.parameters_, repeated.parameters_, atol=1e-10)


def test_decay_shrinks_the_weights():
    norms = [
        np.linalg.norm(
            small(solver="lbfgs", alpha=alpha, max_iter=300).fit(ROWS, NUMBERS).coefs_[0]
        )
        for alpha in (0.01, 1.0, 100.0)
    ]
    assert norms[0] > norms[1] > norms[2]


def test_decay_is_chosen_by_cross_validation():
    noisy = ROWS[:, 0] + RANDOM.normal(size=100)
    settings = small(hidden_layer_sizes=20, solver="lbfgs", max_iter=300)
    search = GridSearchCV(settings, {"alpha": [1e-4, 30.0]}, cv=3).fit(ROWS, noisy)
    assert search.best_params_ == {"alpha": 30.0}


def test_partial_fit_and_early_stopping():
    net = small()
    for _ in range(4):
        net.partial_fit(ROWS, NUMBERS)
    assert net.n_iter_ == 4
    stopped = small(early_stopping=True, max_iter=100).fit(ROWS, NUMBERS)
    assert np.isfinite(stopped.history_["validation_loss"]).all()
    with pytest.raises(DataError, match="which early_stopping does not"):
        small(early_stopping=True).partial_fit(ROWS, NUMBERS)


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS[:2]])
def test_few_rows(rows):
    net = small(max_iter=300, learning_rate=0.05).fit(rows, NUMBERS[: len(rows)])
    np.testing.assert_allclose(net.predict(rows), NUMBERS[: len(rows)], atol=0.1)


def test_huge_columns_diverge_with_a_word():
    with pytest.raises(DataError, match=r"diverged.*bring the columns to a common scale"):
        small(activation="identity", solver="sgd").fit(1e8 * ROWS, NUMBERS)
    rows = pd.DataFrame(ROWS).add_prefix("column ")
    rows["column 1"] = 1e8 * np.sign(ROWS[:, 1])
    words = (
        r"learning rate of 0\.01\..* The largest numbers, up to 1e\+08, are in column 'column 1'"
    )
    with pytest.raises(DivergenceError, match=words):
        small(activation="identity", solver="sgd").fit(rows, NUMBERS)


def test_an_error_that_runs_away_is_not_waited_for():
    net = small(activation="identity", solver="sgd", learning_rate=50.0, max_iter=500)
    words = r"diverged: the error has grown from .* at a learning rate of 50\. .*common scale"
    with pytest.raises(DivergenceError, match=words):
        net.fit(ROWS, NUMBERS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["lbfgs", "cg", "newton-cg", "adam"])
def test_nothing_is_silently_no_number(solver):
    net = small(activation="identity", solver=solver, max_iter=5).fit(1e14 * ROWS, NUMBERS)
    assert np.isfinite(net.predict(1e14 * ROWS)).all()


@pytest.mark.parametrize("solver", ["lbfgs", "cg", "newton-cg", "adam", "sgd"])
@pytest.mark.parametrize("size", [1e17, 1e100, 1e150])
def test_numbers_too_large_to_train_with_are_refused(solver, size):
    rows = pd.DataFrame(ROWS).add_prefix("column ")
    rows["column 1"] = size * np.sign(ROWS[:, 1])
    net = small(solver=solver, max_iter=5)
    words = rf"^X holds numbers up to {size:.3g} in column 'column 1', .*\(StandardScaler\)\.$"
    with pytest.raises(DataError, match=words.replace("+", r"\+")):
        net.fit(rows, NUMBERS)
    with pytest.raises(DataError, match=r"in column 1 \(counted from 0\), too large to train"):
        next(net.epochs(rows.to_numpy(), NUMBERS))
    with pytest.raises(DataError, match=r"y holds numbers up to .*TransformedTargetRegressor"):
        net.fit(ROWS, size * np.sign(NUMBERS))


def test_large_numbers_on_rows_set_aside_are_refused_too():
    rows = np.where(np.arange(len(ROWS))[:, None] == np.arange(len(ROWS)), 1e150, 0.0)
    for place in range(len(ROWS)):
        with pytest.raises(DataError, match=r"in column 0 .* too large"):
            small(early_stopping=True, max_iter=1).fit(rows[:, place : place + 1], NUMBERS)


@pytest.mark.filterwarnings("ignore:Training ended")
@pytest.mark.parametrize("size", [1e6, 1e12])
def test_large_numbers_of_ordinary_data_are_trained_with(size):
    assert small(max_iter=2).fit(size * ROWS, size * NUMBERS).n_iter_ == 2
    assert small(max_iter=2).partial_fit(size * ROWS, size * NUMBERS).n_iter_ == 1


def test_targets_that_do_not_fit():
    with pytest.raises(DataError, match="y has 99 entries for 100 rows"):
        small().fit(ROWS, NUMBERS[:-1])
    with pytest.raises(ValueError, match="NaN"):
        small().fit(ROWS, np.where(NUMBERS > 3, np.nan, NUMBERS))


def test_rows_of_a_step():
    assert MLPRegressor()._batch(10_000) == MLPRegressor(batch_size="auto")._batch(5_000)
    assert 1 < MLPRegressor(batch_size="auto")._batch(10_000) < 10_000
    assert MLPRegressor(batch_size="auto")._batch(5) == 5
    assert MLPRegressor(batch_size=7)._batch(10_000) == 7
    assert MLPRegressor(batch_size="all")._batch(10_000) == 10_000
