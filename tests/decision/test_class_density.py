"""Class densities: every way to give one has the same values, masses and tails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.decision import ClassDensity
from verulam.decision._class_density import as_class_density, check_alike

FORMS = {
    "frozen": stats.norm(2, 3),
    "newer": stats.Normal(mu=2.0, sigma=3.0),
    "one-dimensional multivariate": stats.multivariate_normal([2.0], [[9.0]]),
    "function": lambda x: stats.norm.pdf(x, 2, 3),
    "logarithm": ClassDensity(stats.norm(2, 3).logpdf, support=(-40, 44)),
    "half-open": ClassDensity(stats.norm(2, 3).logpdf, support=(-40, np.inf)),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_one_density_agree(form):
    density = as_class_density(FORMS[form])
    reference = stats.norm(2, 3)
    x = np.array([[-1.0, 2.0], [4.0, 11.0]])
    assert_allclose(density.log_at(x), reference.logpdf(x))
    assert_allclose(density.mass(-1, 4), reference.cdf(4) - reference.cdf(-1), atol=1e-12)
    assert_allclose(density.upper_tail(np.array([-np.inf, 1.0])), [1, reference.sf(1)], atol=1e-9)


def test_discrete_tails_include_the_threshold():
    reference = stats.poisson(4)
    bare = ClassDensity(reference.logpmf, support=(0, 60), discrete=True)
    for density in (as_class_density(reference), bare):
        assert_allclose(density.upper_tail(np.array([0.0, 3.0])), [1, reference.sf(2)])


def test_density_is_zero_outside_its_support():
    triangle = ClassDensity(lambda x: np.log(2 * x), support=(0, 1))
    assert_allclose(np.exp(triangle.log_at(np.array([-1.0, 0.5, 2.0]))), [0, 1, 0])


def test_multivariate_normal_rows():
    reference = stats.multivariate_normal([0, 1], [[2, 0.5], [0.5, 1]])
    density = as_class_density(reference)
    x = np.random.default_rng(0).normal(size=(4, 3, 2))
    assert_allclose(density.log_at(x), reference.logpdf(x))
    assert density.log_at(x[0, :1]).shape == (1,)


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (lambda x: 2 * stats.norm.pdf(x), "must integrate to one, but the function .* gives 2"),
        (lambda x: stats.norm.pdf(x, 1e6), "say where it lives with ClassDensity"),
        (3.0, "A density must be a frozen scipy.stats distribution"),
    ],
)
def test_what_is_no_density_is_refused(density, message):
    with pytest.raises(ValueError, match=message):
        as_class_density(density)


def test_nan_inside_the_support_is_refused():
    with pytest.raises(ValueError, match="returned NaN inside its support"):
        ClassDensity(lambda x: x * np.nan).log_at(np.zeros(2))


def test_unlike_densities_are_refused():
    flat = as_class_density(stats.norm(0, 1))
    with pytest.raises(ValueError, match=r"same number of dimensions, but got \[1, 2\]"):
        check_alike([flat, as_class_density(stats.multivariate_normal([0, 0]))])
    with pytest.raises(ValueError, match="all continuous or all discrete"):
        check_alike([flat, as_class_density(stats.poisson(1))])


def test_discrete_density_needs_an_end():
    endless = ClassDensity(stats.poisson(1).logpmf, support=(0, np.inf), discrete=True)
    with pytest.raises(ValueError, match="needs a finite support"):
        endless.integers()
