"""Priors of weights: groups that they form, decay as a limit, evidence as a marginal likelihood."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.linear_model import BayesianRidge, Ridge

from verulam.base import DataError
from verulam.neural import (
    Evidence,
    MLPRegressor,
    Network,
    SoftSharing,
    TrainingError,
    evidence,
    layout_of,
)
from verulam.numerics import History, Stopping, train_by_search

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(9, 3))
NUMBERS = RANDOM.normal(size=(9, 2))


def problem(prior, **options):
    return TrainingError(
        Network(layout_of((3, 4, 2), **options), "tanh"), ROWS, NUMBERS, penalties=(prior,)
    )


def start_of(error):
    layout = error.network.layout
    return error.extended(layout.start(np.random.default_rng(5), "glorot", "tanh", np.float64))


class TestSoftSharing:
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_slopes_of_weights_and_groups(self, count):
        error = problem(SoftSharing(count, 0.7))
        theta = start_of(error)
        theta[-3 * count :] += RANDOM.normal(size=3 * count)
        slopes = np.empty_like(theta)
        for place in range(len(theta)):
            ends = []
            for sign in (1, -1):
                moved = theta.copy()
                moved[place] += sign * 1e-6
                ends.append(error.value_and_gradient(moved)[0])
            slopes[place] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(error.value_and_gradient(theta)[1], slopes, atol=1e-7)

    def test_the_value_is_the_mixture_of_the_text(self):
        """Alpaydin 11.39, with groups at other places."""
        prior, extra = SoftSharing(2, 1.5), np.array([-0.5, 0.8, -1.0, 0.2, 0.3, -0.4])
        error = problem(prior)
        theta = start_of(error)[: error.network.layout.n_parameters]
        shares, means, deviations = prior.groups(extra)
        assert shares.sum() == pytest.approx(1.0)
        weights = theta[error.network.layout.is_weight]
        densities = norm.pdf(weights[:, None], means, deviations) @ shares
        value = prior.value_and_gradient(error.network, theta, extra)[0]
        assert value == pytest.approx(-1.5 * np.log(densities).sum(), rel=1e-12)

    def test_pulls_are_those_of_the_text(self):
        prior, extra = SoftSharing(2, 1.5), np.array([-0.5, 0.8, -1.0, 0.2, 0.3, -0.4])
        error = problem(prior)
        theta = start_of(error)[: error.network.layout.n_parameters]
        shares, means, deviations = prior.groups(extra)
        weights = theta[error.network.layout.is_weight][:, None]
        parts = shares * norm.pdf(weights, means, deviations)
        belongs = parts / parts.sum(axis=1, keepdims=True)
        pulls = 1.5 * belongs * (weights - means) / deviations**2
        _, slopes, by_group = prior.value_and_gradient(error.network, theta, extra)
        np.testing.assert_allclose(slopes[error.network.layout.is_weight], pulls.sum(axis=1))
        np.testing.assert_allclose(by_group[:2], -pulls.sum(axis=0))
        assert (slopes[~error.network.layout.is_weight] == 0).all()

    def test_one_fixed_group_at_zero_is_decay(self):
        error = problem(SoftSharing(1, 0.6, floor=1e-9, learn=False))
        theta = start_of(error)
        assert SoftSharing(1, floor=1e-9).groups(theta[-3:])[2] == pytest.approx(1.0)
        decay = TrainingError(error.network, ROWS, NUMBERS, alpha=0.6)
        n_weights = error.network.layout.n_parameters
        expected = decay.value_and_gradient(theta[:n_weights])[1]
        gradient = error.value_and_gradient(theta)[1]
        np.testing.assert_allclose(gradient[:n_weights], expected, atol=1e-8)
        assert (gradient[n_weights:] == 0).all()

    def test_weights_form_the_groups_of_the_truth(self):
        rows = np.random.default_rng(0).normal(size=(300, 6))
        truth = np.array([1.0, 1.0, 1.0, -0.5, -0.5, -0.5])
        numbers = rows @ truth + np.random.default_rng(1).normal(scale=0.3, size=300)
        settings = {"activation": "identity", "solver": "lbfgs", "alpha": 0, "tol": 1e-4}
        start = np.array([1.0, 1, 1, -0.5, -0.5, -0.5, 0.0, 1.0, 0.0])
        free = MLPRegressor(1, init=start, max_iter=2000, **settings).fit(rows, numbers)
        shared = MLPRegressor(
            1, init=start, max_iter=2000, penalties=[SoftSharing(2, alpha=2.0)], **settings
        ).fit(rows, numbers)

        def spread(net):
            slopes = (net.coefs_[0] @ net.coefs_[1])[:, 0]
            return np.ptp(slopes[:3]) + np.ptp(slopes[3:])

        assert spread(shared) < 0.5 * spread(free)
        assert len(shared.parameters_) == 9

    def test_masked_weights_have_no_prior(self):
        mask = np.ones((3, 4), dtype=bool)
        mask[0, 0] = False
        error = problem(SoftSharing(2), masks=[mask, None])
        theta = start_of(error)
        value = error.value_and_gradient(theta)[0]
        other = problem(SoftSharing(2)).value_and_gradient(theta)[0]
        assert value != pytest.approx(other)
        assert error.value_and_gradient(theta)[1][0] == 0.0

    def test_refusals(self):
        with pytest.raises(DataError, match="n_components must be a whole number"):
            SoftSharing(0)
        with pytest.raises(DataError, match="alpha must be"):
            SoftSharing(2, alpha=-1.0)
        with pytest.raises(DataError, match="floor positive"):
            SoftSharing(2, floor=0.0)


class TestMaximumPosterior:
    @pytest.mark.parametrize("alpha", [0.1, 5.0])
    def test_one_linear_layer_is_ridge_regression(self, alpha):
        """Alpaydin 11.36-11.37: a prior of variance 1/(2 lambda), with lambda = alpha / 2."""
        network = Network(layout_of((3, 1)))
        error = TrainingError(network, ROWS, NUMBERS[:, :1], alpha=alpha)
        theta = np.zeros(4)
        for _ in train_by_search(error, theta, "lbfgs", Stopping(500, 1e-10), None, History()):
            pass
        peer = Ridge(alpha=alpha).fit(ROWS, NUMBERS[:, 0])
        np.testing.assert_allclose(theta, [*peer.coef_, peer.intercept_], atol=1e-6)

    def test_the_posterior_is_likelihood_times_prior(self):
        network = Network(layout_of((3, 2, 1)), "tanh")
        rate = 0.8
        error = TrainingError(network, ROWS, NUMBERS[:, :1], alpha=2 * rate, decay_biases=True)

        def log_posterior(theta):
            likelihood = norm.logpdf(NUMBERS[:, 0], network.outputs(theta, ROWS)[:, 0]).sum()
            return likelihood + norm.logpdf(theta, scale=np.sqrt(1 / (2 * rate))).sum()

        one, other = RANDOM.normal(size=(2, network.layout.n_parameters))
        gap = 9 * (error.value_and_gradient(one)[0] - error.value_and_gradient(other)[0])
        assert gap == pytest.approx(log_posterior(other) - log_posterior(one), rel=1e-10)


class TestEvidence:
    def fitted(self, alpha, decay_biases=True):
        random = np.random.default_rng(3)
        rows = random.normal(size=(40, 3))
        numbers = rows @ [[1.0], [-0.5], [0.0]] + random.normal(scale=0.5, size=(40, 1))
        network = Network(layout_of((3, 1)))
        error = TrainingError(network, rows, numbers, None, alpha, decay_biases)
        wide = np.hstack([rows, np.ones((40, 1))])
        decay = alpha * np.diag([1.0, 1, 1, decay_biases])
        theta = np.linalg.solve(wide.T @ wide + decay, wide.T @ numbers)[:, 0]
        return error, theta, wide, numbers[:, 0]

    def test_of_a_linear_network_it_is_the_marginal_likelihood(self):
        alpha, noise = 1.7, 0.3
        error, theta, wide, numbers = self.fitted(alpha)
        result = evidence(error, theta, noise)
        assert isinstance(result, Evidence)
        covariance = noise * np.eye(40) + noise / alpha * wide @ wide.T
        exact = multivariate_normal(np.zeros(40), covariance).logpdf(numbers)
        assert result.log_evidence == pytest.approx(exact, rel=1e-10)
        scatter = np.linalg.eigvalsh(wide.T @ wide)
        assert result.effective_parameters == pytest.approx((scatter / (scatter + alpha)).sum())
        assert result.noise == noise

    def test_its_fixed_point_is_empirical_bayes(self):
        alpha = 1.0
        for _ in range(100):
            error, theta, wide, numbers = self.fitted(alpha)
            result = evidence(error, theta)
            alpha = result.alpha
        peer = BayesianRidge(
            fit_intercept=False, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, tol=1e-12,
            max_iter=5000,
        ).fit(wide, numbers)  # fmt: skip
        assert result.noise == pytest.approx(1 / peer.alpha_, rel=1e-4)
        assert alpha == pytest.approx(peer.lambda_ / peer.alpha_, rel=1e-4)

    def test_free_biases_always_count(self):
        error, theta, *_ = self.fitted(1e9, decay_biases=False)
        assert evidence(error, theta).effective_parameters == pytest.approx(1.0, abs=1e-4)

    def test_it_prefers_enough_decay(self):
        """A small network on noisy rows: neither no decay nor all of it."""
        random = np.random.default_rng(0)
        rows = np.linspace(-2, 2, 40)[:, None]
        numbers = np.sin(2 * rows[:, 0]) + random.normal(scale=0.3, size=40)
        values = {}
        for alpha in (1e-3, 0.1, 100.0):
            net = MLPRegressor(
                6, activation="tanh", solver="lbfgs", alpha=alpha, tol=1e-8, max_iter=5000,
                n_init=3, decay_biases=True, random_state=0,
            ).fit(rows, numbers)  # fmt: skip
            error = TrainingError(net.network_, rows, numbers[:, None], None, alpha, True)
            values[alpha] = evidence(error, net.parameters_).log_evidence
        assert max(values, key=values.get) == 0.1

    def test_classes(self):
        random = np.random.default_rng(0)
        rows = random.normal(size=(60, 2))
        codes = (rows[:, 0] > 0).astype(int)
        network = Network(layout_of((2, 1)), output="binary")
        error = TrainingError(network, rows, codes, None, 1.0, True)
        theta = np.zeros(3)
        for _ in train_by_search(error, theta, "lbfgs", Stopping(500, 1e-10), None, History()):
            pass
        result = evidence(error, theta)
        assert result.noise == 1.0
        # The integral over all weights, by a grid.
        axis = np.linspace(-9, 9, 61) + theta[0]
        grid = np.array(np.meshgrid(axis, np.linspace(-4, 4, 41), np.linspace(-4, 4, 41)))
        points = grid.reshape(3, -1).T
        scores = points[:, :2] @ rows.T + points[:, 2:]
        logs = (codes * scores - np.logaddexp(0, scores)).sum(axis=1)
        logs += norm.logpdf(points).sum(axis=1)
        cell = np.log(18 / 60 * (8 / 40) ** 2)
        exact = np.logaddexp.reduce(logs) + cell
        assert result.log_evidence == pytest.approx(exact, abs=0.3)

    def test_refusals(self):
        error, theta, *_ = self.fitted(1.0)
        with pytest.raises(DataError, match="4 weights of a network without ties"):
            evidence(error, theta[:2])
        error.alpha = 0.0
        with pytest.raises(DataError, match="alpha must be positive"):
            evidence(error, theta)
        net = TrainingError(Network(layout_of((3, 4, 2)), "tanh"), ROWS, 9 * NUMBERS, alpha=1e-6)
        with pytest.raises(DataError, match="no minimum"):
            evidence(net, RANDOM.normal(size=net.network.layout.n_parameters))
