"""Window functions: integrals of one, moments, and what a user's own window must be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from sklearn.neighbors import KernelDensity

from verulam.nonparametric import WINDOWS, Window, ball_volume
from verulam.nonparametric._windows.functions import find_window

SKLEARN_NAMES = ["gaussian", "exponential", "tophat", "linear", "epanechnikov", "cosine"]


def lorentz(distances):
    return 3.0 / (1.0 + distances**4)


@pytest.mark.parametrize("window", [*WINDOWS.values(), find_window(lorentz)], ids=lambda w: w.name)
def test_integral_variance_and_roughness_in_one_dimension(window):
    end = min(window.radius, 60.0)

    def both_sides(function):
        return 2.0 * quad(function, 0.0, end, limit=200)[0]

    norm = both_sides(lambda u: window(np.array([u]))[0])
    assert window.norm(1) == pytest.approx(norm, rel=1e-4)
    squares = both_sides(lambda u: window(np.array([u]))[0] ** 2)
    assert window.roughness() == pytest.approx(squares / norm**2, rel=1e-4)
    if window.name != "lorentz":
        second = both_sides(lambda u: u**2 * window(np.array([u]))[0])
        assert window.variance() == pytest.approx(second / norm, rel=1e-6)


@pytest.mark.parametrize("name", SKLEARN_NAMES)
@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
def test_norms_agree_with_scikit_learn(name, n_columns):
    """One stored point: its density at itself is one over the norm."""
    if (name, n_columns) == ("cosine", 2):
        # scikit-learn's recursion over dimensions starts one term late there.
        assert WINDOWS[name].norm(2) == pytest.approx(4.0 - 8.0 / np.pi)
        return
    peer = KernelDensity(kernel=name).fit(np.zeros((1, n_columns)))
    log_density = peer.score_samples(np.zeros((1, n_columns)))[0]
    assert WINDOWS[name].log_norm(n_columns) == pytest.approx(-log_density, rel=1e-6)


@pytest.mark.parametrize("window", [*WINDOWS.values(), find_window(lorentz)], ids=lambda w: w.name)
def test_draws_have_the_radii_of_the_window(window):
    drawn = window.draw((40_000, 2), np.random.default_rng(0))
    radii = np.linalg.norm(drawn, axis=1)
    inner = np.linspace(0.0, 0.7, 2001)
    share = np.trapezoid(window(inner) * inner, inner) / window.radial_integral(1.0)
    assert np.mean(radii < 0.7) == pytest.approx(share, abs=0.012)
    assert_allclose(np.median(drawn, axis=0), 0.0, atol=0.03)


@pytest.mark.parametrize("window", [*WINDOWS.values(), find_window(lorentz)], ids=lambda w: w.name)
def test_cumulative_shares_are_integrals(window):
    values = np.array([-1.2, -0.4, 0.0, 0.7, 30.0])
    inner = np.linspace(0.0, 0.4, 2001)
    middle = np.trapezoid(window(inner), inner) / window.norm(1)
    shares = window.cumulative(values)
    assert shares[1] == pytest.approx(0.5 - middle, abs=1e-5)
    assert_allclose(shares[2], 0.5)
    assert shares[-1] == pytest.approx(1.0, abs=1e-4)
    assert np.all(np.diff(shares) >= 0)


def test_heights_stop_at_the_radius():
    assert_allclose(WINDOWS["tophat"](np.array([0.0, 1.0, 1.001])), [1.0, 1.0, 0.0])
    assert_allclose(WINDOWS["tricube"](np.array([0.5, 2.0])), [(1 - 0.125) ** 3, 0.0])
    assert WINDOWS["cosine"](np.array([1.5]))[0] == 0.0


def test_volumes_of_balls():
    assert_allclose([ball_volume(1), ball_volume(2), ball_volume(3)], [2, np.pi, 4 * np.pi / 3])


def test_names_records_and_functions_are_windows():
    assert find_window("tophat") is find_window(WINDOWS["tophat"])
    custom = find_window(lorentz)
    assert isinstance(custom, Window)
    assert_allclose(custom(np.array([0.0, 1.0])), [1.0, 0.5])


def test_a_window_with_an_end_knows_it():
    def ramp(distances):
        return np.where(distances < 2.0, 2.0 - distances, 0.0)

    assert find_window(ramp).radius == pytest.approx(2.0, abs=0.011)
    assert find_window(ramp).norm(1) == pytest.approx(2.0, rel=1e-6)


def test_unknown_and_impossible_windows_are_refused():
    with pytest.raises(KeyError, match="Nearest: epanechnikov"):
        find_window("epanechnikow")
    with pytest.raises(ValueError, match="nowhere negative"):
        find_window(lambda u: 1.0 - u)
    with pytest.raises(ValueError, match="one finite height for each"):
        find_window(lambda u: 1.0)
