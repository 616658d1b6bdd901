"""The perceptron for classes: what it learns, how it stops, what it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neural_network import MLPClassifier as PeerClassifier
from sklearn.utils.class_weight import compute_sample_weight

from verulam.base import DataError, DataWarning, whole_trainings
from verulam.neural import MLPClassifier
from verulam.neural._network import network
from verulam.neural._perceptron import perceptron
from verulam.numerics import AdaptiveRate, inverse

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(120, 4))
LABELS = np.array(["a", "b", "c"])[
    (ROWS[:, 0] + ROWS[:, 1] ** 2 > 0.5).astype(int) + (ROWS[:, 2] > 0)
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def small(**options):
    return MLPClassifier(**{"hidden_layer_sizes": 6, "max_iter": 20, "random_state": 0} | options)


def in_turn(function, tasks, threads):
    return map(function, tasks)


class Interruption:
    """A callback of scikit-learn's that Ctrl-C comes amid, after so many epochs."""

    def __init__(self, epochs):
        self.left = epochs

    def setup(self, estimator, context):
        """Nothing is needed."""

    def teardown(self, estimator, context):
        """Nothing is needed."""

    def on_fit_task_begin(self, estimator, context):
        """Nothing is drawn yet."""

    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("solver", ["lbfgs", "cg", "newton-cg", "adam", "sgd"])
def test_every_solver_learns_exclusive_or(solver):
    steps = {"learning_rate": 0.05, "max_iter": 2000, "tol": 0.0, "batch_size": "all"}
    steps = steps if solver in ("adam", "sgd") else {"max_iter": 500}
    net = small(activation="tanh", solver=solver, n_init=4, alpha=0.0, **steps)
    np.testing.assert_array_equal(net.fit(XOR, [0, 1, 1, 0]).predict(XOR), [0, 1, 1, 0])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
def test_one_step_is_that_of_scikit_learn(activation, classes):
    labels = (np.arange(120) % classes).astype(int)
    options = {"activation": activation, "solver": "sgd", "alpha": 0.7, "momentum": 0.0,
               "batch_size": 120, "max_iter": 1, "shuffle": False}  # fmt: skip
    peer = PeerClassifier((5,), learning_rate_init=0.3, random_state=0, **options)
    peer.set_params(batch_size=1).partial_fit(
        ROWS[:1], labels[:1], classes=np.arange(classes)
    )  # weights to start from
    start = [array.copy() for array in (*peer.coefs_, *peer.intercepts_)]
    order = [start[0], start[2], start[1], start[3]]
    theta = np.concatenate([array.ravel() for array in order])
    net = MLPClassifier(5, learning_rate=0.3, init=theta, random_state=0, **options)
    net.fit(ROWS, labels)
    peer.set_params(batch_size=120).partial_fit(ROWS, labels)
    for ours, theirs in zip(
        (*net.coefs_, *net.intercepts_), (*peer.coefs_, *peer.intercepts_), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert not np.allclose(net.coefs_[0], start[0])


def test_quasi_newton_reaches_the_minimum_of_scikit_learn():
    labels = (LABELS == "a").astype(int)
    net = small(hidden_layer_sizes=3, activation="tanh", solver="lbfgs", alpha=5.0, max_iter=3000,
                tol=1e-7, n_init=5).fit(ROWS, labels)  # fmt: skip
    losses = []
    for seed in range(5):
        peer = PeerClassifier((3,), activation="tanh", solver="lbfgs", alpha=5.0, max_iter=3000,
                              tol=1e-7, random_state=seed).fit(ROWS, labels)  # fmt: skip
        losses.append(peer.loss_)
    assert net.loss_ == pytest.approx(min(losses), rel=1e-4)


def test_probabilities_are_the_posteriors_of_known_densities():
    random = np.random.default_rng(1)
    labels = random.integers(2, size=6000)
    rows = random.normal(loc=2.0 * labels[:, None] - 1.0, size=(6000, 1))
    net = small(hidden_layer_sizes=4, activation="logistic", solver="lbfgs", max_iter=300)
    grid = np.linspace(-2, 2, 9)[:, None]
    posterior = 1 / (1 + np.exp(-2 * grid[:, 0]))
    predicted = net.fit(rows, labels).predict_proba(grid)
    np.testing.assert_allclose(predicted[:, 1], posterior, atol=0.03)
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_weights_are_repeated_rows(solver):
    counts = np.arange(120) % 3
    options = {"solver": solver, "batch_size": "all", "max_iter": 15}
    weighted = small(**options).fit(ROWS, LABELS, sample_weight=counts)
    repeated = small(**options).fit(np.repeat(ROWS, counts, axis=0), np.repeat(LABELS, counts))
    np.testing.assert_allclose(weighted.parameters_, repeated.parameters_, atol=1e-7)


def test_class_weights():
    balanced = small(class_weight="balanced", batch_size="all").fit(ROWS, LABELS)
    counts = pd.Series(LABELS).value_counts()
    weights = 40.0 / counts[LABELS].to_numpy()
    by_row = small(batch_size="all").fit(ROWS, LABELS, sample_weight=weights)
    np.testing.assert_allclose(balanced.parameters_, by_row.parameters_, atol=1e-12)
    counted = np.arange(len(ROWS)) % 3
    both = small(class_weight="balanced", batch_size="all").fit(ROWS, LABELS, counted)
    factors = compute_sample_weight("balanced", LABELS)
    by_row = small(batch_size="all").fit(ROWS, LABELS, sample_weight=factors * counted)
    np.testing.assert_allclose(both.parameters_, by_row.parameters_, atol=1e-12)
    named = small(class_weight={"a": 0.0}, max_iter=500).fit(ROWS, LABELS)
    assert "a" not in named.predict(ROWS)


def test_skipping_weights_learn_a_linear_rule_at_once():
    labels = ROWS[:, 0] > 0
    net = small(skip=True, solver="lbfgs", masks=[np.zeros((4, 6)), np.zeros((6, 1))], max_iter=200)
    assert net.fit(ROWS, labels).score(ROWS, labels) > 0.97
    assert not any(weights.any() for weights in net.coefs_)


class TestStopping:
    def test_the_weights_of_the_best_epoch_are_kept(self):
        net = small(
            hidden_layer_sizes=60, learning_rate=0.05, early_stopping=True, max_iter=200,
            validation_fraction=0.3, alpha=0.0,
        )  # fmt: skip
        trace = [
            (epoch.validation_loss, net.parameters_.copy()) for epoch in net.epochs(ROWS, LABELS)
        ]
        assert len(trace) < 200
        best = min(range(len(trace)), key=lambda place: trace[place][0])
        assert best < len(trace) - 1
        np.testing.assert_array_equal(net.parameters_, trace[best][1])
        fitted = clone(net).fit(ROWS, LABELS)
        np.testing.assert_array_equal(fitted.parameters_, net.parameters_)
        assert fitted.history_["validation_loss"].min() == trace[best][0]

    def test_each_class_is_set_aside_in_its_share(self, monkeypatch):
        seen = {}
        known = network.error_of_rows

        def spy(network, theta, rows, targets, weights):
            seen["classes"] = np.bincount(targets)
            return known(network, theta, rows, targets, weights)

        monkeypatch.setattr(network, "error_of_rows", spy)
        labels = np.repeat([0, 1, 2], [60, 40, 20])
        small(early_stopping=True, validation_fraction=0.25).fit(ROWS, labels)
        assert seen["classes"].tolist() == [15, 10, 5]

    def test_unfinished_training_is_told(self):
        with pytest.warns(
            ConvergenceWarning, match="ended at max_iter=3 before the error had settled"
        ):
            small(max_iter=3).fit(ROWS, LABELS)

    def test_an_interrupted_fit_keeps_the_best_so_far(self, monkeypatch):
        known, calls = network.error_of_rows, []

        def interrupt(*arguments):
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return known(*arguments)

        monkeypatch.setattr(network, "error_of_rows", interrupt)
        net = small(early_stopping=True)
        with pytest.warns(DataWarning, match="interrupted in epoch 4"):
            net.fit(ROWS, LABELS)
        assert net.predict(ROWS).shape == (120,)

    def test_steps_of_an_interrupted_epoch_are_taken_back(self, monkeypatch):
        # The error goes up and down at this rate; an epoch has four steps.
        net = small(learning_rate=1.0, batch_size=30, max_iter=9)
        trace = [(epoch.loss, net.parameters_.copy()) for epoch in net.epochs(ROWS, LABELS)]
        place = next(n for n in range(2, 9) if trace[n][0] > min(trace)[0])
        best = min(range(place + 1), key=lambda number: trace[number][0])
        known, calls = network.finish_gradient, []

        def interrupt(*arguments):
            calls.append(1)
            if len(calls) == 4 * (place + 1) + 3:
                raise KeyboardInterrupt
            known(*arguments)

        monkeypatch.setattr(network, "finish_gradient", interrupt)
        words = f"in epoch {place + 2}; the weights are the best until then, those of epoch"
        with pytest.warns(DataWarning, match=f"{words} {best + 1}"):
            net.fit(ROWS, LABELS)
        assert best < place
        np.testing.assert_array_equal(net.parameters_, trace[best][1])
        assert net.loss_ == trace[best][0] == net.restarts_["loss"].item()

    def test_an_interrupt_ends_the_work_that_a_fit_is_part_of(self, monkeypatch):
        known, calls = network.finish_gradient, []

        def interrupt(*arguments):
            calls.append(1)
            if len(calls) < 3:
                raise KeyboardInterrupt
            known(*arguments)

        monkeypatch.setattr(network, "finish_gradient", interrupt)
        with whole_trainings(), pytest.raises(KeyboardInterrupt):
            small().fit(ROWS, LABELS)
        with pytest.warns(DataWarning, match="before its first epoch was over"):
            small().fit(ROWS, LABELS)

    def test_an_interrupt_reaches_all_starts(self, monkeypatch):
        known, calls = network.error_of_rows, []

        def interrupt(*arguments):
            calls.append(1)
            if len(calls) == 5:
                raise KeyboardInterrupt
            return known(*arguments)

        monkeypatch.setattr(network, "error_of_rows", interrupt)
        net = small(early_stopping=True, n_init=4, max_iter=500, tol=0.0, n_iter_no_change=500)
        with pytest.warns(DataWarning, match="interrupted"):
            net.fit(ROWS, LABELS)
        assert net.restarts_["epochs"].max() < 500

    def test_a_start_that_was_over_before_the_interrupt_keeps_its_error(self, monkeypatch):
        # At this rate the error goes up and down; an epoch has four steps.
        options = {"learning_rate": 1.0, "batch_size": 30, "max_iter": 9, "n_iter_no_change": 9}
        alone = small(**options).fit(ROWS, LABELS)
        assert alone.history_["loss"].min() < alone.loss_
        known, calls = network.finish_gradient, []

        def interrupt(*arguments):
            calls.append(1)
            if len(calls) == 4 * 9 + 6:
                raise KeyboardInterrupt
            known(*arguments)

        monkeypatch.setattr(network, "finish_gradient", interrupt)
        monkeypatch.setattr(perceptron, "iterate_in_threads", in_turn)
        net = small(n_init=2, **options)
        with pytest.warns(DataWarning, match="interrupted; the weights are those of a start"):
            net.fit(ROWS, LABELS)
        assert net.restarts_["epochs"].tolist() == [9, 1]
        assert net.loss_ == net.restarts_["loss"][0] == alone.loss_
        np.testing.assert_array_equal(net.parameters_, alone.parameters_)

    def test_an_interrupt_amid_a_callback_keeps_the_best_weights(self):
        net = small(learning_rate=1.0, batch_size=30, max_iter=9)
        trace = [(epoch.loss, net.parameters_.copy()) for epoch in net.epochs(ROWS, LABELS)]
        place = next(n for n in range(2, 9) if trace[n][0] > min(trace[:n])[0])
        least = min(range(place + 1), key=lambda number: trace[number][0])
        net.set_callbacks(Interruption(place + 1))
        with pytest.warns(DataWarning, match=f"best until then, those of epoch {least + 1}"):
            net.fit(ROWS, LABELS)
        np.testing.assert_array_equal(net.parameters_, trace[least][1])
        assert net.loss_ == trace[least][0]

    def test_rates_follow_schedules(self):
        net = small(solver="sgd", learning_rate=inverse(0.4), max_iter=4).fit(ROWS, LABELS)
        np.testing.assert_allclose(net.history_["learning_rate"], 0.4 / np.arange(1, 5))
        rule = AdaptiveRate(0.1, increase=0.01, decrease=0.5)
        rates = small(solver="sgd", learning_rate=rule, max_iter=9).fit(ROWS, LABELS).history_
        expected = [0.1]
        for count in range(1, 9):
            expected.append(rule.following(expected[-1], rates["loss"].tolist()[:count]))
        np.testing.assert_allclose(rates["learning_rate"], expected)


class TestRestarts:
    def test_the_best_is_kept_and_all_are_told(self):
        net = small(n_init=5).fit(ROWS, LABELS)
        table = net.restarts_
        assert len(table) == 5
        assert table["loss"].std() > 0
        assert table.loc[table["kept"], "loss"].tolist() == [table["loss"].min()] == [net.loss_]

    def test_threads_change_nothing(self, monkeypatch):
        nets = []
        for threads in ("1", "2"):
            monkeypatch.setenv("VERULAM_THREADS", threads)
            nets.append(small(n_init=3, early_stopping=True).fit(ROWS, LABELS))
        np.testing.assert_array_equal(nets[0].parameters_, nets[1].parameters_)
        pd.testing.assert_frame_equal(nets[0].restarts_, nets[1].restarts_)


class TestParts:
    def test_partial_fit_goes_on(self):
        net = small(batch_size=30, shuffle=False)
        for _ in range(3):
            net.partial_fit(ROWS, LABELS, classes=["a", "b", "c"])
        assert net.n_iter_ == 3
        assert net.history_["loss"].is_monotonic_decreasing
        with pytest.raises(ValueError, match="label 'd', which is none of the classes"):
            net.partial_fit(ROWS[:2], ["a", "d"])
        with pytest.raises(ValueError, match="name all classes at the first call"):
            small().partial_fit(ROWS, LABELS)
        with pytest.raises(DataError, match="single steps, which solver='lbfgs' does not"):
            small(solver="lbfgs").partial_fit(ROWS, LABELS, classes=["a", "b", "c"])

    def test_hidden_outputs(self):
        net = small(hidden_layer_sizes=(5, 3), activation="tanh").fit(ROWS, LABELS)
        first = np.tanh(ROWS @ net.coefs_[0] + net.intercepts_[0])
        np.testing.assert_allclose(net.hidden_outputs(ROWS, 0), first)
        second = np.tanh(first @ net.coefs_[1] + net.intercepts_[1])
        np.testing.assert_allclose(net.hidden_outputs(ROWS), second)
        with pytest.raises(DataError, match="layer: 2; the network has 2 hidden layers"):
            net.hidden_outputs(ROWS, 2)

    def test_a_pickled_one_predicts_and_goes_on_alike(self):
        net = small().partial_fit(ROWS, LABELS, classes=["a", "b", "c"])
        copy = pickle.loads(pickle.dumps(net))
        for learner in (net, copy):
            learner.partial_fit(ROWS, LABELS)
        np.testing.assert_array_equal(net.predict_proba(ROWS), copy.predict_proba(ROWS))

    def test_single_precision_stays(self):
        net = small().fit(ROWS.astype(np.float32), LABELS)
        assert net.parameters_.dtype == net.predict_proba(ROWS.astype(np.float32)).dtype == "f4"
        exact = small().fit(ROWS, LABELS)
        np.testing.assert_allclose(net.predict_proba(ROWS), exact.predict_proba(ROWS), atol=1e-3)


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"hidden_layer_sizes": (3, 0)}, "hidden_layer_sizes must be whole numbers"),
            ({"hidden_layer_sizes": [2.5]}, "hidden_layer_sizes must be whole numbers"),
            ({"masks": [None]}, "masks: 1 arrays for 2 layers"),
            ({"init": [1.0, 2.0]}, "init: 2 numbers for the 51 weights"),
            ({"early_stopping": True, "validation_fraction": 0.001}, "too few to set 0.001"),
        ],
    )
    def test_refused(self, options, words):
        with pytest.raises(DataError, match=words):
            small(**options).fit(ROWS, LABELS)

    @pytest.mark.parametrize(
        "options",
        [
            {"hidden_layer_sizes": 0}, {"activation": "threshold"}, {"solver": "magic"},
            {"learning_rate": 0.0}, {"momentum": 1.0}, {"batch_size": 0}, {"alpha": -1.0},
            {"gain": 0.0}, {"n_init": 0}, {"validation_fraction": 1.0}, {"class_weight": "even"},
        ],
    )  # fmt: skip
    def test_parameters(self, options):
        (name,) = options
        with pytest.raises(ValueError, match=name):
            small(**options).fit(ROWS, LABELS)

    def test_data(self):
        with pytest.raises(ValueError, match="one class alone, 'a'"):
            small().fit(ROWS, ["a"] * 120)
        with pytest.raises(ValueError, match="NaN"):
            small().fit(np.where(ROWS > 2, np.nan, ROWS), LABELS)
        with pytest.raises(DataError, match="all weights are zero"):
            small().fit(ROWS, LABELS, sample_weight=np.zeros(120))

    def test_weights_that_leave_nothing_to_validate_with(self):
        weights = np.zeros(120)
        weights[:3] = 1.0
        with pytest.raises(DataError, match="have no weight; leave out rows"):
            small(early_stopping=True).fit(ROWS, LABELS, sample_weight=weights)

    def test_a_fit_that_fails_leaves_nothing_to_answer(self):
        net = small().fit(ROWS, LABELS)
        with pytest.raises(ValueError, match="one class alone"):
            net.fit(ROWS, ["a"] * 120)
        with pytest.raises(NotFittedError):
            net.predict(ROWS)

    def test_nothing_to_do_has_a_loss(self):
        done = small(solver="lbfgs", max_iter=1000, tol=1e-2).fit(ROWS, LABELS)
        again = small(solver="lbfgs", tol=1e-1, init=done.parameters_).fit(ROWS, LABELS)
        assert again.n_iter_ == 0
        assert again.loss_ == pytest.approx(done.loss_)

    def test_one_row_of_each_class(self):
        net = small(max_iter=300).fit([[0.0], [1.0]], ["a", "b"])
        assert net.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


def test_a_fit_says_nothing_where_all_is_well():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        small(max_iter=2000, tol=1e-3).fit(ROWS, LABELS)
    assert caught == []


def test_so_many_epochs_and_no_warning():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    fixed = MLPClassifier(4, max_iter=12, tol=0, n_iter_no_change=12, random_state=0)
    assert fixed.fit(X, y).n_iter_ == 12
    with pytest.warns(ConvergenceWarning, match="ended at max_iter=12"):
        fixed.set_params(tol=1e-9).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="ended at max_iter=12"):
        fixed.set_params(tol=0, n_iter_no_change=11).fit(X, y)
