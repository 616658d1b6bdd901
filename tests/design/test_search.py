"""Searches by parabola and by surface."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from verulam.base import DataError
from verulam.design._factors import Factor
from verulam.design._search import quadratic_search, response_surface_search


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("start", [(0, 1, 2), (0, 5, 10), (10, 9, 3)])
def test_one_step_on_a_quadratic(start, maximise):
    sign = -1 if maximise else 1
    found = quadratic_search(
        lambda x: sign * (3 * (x - 6.4) ** 2 + 1), start, (0, 10), maximise=maximise
    )
    assert found.path["step"].tolist() == ["start"] * 3 + ["parabola"]
    assert found.best["x"] == pytest.approx(6.4)
    assert found.response == pytest.approx(sign)
    assert "best level already" in found.stopped


def test_the_vertex_is_kept_within_bounds():
    found = quadratic_search(lambda x: (x - 20) ** 2, (0, 2, 5), (0, 8))
    assert found.best["x"] == 8.0
    assert found.path["x"].between(0, 8).all()


def test_golden_section_where_the_parabola_opens_the_wrong_way():
    """Three points on the flank of a bump: the parabola through them has its vertex on top."""

    def error(x):
        return -np.exp(-((x - 7.0) ** 2))

    found = quadratic_search(error, (0.0, 3.0, 5.5), (0, 10), max_runs=40, patience=5)
    assert "golden section" in found.path["step"].tolist()
    assert found.best["x"] == pytest.approx(7.0, abs=0.05)


@pytest.mark.parametrize(
    ("function", "best"),
    [
        (lambda x: (x - 2.0) ** 4, 2.0),
        (lambda x: abs(x - 3.3), 3.3),
        (lambda x: np.cosh(x - 4.1), 4.1),
        (lambda x: x - np.log(x), 1.0),
    ],
)
def test_other_functions_with_one_minimum(function, best):
    found = quadratic_search(function, (0.5, 2.5, 6.0), (0.1, 7.0), max_runs=60, patience=4)
    assert found.best["x"] == pytest.approx(best, abs=0.1)
    assert found.response == found.path["response"].min()


def test_searches_end():
    steps = quadratic_search(lambda x: abs(x - 3.3), (0, 2, 6), (0, 7), max_runs=6)
    assert len(steps.path) <= 6
    flat = quadratic_search(lambda _: 1.0, (0, 2, 6), (0, 7), max_runs=30)
    assert len(flat.path) == 5
    assert flat.stopped == "2 runs in a row brought no improvement"
    capped = quadratic_search(lambda x: x**2, (1, 2, 3), (0, 7), max_runs=3, name="h")
    assert capped.stopped == "max_runs=3 is reached"
    assert capped.best == {"h": 1.0}


@pytest.mark.parametrize(
    ("start", "bounds", "max_runs", "message"),
    [
        ((1, 2), (0, 5), 9, "expected three different levels"),
        ((1, 2, 2), (0, 5), 9, "expected three different levels"),
        ((1, 2, 6), (0, 5), 9, "6 is outside of the bounds 0 to 5"),
        ((1, 2, 3), (5, 0), 9, "expected the lower one first"),
        ((1, 2, 3), (0, 5), 2, "the start alone takes 3 runs"),
    ],
)
def test_bad_starts(start, bounds, max_runs, message):
    with pytest.raises(ValueError, match=message):
        quadratic_search(lambda x: x, start, bounds, max_runs=max_runs)


def test_a_response_that_is_no_number():
    with pytest.raises(DataError, match=r"The response at 2.0 is nan"):
        quadratic_search(lambda x: np.nan if x == 2 else x, (1, 2, 3), (0, 5))


def test_a_surface_finds_a_quadratic_in_one_step():
    factors = [Factor("x", (0.0, 4.0), "numeric"), Factor("y", (0.0, 4.0), "numeric")]

    def error(setting):
        x, y = setting["x"] - 1.3, setting["y"] - 2.9
        return x**2 + y**2 + x * y

    found = response_surface_search(error, factors)
    assert found.path["step"].tolist() == ["start"] * 9 + ["surface"]
    assert found.best == pytest.approx({"x": 1.3, "y": 2.9})
    assert found.response == pytest.approx(0.0, abs=1e-12)


def test_a_surface_needs_its_start():
    factors = [Factor("x", (0.0, 4.0), "numeric"), Factor("y", (0.0, 4.0), "numeric")]
    with pytest.raises(ValueError, match="max_runs=8; the start alone takes 9 runs"):
        response_surface_search(lambda _: 0.0, factors, max_runs=8)
    capped = response_surface_search(lambda s: s["x"] ** 2, factors, max_runs=9)
    assert capped.stopped == "max_runs=9 is reached"


def test_weights_of_several_kernels():
    """Tuned by a response surface, weighted kernels beat equal weights on fresh data."""
    random = np.random.default_rng(0)
    inputs = random.uniform(-3, 3, size=(240, 1))
    targets = np.sin(4 * inputs[:, 0]) + 0.3 * random.normal(size=240)
    widths = (0.01, 3.0, 100.0)
    learn, validate, test = slice(0, 80), slice(80, 160), slice(160, 240)

    def error(setting, part=validate):
        weights = (setting["wide"], 1.0, setting["narrow"])

        def kernel(rows):
            return sum(
                w * rbf_kernel(inputs[rows], inputs[learn], g)
                for w, g in zip(weights, widths, strict=True)
            )

        model = KernelRidge(alpha=0.3, kernel="precomputed").fit(kernel(learn), targets[learn])
        return float(np.mean((model.predict(kernel(part)) - targets[part]) ** 2))

    factors = [Factor("wide", (0.05, 20.0), "log"), Factor("narrow", (0.05, 20.0), "log")]
    found = response_surface_search(error, factors, max_runs=25)
    uniform = {"wide": 1.0, "narrow": 1.0}
    assert found.response < 0.97 * error(uniform)
    assert error(found.best, test) < error(uniform, test)
