"""Evidence, criteria, degrees of freedom, and averages of models."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from statsmodels.regression.linear_model import OLS

from verulam.base import DataError
from verulam.bayes import (
    BayesFactor,
    BayesianLinearRegression,
    BayesianModelAverage,
    BetaBernoulli,
    NormalGammaRegression,
    aic,
    bayes_factor,
    bic,
    compare_models,
    effective_degrees,
    generalised_degrees,
    laplace,
    metropolis,
    model_posterior,
    monte_carlo_evidence,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(40, 1))
Y = 1.0 + X[:, 0] - 2.0 * X[:, 0] ** 2 + RNG.normal(scale=0.3, size=40)
NEW = np.linspace(-1.2, 1.2, 7)[:, None]


def test_evidence_by_three_routes():
    """Exact, by Laplace's method and by draws from the prior, of one regression."""
    rows, targets = X[:8], Y[:8]
    exact = BayesianLinearRegression(
        prior_precision=1.0, noise_precision=4.0, fit_intercept=False
    ).fit(rows, targets)

    def log_likelihood(w):
        residual = targets - rows @ np.atleast_1d(w)
        return 0.5 * (8 * np.log(4.0 / (2 * np.pi)) - 4.0 * residual @ residual)

    by_draws = monte_carlo_evidence(
        log_likelihood, lambda rng: rng.normal(), n_draws=20_000, random_state=0
    )
    by_curvature = laplace(
        lambda w: log_likelihood(w) - 0.5 * w @ w - 0.5 * np.log(2 * np.pi), [0.0]
    ).log_normaliser
    assert by_draws == pytest.approx(exact.log_evidence_, abs=0.05)
    assert by_curvature == pytest.approx(exact.log_evidence_, abs=1e-4)


def test_likelihood_rises_with_the_degree_and_evidence_does_not():
    """Figure 16.8 and Bartkowiak's figure 7.4: evidence has its peak at the true degree."""
    models = {degree: BayesianLinearRegression(degree=degree) for degree in range(1, 8)}
    table = compare_models(models, X, Y)
    assert (np.diff(table["log_likelihood"]) >= -1e-9).all()
    assert table["log_evidence"].idxmax() == 2
    assert table["log_likelihood"].idxmax() == 7
    assert table["bic"].idxmax() == 2
    assert table["posterior"].sum() == pytest.approx(1.0)
    assert table["posterior"].idxmax() == 2
    with pytest.raises(DataError, match="one name or more"):
        compare_models({}, X, Y)


def test_criteria_are_minus_half_of_the_usual_ones():
    design = np.column_stack([np.ones(40), X, X**2])
    reference = OLS(Y, design).fit()
    # They count the weights; the variance of the noise is one more parameter on both sides.
    assert bic(reference.llf, 3, 40) == pytest.approx(-0.5 * reference.bic)
    assert aic(reference.llf, 3) == pytest.approx(-0.5 * reference.aic)
    table = compare_models({2: BayesianLinearRegression(degree=2)}, X, Y)
    assert table.loc[2, "log_likelihood"] == pytest.approx(reference.llf)
    with pytest.raises(DataError, match="n_samples must be at least 1"):
        bic(-1.0, 2, 0)
    with pytest.raises(DataError, match="n_parameters must be at least 0"):
        aic(-1.0, -1)


def test_bayes_factor_of_a_coin():
    """Nine ones in ten against a fair coin: B(10, 2) 2^10 = 1024 / 110."""
    biased = BetaBernoulli().log_evidence([1] * 9 + [0])
    factor = bayes_factor(biased, 10 * np.log(0.5))
    assert isinstance(factor, BayesFactor)
    assert factor.ratio == pytest.approx(1024 / 110)
    assert factor.words == "positive, for the first model"
    assert bayes_factor(0.0, 6.0).words == "very strong, for the second model"
    with pytest.raises(DataError, match="first must be a number; got nan"):
        bayes_factor(np.nan, 0.0)


def test_posterior_of_models():
    shares = model_posterior([-3.0, -4.0, -3.0])
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] / shares[1] == pytest.approx(np.e)
    assert model_posterior([-1e5, -1e5 - 1])[0] == pytest.approx(1 / (1 + np.exp(-1)))
    simple = model_posterior([0.0, 0.0], "simple", sizes=[1, 3])
    np.testing.assert_allclose(simple, [0.8, 0.2])
    np.testing.assert_allclose(model_posterior([0.0, 0.0], [3.0, 1.0]), [0.75, 0.25])
    for arguments, message in (
        (([],), "one model or more"),
        (([0.0, 1.0], "simple"), "the size of each of the 2 models"),
        (([0.0, 1.0], "narrow"), 'priors must be "uniform", "simple"'),
        (([0.0, 1.0], [1.0]), "for each of the 2 models"),
    ):
        with pytest.raises(DataError, match=message):
            model_posterior(*arguments)


def test_effective_degrees_of_ridge_kernel_and_network():
    rows = RNG.normal(size=(20, 4))
    targets = RNG.normal(size=20)
    singular = np.linalg.svd(rows, compute_uv=False)
    expected = (singular**2 / (singular**2 + 3.0)).sum()
    assert effective_degrees(rows.T @ rows, 3.0) == pytest.approx(expected)
    assert effective_degrees(rows @ rows.T, 3.0) == pytest.approx(expected)
    assert effective_degrees(rows.T @ rows, 0.0) == pytest.approx(4.0)
    ridge = Ridge(alpha=3.0, fit_intercept=False)
    assert generalised_degrees(ridge, rows, targets) == pytest.approx(expected)
    kernel = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.3)
    gram = np.exp(-0.3 * ((rows[:, None] - rows) ** 2).sum(axis=2))
    assert generalised_degrees(kernel, rows, targets) == pytest.approx(
        effective_degrees(gram, 0.5), rel=1e-6
    )
    # A network of linear units has the Hessian X'X, and a weight decay of alpha.
    hessian = rows.T @ rows
    assert effective_degrees(hessian, 3.0) == pytest.approx(expected)
    with pytest.raises(DataError, match="square matrix"):
        effective_degrees(rows, 1.0)
    with pytest.raises(DataError, match="alpha must be"):
        effective_degrees(hessian, -1.0)


def test_average_over_degrees():
    average = BayesianModelAverage(
        [BayesianLinearRegression(degree=degree) for degree in (1, 2, 4)]
    ).fit(X, Y)
    heights = np.array([model.log_evidence_ for model in average.estimators_])
    np.testing.assert_allclose(average.probabilities_, model_posterior(heights))
    means = np.array([model.predict(NEW) for model in average.estimators_])
    variances = np.array(
        [model.predict(NEW, return_std=True)[1] ** 2 for model in average.estimators_]
    )
    mean, std = average.predict(NEW, return_std=True)
    expected = average.probabilities_ @ means
    np.testing.assert_allclose(mean, expected)
    spread = average.probabilities_ @ (variances + (means - expected) ** 2)
    np.testing.assert_allclose(std**2, spread)
    assert average.log_evidence_ == pytest.approx(np.log(np.exp(heights).mean()))
    intervals = average.predict_interval(NEW, 0.9)
    shares = average.predict_distribution(NEW).cumulative(intervals.upper)
    np.testing.assert_allclose(shares, 0.95)


def test_models_of_both_kinds_and_simple_priors():
    average = BayesianModelAverage(
        [BayesianLinearRegression(degree=2), NormalGammaRegression(degree=2)], priors="simple"
    ).fit(X, Y)
    assert average.predict(NEW).shape == (7,)
    deep = BayesianModelAverage(priors="simple").fit(X, Y).probabilities_
    flat = BayesianModelAverage(priors="uniform").fit(X, Y).probabilities_
    assert deep[2] / deep[1] == pytest.approx(0.5 * flat[2] / flat[1])


def level_two(precisions, log_prior):
    models = [
        BayesianLinearRegression(prior_precision=value, noise_precision=10.0, fit_intercept=False)
        for value in precisions
    ]
    return BayesianModelAverage(models, priors=np.exp(log_prior)).fit(X[:6], Y[:6])


def test_level_two_averages_over_the_precision_of_the_prior():
    """Erratum 8: the weights are p(alpha | X), not p(alpha). Grid and chain agree."""
    logs = np.linspace(-4, 4, 81)
    average = level_two(np.exp(logs), -0.5 * logs**2)
    heights = np.array([model.log_evidence_ for model in average.estimators_]) - 0.5 * logs**2
    weights = np.exp(heights - heights.max())
    np.testing.assert_allclose(average.probabilities_, weights / weights.sum())
    prior = np.exp(-0.5 * logs**2)
    assert np.abs(average.probabilities_ - prior / prior.sum()).max() > 1e-3

    def log_posterior(point):
        if abs(point[0]) > 4:
            return -np.inf
        return float(np.interp(point[0], logs, heights))

    chain = metropolis(log_posterior, [0.0], n_draws=3000, burn_in=500, random_state=0)
    assert chain.mean("x")[0] == pytest.approx(average.probabilities_ @ logs, abs=0.2)


def test_a_point_mass_is_level_one():
    average = level_two([2.0], np.zeros(1))
    single = average.estimators_[0]
    np.testing.assert_allclose(average.predict(NEW), single.predict(NEW))
    np.testing.assert_allclose(
        average.predict(NEW, return_std=True)[1], single.predict(NEW, return_std=True)[1]
    )


def test_models_without_evidence_are_refused():
    with pytest.raises(DataError, match="Ridge has no log_evidence_"):
        BayesianModelAverage([Ridge()]).fit(X, Y)
    with pytest.raises(DataError, match='estimate="ml" have no evidence'):
        BayesianModelAverage([BayesianLinearRegression(estimate="ml")]).fit(X, Y)
    with pytest.raises(DataError, match="one model or more"):
        BayesianModelAverage([]).fit(X, Y)
    with pytest.raises(DataError, match=r"expected regressors.* one of them is .'line'"):
        BayesianModelAverage([("line", BayesianLinearRegression())]).fit(X, Y)
    with pytest.raises(DataError, match="has no evidence"):
        compare_models({"a": Ridge()}, X, Y)
    with pytest.raises(DataError, match="n_draws must be"):
        monte_carlo_evidence(lambda q: 0.0, lambda rng: 0.0, n_draws=0)


@pytest.mark.parametrize("heights", [[-np.inf, -np.inf], [np.inf, 0.0], {"a": -1.0}])
def test_posteriors_of_models_need_an_evidence(heights):
    with pytest.raises(DataError, match="log_evidence must be"):
        model_posterior(heights)


def test_impossible_models_have_no_posterior_probability():
    np.testing.assert_array_equal(model_posterior([-np.inf, -3.0]), [0.0, 1.0])


def test_densities_must_be_functions():
    for method in (laplace, metropolis):
        with pytest.raises(DataError, match="log_density must be a function; got 3"):
            method(3, [0.0])


def test_an_average_refuses_rows_of_other_columns():
    average = level_two([1.0, 2.0], np.zeros(2))
    wide = np.hstack([NEW, NEW])
    with pytest.raises(ValueError, match="features"):
        average.predict_distribution(wide)
    assert average.n_features_in_ == NEW.shape[1]
