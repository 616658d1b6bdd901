"""Mixtures with priors: printed formulas, bounds below the exact evidence, what is refused."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln, gammaln, multigammaln
from sklearn.mixture import BayesianGaussianMixture as TheirMixture

from verulam.base import DataError
from verulam.bayes import BayesianGaussianMixture, NormalWishart
from verulam.bayes._mixtures.component_priors import ComponentBeliefs


@pytest.fixture(scope="module", name="X")
def rows():
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(0, 1, (60, 2)), rng.normal([5, 3], [0.7, 1.5], (40, 2))]


def log_evidence(X, mean, kappa, nu, scatter):
    """Return the exact log-evidence of rows of one Gaussian with a normal-Wishart prior."""
    n, d = X.shape
    if n == 0:
        return 0.0
    centre = X.mean(axis=0)
    C = (X - centre).T @ (X - centre)
    S = scatter + C + kappa * n / (kappa + n) * np.outer(centre - mean, centre - mean)
    return (
        -0.5 * n * d * np.log(np.pi) + 0.5 * d * np.log(kappa / (kappa + n))
        + multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d)
        + 0.5 * nu * np.linalg.slogdet(scatter)[1] - 0.5 * (nu + n) * np.linalg.slogdet(S)[1]
    )  # fmt: skip


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("estimate", ["map", "full"])
def test_the_objective_never_falls(X, estimate, covariance_type):
    learner = BayesianGaussianMixture(
        3, estimate=estimate, covariance_type=covariance_type, tol=1e-9, max_iter=2000,
        random_state=0,
    ).fit(X)  # fmt: skip
    assert np.diff(learner.objective_curve_).min() > -1e-10
    assert len(learner.objective_curve_) > 3


def test_the_m_step_has_the_printed_formulas(X):
    """At the fixed point of EM, 16.40 and 16.41 hold with sums over rows and means of rows."""
    kappa, nu, alpha = 0.5, 7.0, 3.0
    scatter, mean = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([1.0, -1.0])
    learner = BayesianGaussianMixture(
        2, weight_concentration_prior=alpha, mean_precision_prior=kappa, mean_prior=mean,
        degrees_of_freedom_prior=nu, covariance_prior=scatter, tol=0.0, max_iter=3000,
        random_state=0,
    ).fit(X)  # fmt: skip
    h = learner.predict_proba(X)
    N = h.sum(axis=0)
    np.testing.assert_allclose(
        learner.weights_, (alpha + N - 1) / (2 * alpha + len(X) - 2), rtol=1e-6
    )
    for i in range(2):
        m = h[:, i] @ X / N[i]
        C = ((X - m) * h[:, i, None]).T @ (X - m)
        S = kappa * N[i] / (kappa + N[i]) * np.outer(m - mean, m - mean)
        np.testing.assert_allclose(
            learner.means_[i], (kappa * mean + N[i] * m) / (kappa + N[i]), rtol=1e-5
        )
        np.testing.assert_allclose(
            learner.covariances_[i], (scatter + C + S) / (nu + N[i] + 2 + 2), rtol=1e-5
        )


def test_the_divisor_is_that_of_the_mode_in_covariances_not_precisions():
    """With one component: numerical maximum of the density of mean and covariance."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(15, 2))
    kappa, nu, scatter, mean = 0.7, 5.0, np.diag([1.0, 2.0]), np.zeros(2)
    learner = BayesianGaussianMixture(
        1, mean_precision_prior=kappa, mean_prior=mean, degrees_of_freedom_prior=nu,
        covariance_prior=scatter, random_state=0,
    ).fit(X)  # fmt: skip
    posterior = ComponentBeliefs(
        mean[None], np.array([kappa]), np.array([nu]), scatter[None]
    ).updated(np.array([15.0]), X.mean(axis=0)[None], ((X - X.mean(0)).T @ (X - X.mean(0)))[None])

    def loss(theta):
        L = np.array([[np.exp(theta[2]), 0.0], [theta[3], np.exp(theta[4])]])
        covariance = L @ L.T
        # The posterior is of the prior's family, and its density has the prior's formula.
        return -posterior.log_density(theta[None, :2], covariance[None])

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    L = np.array([[np.exp(best.x[2]), 0.0], [best.x[3], np.exp(best.x[4])]])
    np.testing.assert_allclose(learner.covariances_[0], L @ L.T, rtol=1e-4)
    np.testing.assert_allclose(learner.means_[0], best.x[:2], atol=1e-4)
    of_precisions = posterior.scatter[0] / (nu + 15 - 2)
    assert np.abs(of_precisions / learner.covariances_[0]).max() > 1.3


def test_a_flat_prior_on_weights_is_one_and_less_is_refused():
    with pytest.raises(DataError, match="weight_concentration_prior must be at least 1"):
        BayesianGaussianMixture(2, weight_concentration_prior=0.5).fit(np.eye(4))


def test_no_weight_on_the_prior_mean_leaves_means_alone(X):
    learner = BayesianGaussianMixture(
        2, mean_precision_prior=0.0, mean_prior=[1e3, 1e3], random_state=0
    ).fit(X)
    h = learner.predict_proba(X)
    np.testing.assert_allclose(
        learner.means_, (h.T @ X) / h.sum(axis=0)[:, None], rtol=1e-3, atol=1e-3
    )


def test_the_prior_regularises_where_rows_are_fewer_than_columns():
    X = np.random.default_rng(0).normal(size=(5, 8))
    learner = BayesianGaussianMixture(2, covariance_prior=1.0, random_state=0).fit(X)
    assert np.linalg.eigvalsh(learner.covariances_).min() > 0.01


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_one_component_reaches_the_exact_evidence(covariance_type):
    X = np.random.default_rng(0).normal(size=(12, 2)) * [1.0, 3.0] + 2
    kappa, nu, mean = 0.5, 5.0, np.array([1.0, 0.0])
    learner = BayesianGaussianMixture(
        1, estimate="full", covariance_type=covariance_type, mean_precision_prior=kappa,
        mean_prior=mean, degrees_of_freedom_prior=nu, covariance_prior=2.0, random_state=0,
    ).fit(X)  # fmt: skip
    if covariance_type == "full":
        exact = log_evidence(X, mean, kappa, nu, 2.0 * np.eye(2))
    else:
        exact = sum(
            log_evidence(X[:, [j]], mean[[j]], kappa, nu, 2.0 * np.eye(1)) for j in range(2)
        )
    assert learner.lower_bound_ == pytest.approx(exact, abs=1e-8)


def test_the_bound_stays_below_the_exact_evidence():
    """All 2^8 ways to label eight rows, weights and components averaged out of each."""
    rng = np.random.default_rng(2)
    X = np.r_[rng.normal(0, 1, (4, 1)), rng.normal(5, 1, (4, 1))]
    kappa, nu, alpha, mean = 0.5, 3.0, 1.5, np.array([2.0])
    terms = []
    for labels in product((0, 1), repeat=8):
        labels = np.array(labels)
        counts = np.bincount(labels, minlength=2)
        weights = gammaln(2 * alpha) - gammaln(2 * alpha + 8)
        weights += (gammaln(counts + alpha) - gammaln(alpha)).sum()
        rows = sum(log_evidence(X[labels == k], mean, kappa, nu, np.eye(1)) for k in (0, 1))
        terms.append(weights + rows)
    exact = np.logaddexp.reduce(terms)
    bounds = [
        BayesianGaussianMixture(
            2, estimate="full", weight_concentration_prior=alpha, mean_precision_prior=kappa,
            mean_prior=mean, degrees_of_freedom_prior=nu, covariance_prior=1.0, tol=1e-10,
            max_iter=5000, random_state=seed,
        ).fit(X).lower_bound_ for seed in range(3)
    ]  # fmt: skip
    assert max(bounds) < exact
    # What is lost is that of two ways to name the components, which one mode cannot have.
    assert exact - max(bounds) < np.log(2) + 0.5


def test_agrees_with_another_implementation_on_the_posterior(X):
    options = {
        "n_components": 2, "weight_concentration_prior": 0.5, "mean_precision_prior": 0.5,
        "mean_prior": [1.0, 1.0], "degrees_of_freedom_prior": 4.0, "random_state": 0,
        "max_iter": 2000,
    }  # fmt: skip
    ours = BayesianGaussianMixture(
        estimate="full", covariance_prior=np.eye(2), tol=1e-12, **options
    ).fit(X)
    theirs = TheirMixture(
        covariance_prior=np.eye(2), tol=1e-10, reg_covar=0.0,
        weight_concentration_prior_type="dirichlet_distribution", **options,
    ).fit(X)  # fmt: skip
    order = np.argsort(-theirs.weights_)
    np.testing.assert_allclose(ours.weights_, theirs.weights_[order], rtol=1e-4)
    np.testing.assert_allclose(ours.means_, theirs.means_[order], rtol=1e-4)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_[order], rtol=1e-3)


def test_sticks_stay_below_their_exact_evidence():
    """With two components there is one stick: B(1 + n, gamma + m) / B(1, gamma) for each label."""
    X = np.array([[0.0], [0.5], [-0.4], [5.0], [5.5], [4.4]])
    kappa, nu, stick, mean = 0.5, 3.0, 0.7, np.array([2.0])
    terms = []
    for labels in product((0, 1), repeat=6):
        labels = np.array(labels)
        weight = betaln(1 + (labels == 0).sum(), stick + (labels == 1).sum()) - betaln(1, stick)
        rows = sum(log_evidence(X[labels == k], mean, kappa, nu, np.eye(1)) for k in (0, 1))
        terms.append(weight + rows)
    learner = BayesianGaussianMixture(
        2, estimate="full", weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=stick, mean_precision_prior=kappa, mean_prior=mean,
        degrees_of_freedom_prior=nu, covariance_prior=1.0, tol=1e-10, max_iter=5000, random_state=0,
    ).fit(X)  # fmt: skip
    assert 0 < np.logaddexp.reduce(terms) - learner.lower_bound_ < 1.2
    assert np.diff(learner.objective_curve_).min() > -1e-10
    first, second = learner.weight_concentration_[:, 0]
    assert (first + second).round(6) == 1 + stick + 6
    assert learner.weights_[0] == pytest.approx(first / (first + second))


def test_surplus_components_stay_unused(X):
    learner = BayesianGaussianMixture(
        6, estimate="full", weight_concentration_prior=1e-3, covariance_prior=4.0, random_state=0,
        tol=1e-8, max_iter=5000,
    ).fit(X)  # fmt: skip
    assert (learner.weights_ > 0.01).sum() == 2


def test_starts_of_every_kind_find_groups_that_lie_apart():
    rng = np.random.default_rng(0)
    rows = np.r_[rng.normal(0.0, 1.0, (30, 2)), rng.normal(20.0, 1.0, (30, 2))]
    for kind in ("kmeans", "k-means++", "random", "random_from_data"):
        learner = BayesianGaussianMixture(2, init_params=kind, random_state=1).fit(rows)
        labels = learner.predict(rows)
        assert len({*labels[:30].tolist()}) == len({*labels[30:].tolist()}) == 1, kind
        assert labels[0] != labels[-1], kind


def test_new_rows_are_judged_by_the_posterior_predictive():
    """With one component: the Student t of the normal-Wishart family."""
    X = np.random.default_rng(0).normal(size=(10, 2))
    learner = BayesianGaussianMixture(
        1, estimate="full", mean_precision_prior=0.5, mean_prior=[0.0, 0.0],
        degrees_of_freedom_prior=4.0, covariance_prior=1.0, random_state=0,
    ).fit(X)  # fmt: skip
    family = NormalWishart([0.0, 0.0], kappa=0.5, df=4.0, scatter=np.eye(2)).posterior(X)
    rows = np.array([[0.0, 0.0], [3.0, -1.0]])
    np.testing.assert_allclose(
        learner.score_samples(rows), family.predictive.log_density(rows), rtol=1e-8
    )


def test_missing_values_take_marginal_densities(X):
    gapped = X.copy()
    gapped[::5, 0] = np.nan
    for estimate in ("map", "full"):
        learner = BayesianGaussianMixture(2, estimate=estimate, random_state=0).fit(gapped)
        assert np.diff(learner.objective_curve_).min() > -1e-10
        whole = np.linspace(-60, 60, 6001)
        rows = np.column_stack([whole, np.full_like(whole, 1.0)])
        marginal = np.log(np.trapezoid(np.exp(learner.score_samples(rows)), whole))
        only = learner.score_samples([[np.nan, 1.0]])[0]
        assert only == pytest.approx(marginal, abs=2e-3)


@pytest.mark.parametrize("estimate", ["map", "full"])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_draws_have_the_density_that_is_scored(X, estimate, covariance_type):
    learner = BayesianGaussianMixture(
        2, estimate=estimate, covariance_type=covariance_type, random_state=0
    ).fit(X)
    rows, labels = learner.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.bincount(labels) / 20_000, learner.weights_, atol=0.02)
    inside = (np.abs(rows - [0.0, 0.0]) < 1.0).all(axis=1).mean()
    grid = np.linspace(-0.975, 0.975, 40)
    cells = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
    assert inside == pytest.approx(np.exp(learner.score_samples(cells)).mean() * 4, abs=0.015)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degrees_of_freedom_prior": 0.5}, "degrees_of_freedom_prior must be above 1"),
        ({"estimate": "full", "mean_precision_prior": 0.0}, "mean_precision_prior must be above 0"),
        ({"mean_prior": [1.0]}, "mean_prior has shape"),
        ({"covariance_prior": np.ones((2, 2))}, "covariance_prior must be positive definite"),
        ({"covariance_prior": np.eye(3)}, "covariance_prior has shape"),
        (
            {"covariance_type": "diag", "covariance_prior": [1.0, -1.0]},
            "covariance_prior must be positive in all columns",
        ),
        (
            {"weight_concentration_prior_type": "dirichlet_process"},
            "needs estimate='full'",
        ),
        ({"n_components": 101}, "n_components=101 is more than the data has"),
    ],
)
def test_improper_priors_are_named(X, options, message):
    with pytest.raises(DataError, match=message):
        BayesianGaussianMixture(**options).fit(X)


def test_an_average_refuses_rows_of_other_columns(X):
    for estimate in ("map", "full"):
        model = BayesianGaussianMixture(2, estimate=estimate, random_state=0).fit(X)
        with pytest.raises(ValueError, match=r"1 features, but .* is expecting 2"):
            model.predict(X[:, :1])
