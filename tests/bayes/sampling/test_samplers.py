"""Metropolis and Gibbs: known posteriors, Geweke's test, and wrong conditionals that it finds."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.bayes.geweke import geweke_scores

from verulam.base import DataError
from verulam.bayes import GaussianMean, gibbs, metropolis

DATA = np.array([4.1, 5.5, 7.2, 6.6, 6.0, 5.1])


def gaussian_conditionals(data, prior_mean=0.0, prior_precision=0.25, shape=2.0, rate=2.0):
    """Mean and precision with independent priors: only their conditionals are conjugate."""

    def mean(state, rng):
        precision = prior_precision + len(data) * state["precision"]
        centre = (prior_precision * prior_mean + state["precision"] * np.sum(data)) / precision
        return rng.normal(centre, precision**-0.5)

    def precision(state, rng):
        squares = np.sum((data - state["mean"]) ** 2)
        return rng.gamma(shape + 0.5 * len(data), 1.0 / (rate + 0.5 * squares))

    return {"mean": mean, "precision": precision}


def test_metropolis_recovers_a_conjugate_posterior():
    prior = GaussianMean(4.0, 0.64, 2.25)
    posterior = prior.posterior(DATA)

    def log_density(x):
        return float(prior.log_density(x[0])) + prior.log_likelihood(x[0], DATA)

    chains = metropolis(log_density, [0.0], n_draws=2500, random_state=0)
    assert chains.converged
    error = 4 * posterior.prior_variance**0.5 / np.sqrt(chains.effective_size("x")[0])
    assert abs(chains.mean("x")[0] - posterior.mean) < error
    assert chains.std("x")[0] == pytest.approx(posterior.prior_variance**0.5, rel=0.1)
    assert ((chains.acceptance > 0.2) & (chains.acceptance < 0.7)).all()


def test_metropolis_learns_the_shape_of_its_proposals():
    """Two columns with correlation .99 and scales 1 and 100."""
    root = np.array([[1.0, 0.0], [99.0, 14.1]])
    inverse = np.linalg.inv(root @ root.T)
    chains = metropolis(
        lambda x: -0.5 * x @ inverse @ x, [0.0, 0.0], n_draws=4000, burn_in=3000, random_state=1
    )
    covariance = np.cov(chains["x"].T)
    np.testing.assert_allclose(covariance, root @ root.T, rtol=0.2)


def test_gibbs_agrees_with_numerical_integration():
    chains = gibbs(gaussian_conditionals(DATA), {"mean": 0.0, "precision": 1.0}, random_state=0)
    means, precisions = np.meshgrid(np.linspace(-2, 9, 400), np.linspace(1e-3, 4, 400))
    squares = ((DATA[:, None, None] - means) ** 2).sum(axis=0)
    heights = -0.125 * means**2 + (2.0 + 3.0 - 1.0) * np.log(precisions)
    heights += -precisions * (2.0 + 0.5 * squares)
    weights = np.exp(heights - heights.max())
    weights /= weights.sum()
    assert chains.mean("mean") == pytest.approx((weights * means).sum(), abs=0.05)
    assert chains.mean("precision") == pytest.approx((weights * precisions).sum(), rel=0.05)
    assert chains.converged


def geweke_of_gibbs(rate_of_data):
    """Run Geweke's test of the two conditionals; the true rate of the data is one half."""

    def transition(state, data, rng):
        conditionals = gaussian_conditionals(data)
        state = dict(state)
        state["mean"] = conditionals["mean"](state, rng)
        squares = np.sum((data - state["mean"]) ** 2)
        state["precision"] = rng.gamma(2.0 + 0.5 * len(data), 1.0 / (2.0 + rate_of_data * squares))
        return state

    return geweke_scores(
        lambda rng: {"mean": rng.normal(0.0, 2.0), "precision": rng.gamma(2.0, 0.5)},
        lambda state, rng: rng.normal(state["mean"], state["precision"] ** -0.5, size=4),
        transition,
        lambda state: [
            state["mean"],
            state["mean"] ** 2,
            state["precision"],
            np.log(state["precision"]),
        ],
        n=2500,
        thin=4,
    )


def test_geweke_finds_a_wrong_conditional():
    """The right sampler passes; with the squares counted once, not half, it fails by far."""
    assert np.abs(geweke_of_gibbs(0.5)).max() < 4.0
    assert np.abs(geweke_of_gibbs(1.0)).max() > 8.0


@pytest.mark.filterwarnings("ignore:the chains have not converged")
@pytest.mark.parametrize(("factor", "right"), [(1.0, True), (0.5, False)])
def test_geweke_of_metropolis(factor, right):
    """A density that is flattened by mistake leaves another distribution as it is."""

    def transition(mean, data, rng):
        def height(m):
            return factor * (-0.5 * m[0] ** 2 / 4.0 - 0.5 * np.sum((data - m[0]) ** 2))

        options = {"n_draws": 8, "burn_in": 0, "n_chains": 1, "step": 1.5}
        return metropolis(height, [mean], random_state=rng, **options).draws["x"][0, -1, 0]

    scores = geweke_scores(
        lambda rng: rng.normal(0.0, 2.0),
        lambda mean, rng: rng.normal(mean, 1.0, size=1),
        transition,
        lambda mean: [mean, mean**2, abs(mean)],
        n=1000,
        thin=2,
    )
    assert (np.abs(scores).max() < 4.0) == right


def test_a_seed_gives_the_same_chains():
    first, second = (
        metropolis(lambda x: -0.5 * x @ x, [0.0], n_draws=1000, random_state=5) for _ in range(2)
    )
    np.testing.assert_array_equal(first.draws["x"], second.draws["x"])


def test_chains_that_have_not_converged_are_named():
    with pytest.warns(ConvergenceWarning, match="the chains have not converged: R-hat of 'x'"):
        metropolis(
            lambda x: -0.5 * (x[0] / 50.0) ** 2,
            [[0.0], [90.0], [-80.0], [20.0]],
            n_draws=50,
            burn_in=0,
            step=0.1,
            random_state=0,
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 0}, "n_draws must be a whole number of at least 1"),
        ({"burn_in": -1}, "burn_in must be a whole number of at least 0"),
        ({"n_chains": 1.5}, "n_chains must be"),
        ({"step": 0.0}, "step must be a finite number above 0"),
    ],
)
def test_wrong_counts_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        metropolis(lambda x: -x @ x, [0.0], **options)


def test_wrong_densities_and_starts_are_refused():
    with pytest.raises(DataError, match="start must be a finite point"):
        metropolis(lambda x: 0.0, [[0.0], [1.0]])
    with pytest.raises(DataError, match="start must have a positive density"):
        metropolis(lambda x: -np.inf, [0.0])
    with pytest.raises(DataError, match="log_density must return a number below infinity"):
        metropolis(lambda x: np.nan, [0.0])
    with pytest.raises(DataError, match="start must have a value for 'y'"):
        gibbs({"y": lambda state, rng: 0.0}, {"x": 0.0})
    with pytest.raises(DataError, match="conditionals must be a mapping"):
        gibbs({}, {})
