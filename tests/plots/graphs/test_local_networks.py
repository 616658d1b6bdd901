"""Local models as networks: figures 12.8, 12.10 and 12.11 with the numbers of a fitted one."""

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

from verulam.base import DataError
from verulam.local import (
    HierarchicalExpertsRegressor,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
)
from verulam.plots import experts_diagram, radial_network_diagram

X = np.linspace(-1, 1, 60)[:, None]
Y = np.abs(X[:, 0])


def words(axes):
    return [text.get_text() for text in axes.texts]


def n_arrows(axes):
    return sum(isinstance(patch, FancyArrowPatch) for patch in axes.patches)


def test_a_radial_network_has_its_units_weights_and_signs():
    learner = RBFNetworkRegressor(init=[[-0.5], [0.0], [0.5]], bandwidth=0.25).fit(X, Y)
    axes = radial_network_diagram(learner)
    text = words(axes)
    assert {"x0", "$p_{1}$", "$p_{2}$", "$p_{3}$", "$y$", "m -0.5\ns 0.25"} <= set(text)
    assert {f"{weight:.2g}" for weight in learner.coef_} <= set(text)
    assert n_arrows(axes) == 3 + 3
    dashed = [p for p in axes.patches if isinstance(p, FancyArrowPatch) and p.get_ls() == "--"]
    assert len(dashed) == (learner.coef_ < 0).sum()


def test_of_many_units_and_columns_the_first_are_drawn():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(60, 9)), np.array(["a", "b", "c"])[np.arange(60) % 3]
    axes = radial_network_diagram(RBFNetworkClassifier(8, random_state=0).fit(rows, labels))
    assert {"a", "b", "c", "2 more", "3 more", "$p_{6}$"} <= set(words(axes))
    assert "$p_{7}$" not in words(axes)
    assert n_arrows(axes) == 6 * 6 + 6 * 3


@pytest.mark.parametrize(("view", "extra"), [("combination", 1), ("network", 1)])
def test_experts_in_two_views(view, extra):
    learner = MixtureOfExpertsRegressor(2, random_state=0).fit(X, Y)
    axes = experts_diagram(learner, view=view)
    text = words(axes)
    slope, constant = float(learner.coef_[0, 0]), float(learner.intercept_[0])
    assert f"{constant:.2g}\n{slope:+.2g} x0" in text
    shares = {"combination": {"gate", "$g_{1}$", "$g_{2}$", "$w_{1}$", "$w_{2}$"}}
    shares["network"] = {"$g_{1}$", "$g_{2}$", "$w_{1}$", "$w_{2}$", "$w_1 = v_1^T x$"}
    assert shares[view] <= set(text)
    assert n_arrows(axes) == 2 + 2 + 1 + extra


def test_experts_of_several_classes_have_no_function_beside_them():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.arange(60) % 3
    learner = MixtureOfExpertsClassifier(7, alpha=1.0, tol=0.1, random_state=0).fit(rows, labels)
    text = words(experts_diagram(learner))
    assert "1 more" in text
    assert not any("+" in word for word in text)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: radial_network_diagram(MixtureOfExpertsRegressor(2).fit(X, Y)), "radial network"),
        (lambda: experts_diagram(RBFNetworkRegressor(2).fit(X, Y)), "a mixture of experts"),
        (lambda: experts_diagram(HierarchicalExpertsRegressor().fit(X, Y)), "a mixture of experts"),
        (
            lambda: experts_diagram(MixtureOfExpertsRegressor(2).fit(X, Y), view="tree"),
            "view is 'tree'; accepted are combination and network",
        ),
        (lambda: experts_diagram(MixtureOfExpertsRegressor(2)), "not fitted"),
    ],
)
def test_other_models_are_refused(draw, message):
    with pytest.raises((DataError, ValueError), match=message):
        draw()
