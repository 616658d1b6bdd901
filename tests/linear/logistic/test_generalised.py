"""Generalised linear models: agreement with their special cases, and multinomial shares."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import GammaRegressor, LinearRegression, PoissonRegressor
from tests.linear.examples import overlapping

from verulam.base import DataError, DataWarning
from verulam.linear import GeneralisedLinear, LogisticDiscriminant
from verulam.linear._logistic.generalised import fit_multinomial

ROWS, CLASSES = overlapping()
CATEGORIES = np.arange(150) % 3
POINTS = np.random.default_rng(0).normal(size=(150, 2)) + 0.8 * np.eye(3)[CATEGORIES][:, :2]
LABELS = np.eye(3)[CATEGORIES]


def test_bernoulli_is_logistic_discrimination():
    model = GeneralisedLinear(family="bernoulli").fit(ROWS, CLASSES)
    logistic = LogisticDiscriminant(penalty=None, standard_errors=True, tol=1e-10)
    logistic.fit(ROWS, CLASSES)
    assert np.allclose(model.coef_, logistic.coef_[0], atol=1e-6)
    assert np.allclose(model.predict(ROWS), logistic.predict_proba(ROWS)[:, 1], atol=1e-6)
    assert np.allclose(model.standard_errors_, logistic.report()["standard error"], atol=1e-6)
    assert model.deviance_ == pytest.approx(-2 * logistic.log_likelihood_)


def test_gaussian_is_least_squares():
    targets = ROWS @ [1.0, 2.0, 3.0] + np.random.default_rng(0).normal(size=200)
    model = GeneralisedLinear().fit(ROWS, targets)
    assert np.allclose(model.coef_, LinearRegression().fit(ROWS, targets).coef_)


def test_poisson_agrees_with_scikit_learn():
    counts = np.random.default_rng(0).poisson(np.exp(0.3 * ROWS[:, 0]))
    model = GeneralisedLinear(family="poisson").fit(ROWS, counts)
    theirs = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000).fit(ROWS, counts)
    assert np.allclose(model.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(model.predict(ROWS), theirs.predict(ROWS), atol=1e-5)


def test_gamma_means_are_positive():
    targets = np.random.default_rng(0).gamma(2.0, np.exp(0.3 * ROWS[:, 0]))
    model = GeneralisedLinear(family="gamma").fit(ROWS, targets)
    assert (model.predict(10 * ROWS) > 0).all()
    assert model.coef_[0] == pytest.approx(0.3, abs=0.15)


def test_gamma_agrees_with_scikit_learn():
    targets = np.random.default_rng(0).gamma(2.0, np.exp(0.3 * ROWS[:, 0]))
    model = GeneralisedLinear(family="gamma").fit(ROWS, targets)
    theirs = GammaRegressor(alpha=0.0, tol=1e-10, max_iter=1000).fit(ROWS, targets)
    assert np.allclose(model.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(model.predict(ROWS), theirs.predict(ROWS), rtol=1e-5)


@pytest.mark.parametrize(
    ("family", "targets"), [("bernoulli", [0, 2]), ("poisson", [-1, 2]), ("gamma", [0, 1])]
)
def test_values_that_a_family_cannot_give_are_refused(family, targets):
    with pytest.raises(DataError, match=f"for the {family} family"):
        GeneralisedLinear(family=family).fit([[0.0], [1.0]], targets)


def test_dependent_inputs_are_said():
    targets = ROWS @ [1.0, 2.0, 3.0]
    with pytest.warns(DataWarning, match="depend on one another"):
        model = GeneralisedLinear().fit(np.c_[ROWS, ROWS[:, 0]], targets)
    assert model.coef_[0] == pytest.approx(model.coef_[3])


@pytest.mark.parametrize(
    ("family", "value"), [("gaussian", -3.0), ("bernoulli", 0.25), ("poisson", 4.0), ("gamma", 0.5)]
)
def test_constant_targets_are_predicted(family, value):
    model = GeneralisedLinear(family=family).fit(ROWS, np.full(200, value))
    assert np.allclose(model.predict(ROWS + 5.0), value)
    assert model.deviance_ == 0.0
    assert not model.coef_.any()


@pytest.mark.parametrize(("family", "value"), [("bernoulli", 1), ("bernoulli", 0), ("poisson", 0)])
def test_constant_targets_at_the_border_are_refused(family, value):
    with pytest.raises(DataError, match=f"y is {value} in every row"):
        GeneralisedLinear(family=family).fit(ROWS, np.full(200, value))


def test_true_and_false_are_one_and_zero():
    rows, classes = overlapping()
    by_number = GeneralisedLinear(family="bernoulli").fit(rows, classes)
    by_truth = GeneralisedLinear(family="bernoulli").fit(rows, classes == 1)
    assert np.allclose(by_truth.coef_, by_number.coef_)


def _counts(seed=0, n_rows=80):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_rows, 2))
    outputs = rows @ random.normal(size=(2, 3)) + [0.0, 0.5, -0.5]
    shares = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    return rows, np.array([random.multinomial(7, share) for share in shares])


def test_one_label_a_row_is_softmax_discrimination():
    model = GeneralisedLinear(family="multinomial").fit(POINTS, LABELS)
    softmax = LogisticDiscriminant(penalty=None, reference=0, tol=1e-9).fit(POINTS, CATEGORIES)
    assert np.allclose(model.predict(POINTS), softmax.predict_proba(POINTS), atol=1e-5)
    assert np.allclose(model.coef_, softmax.coef_, atol=1e-4)
    assert not model.coef_[0].any()
    assert model.deviance_ == pytest.approx(-2 * softmax.log_likelihood_)


def test_weights_and_standard_errors_agree_with_statsmodels():
    model = GeneralisedLinear(family="multinomial").fit(POINTS, LABELS)
    theirs = sm.MNLogit(CATEGORIES, sm.add_constant(POINTS)).fit(disp=0, maxiter=100, tol=1e-12)
    ours = np.column_stack([model.intercept_, model.coef_])[1:]
    assert np.allclose(ours, theirs.params.T, atol=1e-6)
    assert np.allclose(model.standard_errors_, theirs.bse.T, rtol=1e-6)


def test_counts_are_as_many_rows():
    rows, counts = _counts()
    model = GeneralisedLinear(family="multinomial").fit(rows, counts)
    row, category = np.nonzero(counts)
    repeated = np.repeat(row, counts[row, category]), np.repeat(category, counts[row, category])
    single = GeneralisedLinear(family="multinomial").fit(rows[repeated[0]], np.eye(3)[repeated[1]])
    assert np.allclose(model.coef_, single.coef_)
    assert np.allclose(model.standard_errors_, single.standard_errors_)
    shares = GeneralisedLinear(family="multinomial").fit(rows, counts / 7)
    assert np.allclose(shares.coef_, model.coef_)
    weighted = GeneralisedLinear(family="multinomial").fit(rows, counts / 7, np.full(80, 7.0))
    assert np.allclose(weighted.standard_errors_, model.standard_errors_)
    assert weighted.deviance_ == pytest.approx(model.deviance_)


def test_the_means_have_the_sums_of_the_counts():
    """The equations of a canonical link: residuals are orthogonal to the inputs."""
    rows, counts = _counts(1)
    model = GeneralisedLinear(family="multinomial").fit(rows, counts)
    residuals = counts - 7 * model.predict(rows)
    assert np.allclose(residuals.sum(axis=0), 0.0, atol=1e-6)
    assert np.allclose(rows.T @ residuals, 0.0, atol=1e-6)


def test_two_categories_are_bernoulli():
    rows, classes = overlapping()
    two = GeneralisedLinear(family="multinomial").fit(rows, np.eye(2)[classes])
    one = GeneralisedLinear(family="bernoulli").fit(rows, classes)
    assert np.allclose(two.coef_[1], one.coef_, atol=1e-6)
    assert np.allclose(two.standard_errors_[0], one.standard_errors_, atol=1e-6)
    assert np.allclose(two.predict(rows)[:, 1], one.predict(rows), atol=1e-6)
    assert two.deviance_ == pytest.approx(one.deviance_)


def test_shares_of_the_model_itself_leave_no_deviance():
    rows, _ = _counts()
    outputs = rows @ np.array([[0.0, 1.0, -1.0], [0.0, 0.5, 2.0]])
    shares = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    fit = fit_multinomial(rows, shares, None, 50)
    assert fit.converged
    assert fit.deviance == pytest.approx(0.0, abs=1e-9)
    assert np.allclose(fit.coefficients[1:, 1:], [[1.0, 0.5], [-1.0, 2.0]])


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (CATEGORIES, "must be a table of numbers"),
        (-LABELS, "not negative"),
        (np.zeros((150, 3)), "one above zero"),
        (np.c_[LABELS, np.zeros(150)], "column 3 of y is zero in every row"),
    ],
)
def test_targets_that_are_no_shares_are_refused(targets, message):
    with pytest.raises(DataError, match=message):
        GeneralisedLinear(family="multinomial").fit(POINTS, targets)


def test_separable_categories_are_said():
    rows = np.array([[0.0], [1.0], [5.0], [6.0], [10.0], [11.0]])
    with pytest.warns(ConvergenceWarning, match="separates the categories"):
        GeneralisedLinear(family="multinomial").fit(rows, np.eye(3)[[0, 0, 1, 1, 2, 2]])
    with pytest.warns(ConvergenceWarning, match="stopped after 1 steps"):
        GeneralisedLinear(family="multinomial", max_iter=1).fit(*_counts())
