"""Bayesian linear regression against formulas, scikit-learn and itself."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge

from verulam.base import DataError
from verulam.bayes import BayesianLinearRegression, Intervals, NormalGamma, Predictions

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 5.0, -2.0], size=(25, 3))
Y = X @ [1.5, -2.0, 0.5] + 3.0 + RNG.normal(scale=0.4, size=25)
NEW = RNG.normal([0.0, 5.0, -2.0], size=(6, 3))
ALPHA, BETA = 0.7, 5.0


def fixed(**options):
    settings = {"prior_precision": ALPHA, "noise_precision": BETA, "fit_intercept": False}
    return BayesianLinearRegression(**(settings | options))


def test_posterior_by_the_text():
    """Sigma_N = (alpha I + beta X'X)^-1, mu_N = beta Sigma_N X'r."""
    learner = fixed().fit(X, Y)
    covariance = np.linalg.inv(ALPHA * np.eye(3) + BETA * X.T @ X)
    np.testing.assert_allclose(learner.covariance_, covariance, rtol=1e-10)
    np.testing.assert_allclose(learner.coef_, BETA * covariance @ X.T @ Y, rtol=1e-10)
    mean, std = learner.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, NEW @ learner.coef_)
    variance = 1 / BETA + np.einsum("ij,jk,ik->i", NEW, covariance, NEW)
    np.testing.assert_allclose(std**2, variance, rtol=1e-10)


def test_evidence_is_the_density_of_the_targets():
    learner = fixed().fit(X, Y)
    covariance = np.eye(25) / BETA + X @ X.T / ALPHA
    expected = stats.multivariate_normal(np.zeros(25), covariance).logpdf(Y)
    assert learner.log_evidence_ == pytest.approx(expected)


def test_evidence_with_an_intercept_is_that_of_a_flat_prior():
    """A very wide prior of the constant, its density at zero divided out."""
    learner = fixed(fit_intercept=True).fit(X, Y)
    wide = 1e5
    covariance = np.eye(25) / BETA + X @ X.T / ALPHA + wide
    exact = stats.multivariate_normal(np.zeros(25), covariance).logpdf(Y)
    assert learner.log_evidence_ == pytest.approx(exact + 0.5 * np.log(2 * np.pi * wide), abs=1e-2)
    ones = np.column_stack([np.ones(25), X])
    precision = BETA * ones.T @ ones + np.diag([0.0, ALPHA, ALPHA, ALPHA])
    row = np.column_stack([np.ones(6), NEW])
    variance = 1 / BETA + np.einsum("ij,jk,ik->i", row, np.linalg.inv(precision), row)
    np.testing.assert_allclose(learner.predict(NEW, return_std=True)[1] ** 2, variance, rtol=1e-9)


def test_chain_of_predictives_is_the_evidence():
    total = np.log(0.0 + stats.norm.pdf(Y[0], 0.0, np.sqrt(1 / BETA + X[0] @ X[0] / ALPHA)))
    learner = fixed()
    learner.partial_fit(X[:1], Y[:1])
    for t in range(1, 25):
        total += learner.predict_distribution(X[t : t + 1]).log_density(Y[t : t + 1])[0]
        learner.partial_fit(X[t : t + 1], Y[t : t + 1])
    assert learner.log_evidence_ == pytest.approx(total)
    np.testing.assert_allclose(learner.coef_, fixed().fit(X, Y).coef_, rtol=1e-10)


def test_order_of_rows_and_chunks_does_not_matter():
    whole = fixed().fit(X, Y)
    order = RNG.permutation(25)
    for other in (
        fixed().fit(X[order], Y[order]),
        fixed().fit(iter([(X[:9], Y[:9]), (X[9:], Y[9:])])),
        fixed().partial_fit(X[9:], Y[9:]).partial_fit(X[:9], Y[:9]),
    ):
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-10)
        assert other.log_evidence_ == pytest.approx(whole.log_evidence_)


def test_map_is_ridge_regression_and_plugs_in():
    learner = fixed(estimate="map").fit(X, Y)
    ridge = Ridge(alpha=ALPHA / BETA, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(learner.coef_, ridge.coef_, rtol=1e-8)
    std = learner.predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(std, BETA**-0.5)
    full = fixed().fit(X, Y).predict(NEW, return_std=True)[1]
    assert (full > std).all()
    centred = fixed(estimate="map", fit_intercept=True).fit(X, Y)
    both = Ridge(alpha=ALPHA / BETA).fit(X, Y)
    np.testing.assert_allclose(centred.coef_, both.coef_, rtol=1e-8)
    assert centred.intercept_ == pytest.approx(both.intercept_)


def test_ml_is_least_squares_with_the_variance_of_exercise_4():
    learner = BayesianLinearRegression(estimate="ml").fit(X, Y)
    plain = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(learner.coef_, plain.coef_, rtol=1e-8)
    residual = Y - plain.predict(X)
    assert 1 / learner.noise_precision_ == pytest.approx(residual @ residual / 25)
    assert np.isnan(learner.log_evidence_)
    no_constant = fixed(estimate="ml").fit(X, Y)
    inverse = np.linalg.inv(X.T @ X)
    variance = (1 + np.einsum("ij,jk,ik->i", NEW, inverse, NEW)) / BETA
    np.testing.assert_allclose(
        no_constant.predict(NEW, return_std=True)[1] ** 2, variance, rtol=1e-8
    )


def test_a_vanishing_prior_gives_least_squares():
    learner = fixed(prior_precision=1e-10).fit(X, Y)
    np.testing.assert_allclose(learner.coef_, np.linalg.lstsq(X, Y, rcond=None)[0], rtol=1e-8)


def test_evidence_chooses_precisions_as_bayesian_ridge_does():
    ours = BayesianLinearRegression().fit(X, Y)
    theirs = BayesianRidge(
        alpha_1=1e-12, alpha_2=1e-12, lambda_1=1e-12, lambda_2=1e-12, max_iter=5000, tol=1e-12
    ).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    assert ours.prior_precision_ == pytest.approx(theirs.lambda_, rel=0.02)
    assert ours.noise_precision_ == pytest.approx(theirs.alpha_, rel=0.06)
    for factor in (0.9, 1.1):
        for name in ("prior_precision", "noise_precision"):
            moved = {
                "prior_precision": ours.prior_precision_,
                "noise_precision": ours.noise_precision_,
            }
            moved[name] *= factor
            other = BayesianLinearRegression(**moved).fit(X, Y)
            assert other.log_evidence_ < ours.log_evidence_


@pytest.mark.parametrize("name", ["prior_precision", "noise_precision"])
def test_one_precision_chosen_the_other_fixed(name):
    best = BayesianLinearRegression(**{name: 2.0}).fit(X, Y)
    free = {"prior_precision": "noise_precision", "noise_precision": "prior_precision"}[name]
    assert getattr(best, f"{name}_") == 2.0
    value = getattr(best, f"{free}_")
    for factor in (0.95, 1.05):
        other = BayesianLinearRegression(**{name: 2.0, free: factor * value}).fit(X, Y)
        assert other.log_evidence_ < best.log_evidence_


@pytest.mark.parametrize("precision", [{}, {"prior_precision": 0.3}, {"noise_precision": 2.0}])
def test_chosen_precisions_are_those_of_the_data_in_whatever_order(precision):
    """They are known to nearly all digits, though the evidence is flat around its maximum."""
    order = np.random.default_rng(1).permutation(len(X))
    whole = BayesianLinearRegression(**precision).fit(X, Y)
    other = BayesianLinearRegression(**precision).partial_fit(X[order[:7]], Y[order[:7]])
    other.partial_fit(X[order[7:]], Y[order[7:]])
    assert other.prior_precision_ == pytest.approx(whole.prior_precision_, rel=1e-11)
    assert other.noise_precision_ == pytest.approx(whole.noise_precision_, rel=1e-11)


def test_effective_degrees_are_the_trace_of_the_smoother():
    learner = fixed().fit(X, Y)
    smoother = X @ np.linalg.solve(X.T @ X + ALPHA / BETA * np.eye(3), X.T)
    assert learner.effective_degrees_ == pytest.approx(np.trace(smoother))


@pytest.mark.parametrize(
    "basis",
    [
        lambda X: np.column_stack([np.ones(len(X)), X]),
        lambda X: np.column_stack([np.ones(len(X)), X, X**2]),
        lambda X: X ** np.arange(7),
        lambda X: np.column_stack([np.sin(X), np.cos(2 * X)]),
    ],
    ids=["linear", "quadratic", "degree 6", "user"],
)
def test_dual_equals_primal(basis):
    """Figure 16.6: predictions as sums over the training targets, K = beta phi' Sigma_N phi."""
    rows = RNG.uniform(-1, 1, size=(20, 1))
    targets = np.sin(3 * rows[:, 0])
    learner = fixed(basis=basis).fit(rows, targets)
    new = np.linspace(-1.2, 1.2, 7)[:, None]
    kernel = learner.equivalent_kernel(new, rows)
    np.testing.assert_allclose(kernel @ targets, learner.predict(new), rtol=0, atol=1e-10)
    expected = BETA * basis(new) @ learner.covariance_ @ basis(rows).T
    np.testing.assert_allclose(kernel, expected, rtol=1e-8)


def test_dual_equals_primal_with_an_intercept():
    learner = BayesianLinearRegression(degree=2).fit(X, Y)
    np.testing.assert_allclose(
        learner.equivalent_kernel(NEW, X) @ Y, learner.predict(NEW), rtol=0, atol=1e-10
    )


def test_drawn_models_average_to_the_mean():
    learner = fixed(fit_intercept=True).fit(X, Y)
    weights = learner.sample_weights(20_000, random_state=0)
    np.testing.assert_allclose(weights.mean(axis=0), learner.coef_, atol=0.01)
    np.testing.assert_allclose(np.cov(weights.T), learner.covariance_, atol=5e-4)
    functions = learner.sample_functions(NEW, 20_000, random_state=1)
    mean, std = learner.predict(NEW, return_std=True)
    np.testing.assert_allclose(functions.mean(axis=0), mean, atol=0.02)
    np.testing.assert_allclose(functions.var(axis=0) + 1 / BETA, std**2, rtol=0.03)


def test_noise_that_is_learned_is_averaged_over():
    learner = BayesianLinearRegression().fit(X[:8], Y[:8])
    assert learner.noise_degrees_ == 7.0
    predictions = learner.predict_distribution(NEW)
    design = NEW - X[:8].mean(axis=0)
    model = np.einsum("ij,jk,ik->i", design, learner.covariance_, design) + 1 / (
        8 * learner.noise_precision_
    )
    scale = np.sqrt(1 / learner.noise_precision_ + model)
    expected = stats.t(7.0, learner.predict(NEW), scale)
    np.testing.assert_allclose(predictions.log_density(Y[:6]), expected.logpdf(Y[:6]))
    functions = learner.sample_functions(NEW, 40_000, random_state=0)
    np.testing.assert_allclose(functions.var(axis=0), 7 / 5 * model, rtol=0.05)
    for options in ({"noise_precision": BETA}, {"estimate": "map"}, {"estimate": "ml"}):
        other = BayesianLinearRegression(**options).fit(X[:8], Y[:8])
        assert np.isinf(other.predict_distribution(NEW).df).all()


def test_intervals_cover_where_few_rows_choose_the_precisions():
    """1,000 data sets of ten rows; with a Gaussian instead of Student's t 904 are covered."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(1000):
        rows = rng.normal(size=(11, 1))
        targets = rows[:, 0] * rng.normal() + rng.normal(scale=0.5, size=11)
        learner = BayesianLinearRegression().fit(rows[:10], targets[:10])
        inside += learner.predict_interval(rows[10:], 0.95).covers(targets[10:])[0]
    assert 930 <= inside <= 970


def test_intervals_cover_what_they_say():
    """1,000 data sets whose weights come from the prior."""
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(1000):
        rows = rng.normal(size=(9, 2))
        targets = rows @ rng.normal(scale=ALPHA**-0.5, size=2) + rng.normal(
            scale=BETA**-0.5, size=9
        )
        learner = fixed().fit(rows[:8], targets[:8])
        inside += learner.predict_interval(rows[8:], 0.95).covers(targets[8:])[0]
    assert 930 <= inside <= 970


def test_intervals_and_densities_of_predictions():
    predictions = fixed().fit(X, Y).predict_distribution(NEW)
    assert isinstance(predictions, Predictions)
    reference = stats.norm(predictions.mean, predictions.std)
    intervals = predictions.interval(0.8)
    assert isinstance(intervals, Intervals)
    np.testing.assert_allclose(intervals.lower, reference.ppf(0.1))
    np.testing.assert_allclose(intervals.upper, reference.ppf(0.9))
    np.testing.assert_allclose(predictions.log_density(NEW[:, 0]), reference.logpdf(NEW[:, 0]))
    np.testing.assert_allclose(predictions.cumulative(intervals.upper), 0.9)
    assert intervals.coverage(predictions.mean) == 1.0
    with pytest.raises(DataError, match="a target for each of the 6 rows"):
        intervals.covers([1.0])
    with pytest.raises(DataError, match="level must be a number between 0 and 1"):
        fixed().fit(X, Y).predict_interval(NEW, 95)


def test_mixtures_of_predictions():
    mixture = Predictions(
        np.array([[0.0], [4.0]]), np.array([[1.0], [2.0]]), np.array([np.inf, 5.0]),
        np.array([0.3, 0.7]),
    )  # fmt: skip
    assert mixture.mean[0] == pytest.approx(2.8)
    within = 0.3 * 1.0 + 0.7 * 4.0 * 5 / 3
    assert mixture.variance[0] == pytest.approx(within + 0.3 * 2.8**2 + 0.7 * 1.2**2)
    for share in (0.025, 0.5, 0.9):
        assert mixture.cumulative(mixture.quantile(share))[0] == pytest.approx(share)
    expected = 0.3 * stats.norm.pdf(1.0) + 0.7 * stats.t.pdf(-1.5, 5) / 2.0
    assert mixture.log_density([1.0])[0] == pytest.approx(np.log(expected))


def test_degrees_are_products_of_columns():
    learner = BayesianLinearRegression(degree=2).fit(X, Y)
    assert len(learner.coef_) == 9


def test_wrong_input_is_refused():
    with pytest.raises(DataError, match="n_samples = 1"):
        BayesianLinearRegression().fit([[1.0]], [1.0])
    # With both precisions given one row is enough.
    assert fixed().fit([[1.0]], [1.0]).coef_[0] == pytest.approx(BETA / (ALPHA + BETA))
    with pytest.raises(DataError, match="basis must return a table of finite numbers"):
        fixed(basis=lambda X: X[:, 0]).fit(X, Y)
    with pytest.raises(ValueError, match="'prior_precision' parameter"):
        fixed(prior_precision=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match="'estimate' parameter"):
        fixed(estimate="mode").fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        fixed().fit(np.where(X > 5, np.nan, X), Y)


def test_a_constant_target_and_columns_that_depend():
    flat = BayesianLinearRegression().fit(X, np.full(25, 3.0))
    np.testing.assert_allclose(flat.predict(NEW), 3.0, atol=1e-6)
    double = BayesianLinearRegression().fit(np.column_stack([X, X]), Y)
    assert np.isfinite(double.predict(np.column_stack([NEW, NEW]), return_std=True)).all()


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_columns_that_never_vary_leave_finite_deviations(value):
    learner = BayesianLinearRegression().fit(np.full((25, 2), value), Y)
    mean, std = learner.predict([[value, value], [value + 1.0, value]], return_std=True)
    np.testing.assert_allclose(mean, Y.mean())
    # Student's t of 24 degrees of freedom: what is left is a sample from one Gaussian.
    wider = 24 / 22
    np.testing.assert_allclose(std[0] ** 2, wider * Y.var(ddof=1) * (1.0 + 1.0 / 25))
    classical = NormalGamma.jeffreys().posterior(Y).predictive
    ends = learner.predict_interval([[value, value]], 0.9)
    np.testing.assert_allclose([ends.lower[0], ends.upper[0]], classical.interval(0.9))
    # Where nothing is known of a weight, the prior alone widens the prediction.
    prior_variance = 1.0 / learner.prior_precision_
    np.testing.assert_allclose(std[1] ** 2 - std[0] ** 2, wider * prior_variance, rtol=1e-6)
