"""Factor algebra against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.graphical import Factor, FactorModel, multiply


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(0)
    return random.random((2, 3)), random.random((3, 4))


def test_product_is_that_of_einsum(tables):
    a, b = tables
    product = Factor(("x", "y"), a) * Factor(("y", "z"), b)
    assert product.variables == ("x", "y", "z")
    assert_allclose(product.values, np.einsum("xy,yz->xyz", a, b))
    turned = Factor(("y", "z"), b) * Factor(("x", "y"), a)
    assert_allclose(turned.arranged(("x", "y", "z")).values, product.values)


def test_sums_and_maxima(tables):
    a, _ = tables
    factor = Factor(("x", "y"), a)
    assert_allclose(factor.sum_out(["x"]).values, a.sum(axis=0))
    assert_allclose(factor.max_out(["y"]).values, a.max(axis=1))
    assert_allclose(factor.marginal(["y"]).values, a.sum(axis=0))
    assert_allclose(factor.marginal(["y", "x"]).values, a.T)
    named = Factor(("first", "last"), a)
    assert_allclose(named.sum_out("last").values, a.sum(axis=1))


def test_evidence_takes_a_part(tables):
    a, _ = tables
    factor = Factor(("x", "y"), a, (("no", "yes"), ("low", "middle", "high")))
    part = factor.reduce({"y": "middle", "elsewhere": 1})
    assert part.variables == ("x",)
    assert_allclose(part.values, a[:, 1])
    assert_allclose(part.normalise().values, a[:, 1] / a[:, 1].sum())


def test_independence_of_a_table():
    joint = Factor(("a", "b"), np.outer([0.2, 0.8], [0.5, 0.5]))
    assert joint.independent(["a"], ["b"])
    assert not Factor(("a", "b"), [[0.5, 0.0], [0.1, 0.4]]).independent(["a"], ["b"])
    random = np.random.default_rng(1)
    c, a, b = random.dirichlet([1, 1]), random.dirichlet([1, 1], 2), random.dirichlet([1, 1], 2)
    joint = Factor(("a", "b", "c"), np.einsum("c,ca,cb->abc", c, a, b))
    assert joint.independent(["a"], ["b"], ["c"])
    assert not joint.independent(["a"], ["b"])


def test_products_in_the_log_domain_do_not_vanish():
    tiny = Factor(("x",), [1e-200, 3e-200]).rescale()
    product = multiply([tiny] * 50)
    shares = np.array([1.0, 3.0]) ** 50
    assert_allclose(product.normalise().values, shares / shares.sum())
    assert_allclose(product.log_total, 50 * np.log(1e-200) + np.log(shares.sum()))


def test_model_counts_states():
    model = FactorModel({"x": ("a", "b"), "y": (0, 1, 2)}, ())
    assert model.sizes == (2, 3)
    assert model.positions == {"x": 0, "y": 1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Factor("x", [1.0]), "sequence of names"),
        (lambda: Factor(("x", "x"), np.ones((2, 2))), "names one twice"),
        (lambda: Factor(("x",), np.ones((2, 2))), "2 axes for the 1 variables x"),
        (lambda: Factor(("x",), [1.0, -1.0]), "at least 0"),
        (lambda: Factor(("x",), [1.0, np.nan]), "finite numbers"),
        (lambda: Factor(("x",), ["much", "little"]), "table of numbers"),
        (lambda: Factor(("x",), [0.5, 0.5], (("a", "b", "c"),)), "states of its variables ask"),
        (lambda: Factor(("x",), [0.0, 0.0]).normalise(), "zero everywhere"),
        (lambda: Factor(("x",), [1.0, 1.0]).sum_out(["y"]), "no variable 'y'; it has x"),
        (
            lambda: Factor(("x",), [1.0, 1.0], (("no", "yes"),)).reduce({"x": "yess"}),
            "Nearest: yes",
        ),
        (lambda: Factor(("x",), [1.0, 1.0]) * 2, "not by int"),
        (
            lambda: Factor(("x",), [1, 1], (("a", "b"),)) * Factor(("x",), [1, 1], (("b", "a"),)),
            "states of 'x' differently",
        ),
    ],
)
def test_wrong_factors_are_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()
