"""Time-delay networks: windows as rows, weights shared in time, answers by step or sequence."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from verulam.base import DataError
from verulam.neural import MLPClassifier, MLPRegressor, TimeDelayClassifier, TimeDelayRegressor

RANDOM = np.random.default_rng(0)
SIGNALS = [RANDOM.normal(size=(int(n), 2)) for n in RANDOM.integers(6, 12, 12)]


def lagged(series, size):
    """Return the windows that end at each step, the first step repeated before it."""
    padded = np.vstack([np.repeat(series[:1], size - 1, axis=0), series])
    return np.array([padded[t : t + size].ravel() for t in range(len(series))])


def test_it_is_a_perceptron_on_the_matrix_of_lags():
    targets = [signal[:, 0] - signal[:, 1] for signal in SIGNALS]
    net = MLPRegressor(4, activation="tanh", solver="lbfgs", tol=1e-2, random_state=0)
    delayed = TimeDelayRegressor(net, window_size=3).fit(SIGNALS, targets)
    rows = np.concatenate([lagged(signal, 3) for signal in SIGNALS])
    plain = net.fit(rows, np.concatenate(targets))
    np.testing.assert_array_equal(delayed.estimator_.parameters_, plain.parameters_)
    np.testing.assert_array_equal(delayed.predict(SIGNALS)[2], plain.predict(lagged(SIGNALS[2], 3)))


def test_an_echo_within_the_window_is_a_line():
    echoes = [np.r_[signal[0, 0], signal[0, 0], signal[:-2, 0]] for signal in SIGNALS]
    near = TimeDelayRegressor(LinearRegression(), window_size=3).fit(SIGNALS, echoes)
    assert near.score(SIGNALS, echoes) == pytest.approx(1.0)
    # The window is fixed in advance: what lies before it cannot be seen.
    far = TimeDelayRegressor(LinearRegression(), window_size=2).fit(SIGNALS, echoes)
    assert far.score(SIGNALS, echoes) < 0.6


def pulses(gap, place, length=14):
    signal = np.zeros(length)
    signal[place] = signal[place + gap] = 1.0
    return signal


class TestShift:
    def trained(self, **options):
        signals = [pulses(gap, place) for gap in (2, 3) for place in (3, 5, 6)]
        labels = ["near"] * 3 + ["far"] * 3
        net = MLPClassifier(
            6, activation="tanh", solver="lbfgs", tol=1e-3, max_iter=500, n_init=4, random_state=0
        )
        return TimeDelayClassifier(net, window_size=4, **options).fit(signals, labels)

    @pytest.mark.parametrize("options", [{}, {"patch_size": 2, "n_maps": 3}], ids=str)
    def test_a_shifted_signal_is_the_same(self, options):
        net = self.trained(**options)
        places = (3, 4, 7)
        for gap, label in ((2, "near"), (3, "far")):
            moved = [pulses(gap, place) for place in places]
            shares = net.predict_proba(moved)
            assert net.predict(moved).tolist() == [label] * 3
            np.testing.assert_allclose(shares, np.repeat(shares[:1], 3, axis=0), atol=1e-12)

    def test_weights_are_shared_in_time(self):
        net = self.trained(patch_size=2, n_maps=3).estimator_
        first = net.coefs_[0]
        assert first.shape == (4, 9)
        for chart in range(3):
            columns = first[:, 3 * chart : 3 * chart + 3]
            parts = [columns[place : place + 2, place] for place in range(3)]
            np.testing.assert_array_equal(parts[0], parts[1])
            np.testing.assert_array_equal(parts[0], parts[2])
            assert (columns != 0).sum() == 6

    def test_columns_stay_together(self):
        labels = np.arange(12) % 2
        net = TimeDelayClassifier(
            MLPClassifier(3, solver="sgd", max_iter=2), window_size=4, patch_size=3, n_maps=1,
            random_state=0,
        )  # fmt: skip
        with pytest.warns(UserWarning, match="max_iter"):
            first = net.fit(SIGNALS, labels).estimator_.coefs_[0]
        # The first unit sees steps 0 to 2 of both columns, the second steps 1 to 3.
        np.testing.assert_array_equal(first[:6, 0], first[2:, 1])
        assert (first[6:, 0] == 0).all()
        assert (first[:2, 1] == 0).all()


def test_any_learner_takes_windows():
    labels = ["ab"[int(signal[-3:, 0].mean() > 0)] for signal in SIGNALS]
    net = TimeDelayClassifier(KNeighborsClassifier(1), window_size=6).fit(SIGNALS, labels)
    assert net.score(SIGNALS, labels) == 1.0
    table = np.vstack([signal[:6, 0] for signal in SIGNALS])
    assert net.set_params(window_size=6).fit(table, labels).score(table, labels) == 1.0


def test_labels_of_steps_and_masks():
    labels = [np.where(signal[:, 0] > 0, "up", "down") for signal in SIGNALS]
    wrong = [part.copy() for part in labels]
    for part in wrong:
        part[::3] = "up"
    mask = [np.arange(len(part)) % 3 != 0 for part in labels]
    net = TimeDelayClassifier(LogisticRegression(), window_size=2)
    assert net.fit(SIGNALS, wrong, mask=mask).score(SIGNALS, labels) > 0.95
    assert net.score(SIGNALS, wrong, mask=mask) > net.score(SIGNALS, wrong)
    assert net.predict(SIGNALS)[0].shape == (len(SIGNALS[0]),)
    stacked, lengths = np.concatenate(SIGNALS), [len(part) for part in SIGNALS]
    np.testing.assert_array_equal(
        net.predict(stacked, lengths=lengths), np.concatenate(net.predict(SIGNALS))
    )


def test_the_number_of_a_sequence_is_the_mean_of_its_windows():
    totals = np.array([signal.mean() for signal in SIGNALS])
    net = TimeDelayRegressor(LinearRegression(), window_size=3).fit(SIGNALS, totals)
    windows = lagged(SIGNALS[4], 3)[2:]
    expected = net.estimator_.predict(windows).mean()
    assert net.predict(SIGNALS)[4] == pytest.approx(expected)
    short = [np.ones((2, 2))]
    np.testing.assert_allclose(
        net.predict(short), net.estimator_.predict(lagged(short[0], 3)[1:]), atol=1e-12
    )


def test_refusals():
    labels = np.arange(12) % 2
    with pytest.raises(DataError, match=r"belong to a perceptron.*not to LogisticRegression"):
        TimeDelayClassifier(LogisticRegression(), patch_size=2).fit(SIGNALS, labels)
    with pytest.raises(DataError, match="does not fit"):
        TimeDelayClassifier(window_size=3, patch_size=4).fit(SIGNALS, labels)
    with pytest.raises(ValueError, match="one class alone"):
        TimeDelayClassifier().fit(SIGNALS, np.zeros(12))
    with pytest.raises(ValueError, match="window_size"):
        TimeDelayRegressor(window_size=0).fit(SIGNALS, labels)
