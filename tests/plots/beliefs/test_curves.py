"""Pictures of beliefs: what their curves hold."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.bayes import (
    BayesianLinearRegression,
    Beta,
    BetaBernoulli,
    GaussianMean,
    GaussianProcessRegressor,
    MultivariateNormal,
    Normal,
    NormalGamma,
    StudentT,
    compare_models,
)
from verulam.plots import (
    distribution_curves,
    evidence_curve,
    evidence_over_data,
    posterior_curves,
    predictive_band,
    weight_density,
)

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0, 5, size=(15, 1)), axis=0)
Y = np.sin(X[:, 0])


def curve(axes, label):
    return next(line for line in axes.lines if line.get_label() == label)


def peak(line):
    return line.get_xdata()[np.argmax(line.get_ydata())]


def test_densities_have_their_peaks_and_areas():
    """Figure 16.2: beta densities; any family of one number."""
    axes = distribution_curves({"few": Beta(6, 4), "many": Beta(60, 40)})
    assert peak(curve(axes, "few")) == pytest.approx(5 / 8, abs=0.01)
    assert peak(curve(axes, "many")) == pytest.approx(59 / 98, abs=0.01)
    for line in axes.lines:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1.0, abs=0.01)
    assert peak(distribution_curves(StudentT(5.0, 2.0)).lines[0]) == pytest.approx(2.0, abs=0.05)
    with pytest.raises(DataError, match="distributions of one number"):
        distribution_curves(MultivariateNormal([0.0, 0.0], np.eye(2)))


def test_prior_likelihood_posterior_and_predictive():
    """Figure 16.3."""
    data = np.full(20, 6.0)
    axes = posterior_curves(GaussianMean(4.0, 0.64, 2.25), data, predictive=True)
    assert [line.get_label() for line in axes.lines] == [
        "prior", "likelihood", "posterior", "next observation",
    ]  # fmt: skip
    assert peak(curve(axes, "prior")) == pytest.approx(4.0, abs=0.05)
    assert peak(curve(axes, "likelihood")) == pytest.approx(6.0, abs=0.05)
    assert peak(curve(axes, "posterior")) == pytest.approx(5.7, abs=0.05)
    height = curve(axes, "next observation").get_ydata().max()
    assert height == pytest.approx((2 * np.pi * 2.345681) ** -0.5, rel=0.01)
    flips = posterior_curves(BetaBernoulli(2.0, 2.0), [1, 1, 0, 1])
    assert peak(curve(flips, "likelihood")) == pytest.approx(0.75, abs=0.01)
    with pytest.raises(DataError, match="a parameter of one number"):
        posterior_curves(NormalGamma(), [1.0, 2.0])


@pytest.mark.parametrize(
    "learner", [BayesianLinearRegression(degree=3), GaussianProcessRegressor()], ids=["line", "gp"]
)
def test_bands_are_those_of_the_learner(learner):
    """Figures 16.4-16.6, 16.10 and 16.11."""
    learner.fit(X, Y)
    axes = predictive_band(learner, X, Y, n_functions=5)
    grid = curve(axes, "mean").get_xdata()
    mean, std = learner.predict(grid[:, None], return_std=True)
    np.testing.assert_allclose(curve(axes, "mean").get_ydata(), mean)
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((mean + std).max())
    assert len([line for line in axes.lines if line.get_linewidth() == 0.7]) == 5
    levelled = predictive_band(learner, X, level=0.9)
    assert "90% interval" in levelled.get_legend_handles_labels()[1]


def test_names_of_a_table_are_labels():
    table = pd.DataFrame({"age": X[:, 0]})
    learner = BayesianLinearRegression().fit(table, Y)
    axes = predictive_band(learner, table, pd.Series(Y, name="wage"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age", "wage")
    with pytest.raises(DataError, match="one column"):
        predictive_band(learner, np.zeros((3, 2)))


def test_density_of_two_weights():
    design = np.column_stack([np.ones(15), X])
    learner = BayesianLinearRegression(
        fit_intercept=False, prior_precision=2.0, noise_precision=5.0
    ).fit(design, Y)
    axes = weight_density(learner)
    assert axes.lines[0].get_xdata()[0] == pytest.approx(learner.coef_[0])
    assert axes.lines[0].get_ydata()[0] == pytest.approx(learner.coef_[1])
    before = weight_density(learner, prior=True)
    assert before.get_xlim()[1] == pytest.approx(3.2 / 2.0**0.5)
    with pytest.raises(DataError, match="two positions among the 2 weights"):
        weight_density(learner, weights=(0, 2))


def test_evidence_over_degrees():
    """Figure 16.8: the likelihood never falls, evidence has its peak where it is marked."""
    models = {degree: BayesianLinearRegression(degree=degree) for degree in range(1, 6)}
    table = compare_models(models, X, Y + RNG.normal(scale=0.2, size=15))
    axes = evidence_curve(table)
    assert (np.diff(curve(axes, "log-likelihood").get_ydata()) >= -1e-9).all()
    best = table["log_evidence"].idxmax()
    assert f"most evident: {best}" in axes.get_legend_handles_labels()[1]
    with pytest.raises(DataError, match="no column 'log_likelihood'"):
        evidence_curve(pd.DataFrame({"a": [1.0]}))


def test_evidence_over_all_data_sets():
    """Figure 16.7: every curve sums to one; the simple model wins where its data come."""
    axes = evidence_over_data({"any": BetaBernoulli(1, 1), "fair": BetaBernoulli(80, 80)}, 12)
    for line in axes.lines:
        assert line.get_ydata().sum() == pytest.approx(1.0)
    any_coin, fair = (curve(axes, name).get_ydata() for name in ("any", "fair"))
    assert fair[6] > any_coin[6]
    assert fair[12] < any_coin[12]
    np.testing.assert_allclose(any_coin, 1 / 13)
    with pytest.raises(DataError, match="BetaBernoulli"):
        evidence_over_data({"a": Normal(0.0, 1.0)})
