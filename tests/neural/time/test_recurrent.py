"""Learners with feedback: recognition, association, reproduction, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, UnknownNameError
from verulam.data import dataset
from verulam.neural import (
    MLPRegressor,
    RecurrentClassifier,
    RecurrentRegressor,
    next_steps,
)
from verulam.neural._time.recurrence import Steps

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def spikes(count=80):
    """Return sequences with two spikes, labelled by which of the two channels came first."""
    random = np.random.default_rng(0)
    sequences, labels = [], []
    for number in range(count):
        steps = np.zeros((int(random.integers(4, 8)), 2))
        first, second = sorted(random.choice(len(steps) - 1, 2, replace=False))
        steps[first, number % 2] = steps[second, 1 - number % 2] = 1.0
        sequences.append(steps)
        labels.append("ab"[number % 2])
    return sequences, labels


SEQUENCES, LABELS = spikes()


def small(**options):
    settings = {"solver": "lbfgs", "tol": 1e-3, "max_iter": 200, "random_state": 0}
    return RecurrentClassifier(8, **settings | options)


class TestRecognition:
    @pytest.mark.parametrize("feedback", ["hidden", "output-hidden", ["hidden", "output"]], ids=str)
    def test_what_came_first_is_remembered(self, feedback):
        net = small(feedback=feedback, n_init=3).fit(SEQUENCES[:60], LABELS[:60])
        assert net.score(SEQUENCES[60:], LABELS[60:]) > 0.8
        assert net.predict_proba(SEQUENCES[60:]).shape == (20, 2)

    def test_without_feedback_it_cannot_be(self):
        net = small(feedback=[]).fit(SEQUENCES[:60], LABELS[:60])
        assert net.feedback_coefs_ == {}
        # Nothing happens at the last step, which is all that such a network sees.
        assert np.ptp(net.predict_proba(SEQUENCES)[:, 0]) < 1e-12

    def test_the_error_of_a_sequence_is_that_of_its_last_step(self):
        net = small(max_iter=15, alpha=0.0).fit(SEQUENCES, LABELS)
        shares = net.predict_proba(SEQUENCES)
        right = shares[np.arange(80), np.searchsorted(net.classes_, LABELS)]
        assert net.loss_ == pytest.approx(-np.log(right).mean(), rel=1e-9)

    def test_lists_and_lengths_are_the_same(self):
        lengths = [len(steps) for steps in SEQUENCES]
        stacked = np.concatenate(SEQUENCES)
        one = small(max_iter=20).fit(SEQUENCES, LABELS)
        other = small(max_iter=20).fit(stacked, LABELS, lengths=lengths)
        np.testing.assert_array_equal(one.parameters_, other.parameters_)
        np.testing.assert_array_equal(one.predict(SEQUENCES), other.predict(stacked, lengths))

    def test_rows_of_a_table_are_sequences_of_numbers(self):
        random = np.random.default_rng(0)
        table = random.normal(size=(40, 5))
        labels = (table.sum(axis=1) > 0).astype(int)
        net = small(max_iter=100).fit(table, labels)
        assert net.n_features_in_ == 5
        assert net.network_.layout.sizes == (1, 8, 1)
        assert net.score(table, labels) > 0.9
        listed = [row[:, None] for row in table]
        np.testing.assert_allclose(net.predict_proba(table), net.predict_proba(listed))

    def test_early_stopping_sets_sequences_aside(self):
        net = small(solver="adam", early_stopping=True, validation_fraction=0.25, max_iter=30)
        net.fit(SEQUENCES, LABELS)
        assert net.history_["validation_loss"].notna().all()

    def test_epochs_can_be_watched(self):
        net = small(solver="adam", max_iter=5)
        losses = [epoch.loss for epoch in net.epochs(SEQUENCES, LABELS)]
        assert losses == net.history_["loss"].tolist()
        assert len(losses) == 5

    def test_real_time_learning_is_the_same(self):
        settings = {"solver": "sgd", "learning_rate": 0.1, "max_iter": 3}
        unfolded = small(**settings).fit(SEQUENCES, LABELS)
        carried = small(gradient="real-time", **settings).fit(SEQUENCES, LABELS)
        np.testing.assert_allclose(unfolded.parameters_, carried.parameters_, atol=1e-12)

    def test_real_time_learning_step_by_step(self):
        random = np.random.default_rng(0)
        signal = random.uniform(-1, 1, size=(300, 1))
        echo = np.vstack([np.zeros((1, 1)), signal[:-1]])
        net = RecurrentRegressor(
            6, gradient="real-time", online=True, solver="sgd", learning_rate=0.05, momentum=0.0,
            max_iter=30, tol=0.0, random_state=0,
        )  # fmt: skip
        assert net.fit([signal[:200]], [echo[:200]]).score([signal[200:]], [echo[200:]]) > 0.9


class TestAssociation:
    def test_an_echo_needs_feedback(self):
        random = np.random.default_rng(0)
        signals = [random.uniform(-1, 1, size=(int(n), 1)) for n in random.integers(6, 14, 24)]
        echoes = [np.vstack([np.zeros((2, 1)), signal[:-2]]) for signal in signals]
        settings = {"solver": "lbfgs", "tol": 1e-3, "max_iter": 200, "random_state": 0}
        net = RecurrentRegressor(6, **settings).fit(signals[:18], echoes[:18])
        answers = net.predict(signals[18:])
        assert [part.shape for part in answers] == [part.shape for part in echoes[18:]]
        assert net.score(signals[18:], echoes[18:]) > 0.95
        blind = RecurrentRegressor(6, feedback=[], **settings).fit(signals[:18], echoes[:18])
        assert blind.score(signals[18:], echoes[18:]) < 0.2

    def test_labels_of_steps(self):
        """Parity so far: the state of a flip-flop."""
        random = np.random.default_rng(1)
        bits = [random.integers(0, 2, size=8) for _ in range(40)]
        parity = [np.where(np.cumsum(part) % 2, "odd", "even") for part in bits]
        net = small(n_init=4, max_iter=300).fit(bits[:30], parity[:30])
        assert net.score(bits[30:], parity[30:]) > 0.95
        assert [part.shape for part in net.predict(bits[:2])] == [(8,), (8,)]
        assert net.predict_proba(bits[:2])[0].shape == (8, 2)

    def test_masked_steps_do_not_count(self):
        random = np.random.default_rng(0)
        signals = [random.normal(size=(7, 1)) for _ in range(6)]
        targets = [2 * signal for signal in signals]
        mask = [np.arange(7) % 2 == 0 for _ in signals]
        gaps = [np.where(mask[0][:, None], target, np.nan) for target in targets]
        wrong = [np.where(mask[0][:, None], target, 99.0) for target in targets]
        net = RecurrentRegressor(3, solver="lbfgs", max_iter=30, random_state=0)
        one = net.fit(signals, gaps, mask=mask).parameters_.copy()
        other = net.fit(signals, wrong, mask=mask).parameters_
        np.testing.assert_array_equal(one, other)
        assert net.score(signals, gaps, mask=mask) == net.score(signals, wrong, mask=mask)
        with pytest.raises(DataError, match="at steps that count; mask"):
            net.fit(signals, gaps)

    def test_several_outputs(self):
        random = np.random.default_rng(0)
        signals = [random.normal(size=(6, 2)) for _ in range(5)]
        net = RecurrentRegressor(4, solver="lbfgs", max_iter=20, random_state=0)
        assert net.fit(signals, signals).predict(signals)[0].shape == (6, 2)
        whole = net.fit(signals, np.array([part.sum(axis=0) for part in signals]))
        assert whole.predict(signals).shape == (5, 2)


class TestReproduction:
    def test_sunspots_go_on(self):
        series = dataset("sunspots").target_values.to_numpy()
        series = (series - series.mean()) / series.std()
        past, rest = series[:250], series[250:258]
        net = RecurrentRegressor(8, solver="lbfgs", alpha=1.0, max_iter=200, random_state=0)
        ahead = net.fit(*next_steps([past])).forecast([past], 8)[0][:, 0]
        repeated = np.full(8, past[-1])
        assert np.mean((ahead - rest) ** 2) < np.mean((repeated - rest) ** 2)

    def test_a_wave_is_continued(self):
        wave = np.sin(np.arange(60) / 3)
        net = RecurrentRegressor(8, solver="lbfgs", tol=1e-3, max_iter=400, random_state=0)
        ahead = net.fit(*next_steps([wave[:40]])).forecast([wave[:40]], 8)[0][:, 0]
        np.testing.assert_allclose(ahead, wave[40:48], atol=0.15)

    def test_a_forecast_is_predictions_fed_back(self):
        random = np.random.default_rng(0)
        series = [random.normal(size=(9, 2))]
        kinds = ["hidden", "output-hidden"]
        net = RecurrentRegressor(3, feedback=kinds, max_iter=5, random_state=0)
        net.fit(*next_steps(series))
        ahead = net.forecast(series, 3)[0]
        grown = series[0]
        for row in ahead:
            np.testing.assert_allclose(net.predict([grown])[0][-1], row, atol=1e-12)
            grown = np.vstack([grown, row])

    def test_it_needs_the_steps_that_follow(self):
        net = RecurrentRegressor(3, max_iter=2).fit(SEQUENCES, np.arange(80.0))
        with pytest.raises(DataError, match="fit to the steps that follow"):
            net.forecast(SEQUENCES, 2)
        inputs, targets = next_steps(SEQUENCES)
        net.fit(inputs, targets)
        with pytest.raises(DataError, match="n_steps must be a whole number"):
            net.forecast(SEQUENCES, 0)


class TestParts:
    def test_size_report(self):
        net = small(feedback=["hidden", "output"], max_iter=2).fit(SEQUENCES, LABELS)
        report = net.size_report()
        assert report["parameters"].tolist() == [24, 9, 64, 1]
        assert report.index.tolist()[2:] == ["hidden feedback", "output feedback"]
        assert {kind: part.shape for kind, part in net.feedback_coefs_.items()} == {
            "hidden": (8, 8), "output": (1, 1)
        }  # fmt: skip
        assert [part.shape for part in net.coefs_] == [(2, 8), (8, 1)]
        assert [part.shape for part in net.intercepts_] == [(8,), (1,)]

    def test_hidden_outputs(self):
        net = small(max_iter=2).fit(SEQUENCES, LABELS)
        hidden = net.hidden_outputs(SEQUENCES[:3])
        assert [part.shape for part in hidden] == [(len(s), 8) for s in SEQUENCES[:3]]
        last = np.array([part[-1] for part in hidden]) @ net.coefs_[1] + net.intercepts_[1]
        shares = 1 / (1 + np.exp(-last[:, 0]))
        np.testing.assert_allclose(net.predict_proba(SEQUENCES[:3])[:, 1], shares)
        with pytest.raises(DataError, match="1 hidden layer"):
            net.hidden_outputs(SEQUENCES, layer=1)

    def test_without_feedback_it_is_the_perceptron(self):
        random = np.random.default_rng(0)
        rows, numbers = random.normal(size=(30, 3)), random.normal(size=(30, 1))
        settings = {"activation": "tanh", "solver": "lbfgs", "alpha": 0.1, "max_iter": 15}
        start = np.random.default_rng(1).normal(size=3 * 4 + 4 + 4 + 1)
        plain = MLPRegressor(4, init=start, tol=0.0, **settings).fit(rows, numbers[:, 0])
        net = RecurrentRegressor(4, feedback=[], init=start, tol=0.0, combine="mean", **settings)
        # One sequence of 30 steps: its mean has a whole penalty, the mean row a thirtieth.
        net.set_params(alpha=0.1 / 30).fit([rows], [numbers])
        np.testing.assert_allclose(net.parameters_, plain.parameters_, rtol=1e-6)


class TestRefusals:
    def test_sequences(self):
        with pytest.raises(DataError, match=r"sequence 1 \(counted from 0\).*step 2, column 0"):
            small().fit([np.zeros((3, 2)), [[0, 0], [0, 0], [np.nan, 0]]], [0, 1])
        with pytest.raises(DataError, match="encode symbols"):
            small().fit([list("ab"), list("ba")], [0, 1])
        with pytest.raises(DataError, match="has no steps"):
            small().fit([np.zeros((0, 2)), np.zeros((3, 2))], [0, 1])
        with pytest.raises(DataError, match="3 columns and sequence 0 has 2"):
            small().fit([np.zeros((2, 2)), np.zeros((2, 3))], [0, 1])
        net = small(max_iter=2).fit(SEQUENCES, LABELS)
        with pytest.raises(DataError, match=r"X has 3 columns.*learned from 2"):
            net.predict([np.zeros((4, 3))])

    def test_targets(self):
        with pytest.raises(DataError, match=r"80 sequences of .* y has 3 targets"):
            small().fit(SEQUENCES, LABELS[:3])
        with pytest.raises(DataError, match=r"Sequence 0 .* has \d steps, but its y has 1"):
            small().fit(SEQUENCES, [["a"]] * 80)
        with pytest.raises(ValueError, match="one class alone"):
            small().fit(SEQUENCES, ["a"] * 80)
        with pytest.raises(DataError, match="numbers are needed"):
            RecurrentRegressor().fit(SEQUENCES, LABELS)
        with pytest.raises(DataError, match="one target for each sequence"):
            small().fit(SEQUENCES, LABELS, mask=[np.ones(len(s), dtype=bool) for s in SEQUENCES])
        steps = [np.zeros(len(s)) for s in SEQUENCES]
        with pytest.raises(DataError, match="no step is left"):
            RecurrentRegressor().fit(SEQUENCES, steps, mask=[part.astype(bool) for part in steps])
        with pytest.raises(DataError, match="True or False"):
            RecurrentRegressor().fit(SEQUENCES, steps, mask=steps)

    def test_options(self):
        with pytest.raises(DataError, match="one hidden layer"):
            small().set_params(hidden_layer_sizes=(3, 3)).fit(SEQUENCES, LABELS)
        with pytest.raises(DataError, match="never cut"):
            small(gradient="real-time", truncate=3).fit(SEQUENCES, LABELS)
        with pytest.raises(DataError, match="online: "):
            small(online=True).fit(SEQUENCES, LABELS)
        with pytest.raises(UnknownNameError, match="feedback"):
            small(feedback=["input"]).fit(SEQUENCES, LABELS)

    def test_divergence_is_told(self):
        large, huge = ([size * steps for steps in SEQUENCES] for size in (1e6, 1e200))
        net = RecurrentRegressor(3, activation="identity", solver="sgd", learning_rate=10.0)
        with pytest.raises(DataError, match="Training diverged"), np.errstate(all="ignore"):
            net.fit(large, np.arange(80.0))
        with pytest.raises(DataError, match=r"X holds numbers up to .* too large to train with"):
            net.fit(huge, np.arange(80.0))

    def test_unfinished_training_is_told(self):
        with pytest.warns(ConvergenceWarning, match="max_iter=2"):
            small(solver="adam", max_iter=2).fit(SEQUENCES, LABELS)


def test_next_steps():
    inputs, targets = next_steps(np.arange(7.0), 2, lengths=[3, 4])
    assert [part.ravel().tolist() for part in inputs] == [[0], [3, 4]]
    assert [part.ravel().tolist() for part in targets] == [[2], [5, 6]]
    with pytest.raises(DataError, match=r"Sequence 0 .* more than 3 are needed"):
        next_steps([np.zeros(3)], 3)
    with pytest.raises(DataError, match="horizon must be"):
        next_steps([np.zeros(3)], 0)


def test_tables_with_names():
    tables = [pd.DataFrame(steps, columns=["left", "right"]) for steps in SEQUENCES]
    net = small(max_iter=5).fit(tables, LABELS)
    np.testing.assert_array_equal(net.predict(tables), net.predict(SEQUENCES))


class TestForms:
    """What else a sequence may come as: tables with names, one stack, one series."""

    def tables(self, columns):
        return [pd.DataFrame(steps, columns=["u", "v"])[columns] for steps in SEQUENCES[:20]]

    def test_columns_in_another_order_are_refused(self):
        net = small(max_iter=5).fit(self.tables(["u", "v"]), LABELS[:20])
        assert net.feature_names_in_.tolist() == ["u", "v"]
        with pytest.raises(DataError, match=r"sequence 0 .* columns v, u; u, v are expected"):
            net.predict(self.tables(["v", "u"]))
        mixed = self.tables(["u", "v"])[:1] + self.tables(["v", "u"])[1:]
        with pytest.raises(DataError, match="columns v, u"):
            net.predict(pd.concat(self.tables(["v", "u"])), lengths=[len(t) for t in mixed])
        with pytest.raises(DataError, match=r"sequence 1 .* columns v, u; u, v are expected"):
            net.fit(mixed, LABELS[:20])
        assert not hasattr(net.fit(SEQUENCES, LABELS), "feature_names_in_")

    def test_a_stack_has_sequences_by_steps_by_columns(self):
        stack = np.stack([steps[:4] for steps in SEQUENCES])
        net = small(max_iter=5).fit(stack, LABELS)
        listed = small(max_iter=5).fit(list(stack), LABELS)
        assert np.array_equal(net.predict_proba(stack), listed.predict_proba(list(stack)))
        column = pd.Series(list(stack))
        assert np.array_equal(net.predict_proba(column), listed.predict_proba(list(stack)))

    def test_one_series_is_one_sequence(self):
        wave = np.sin(np.arange(40) / 3)
        net = RecurrentRegressor(4, max_iter=5, random_state=0).fit(*next_steps(wave))
        ahead = net.forecast([wave], 3)[0]
        assert np.array_equal(net.forecast(wave, 3)[0], ahead)
        assert np.array_equal(net.forecast(pd.Series(wave, index=range(5, 45)), 3)[0], ahead)

    def test_one_array_of_several_columns_needs_a_list_or_lengths(self):
        net = small(max_iter=5).fit(SEQUENCES, LABELS)
        with pytest.raises(DataError, match=r"sequences of 2 columns; put one .* list, \[X\]"):
            net.predict(SEQUENCES[0])

    def test_kinds_of_feedback_are_names(self):
        with pytest.raises(UnknownNameError, match=r"feedback '1'\. Nearest"):
            small(feedback=[1, 2]).fit(SEQUENCES, LABELS)

    @pytest.mark.parametrize("feedback", ["hidden", "output-hidden", "output"])
    def test_a_run_goes_on_from_the_state_it_came_to(self, feedback):
        wave = np.sin(np.arange(12) / 3)[:, None]
        net = RecurrentRegressor(4, feedback=feedback, max_iter=5, random_state=0)
        network = net.fit(*next_steps(wave)).network_

        def run(rows, *state):
            return network.run(
                net.parameters_, rows, Steps.of(np.array([0]), np.array([len(rows)])), *state
            )

        whole, first = run(wave), run(wave[:7])
        rest = run(wave[7:], (first.hidden[-1:], first.outputs[-1:]))
        assert rest.outputs == pytest.approx(whole.outputs[7:], abs=1e-12)
