"""Pictures of kernel machines show what the machines report."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.kernel import (
    OneClassMachine,
    SupportVectorClassifier,
    SupportVectorRegressor,
)
from verulam.plots import description_boundary, margin_boundary, regression_tube

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] + 0.7 * RNG.normal(size=60) > 0, "in", "out")


def sizes(ax):
    return {
        dots.get_label(): len(dots.get_offsets())
        for dots in ax.collections
        if not str(dots.get_label()).startswith("_")
    }


def test_margin_boundary():
    machine = SupportVectorClassifier(kernel="linear").fit(X, Y)
    shown = sizes(margin_boundary(machine, X, Y, resolution=30))
    counts = machine.instance_report(X, Y).counts()
    assert shown["in"] + shown["out"] == 60
    assert {case: shown[case] for case in counts if case != "safe"} == {
        case: count for case, count in counts.items() if case != "safe"
    }
    with pytest.raises(DataError, match="two columns"):
        margin_boundary(machine, X[:, :1], Y)


def test_regression_tube():
    x, y = X[:, :1], np.sin(X[:, 0]) + 0.2 * X[:, 1]
    machine = SupportVectorRegressor(epsilon=0.2).fit(x, y)
    shown = sizes(regression_tube(machine, x, y))
    outside = machine.tube_report(x, y).n_wrong
    assert shown[f"outside ({outside})"] == outside
    with pytest.raises(DataError, match="one column"):
        regression_tube(machine, X, y)


def test_description_boundary():
    machine = OneClassMachine(nu=0.2).fit(X)
    shown = sizes(description_boundary(machine, X, resolution=30))
    assert shown["outlier"] == (machine.predict(X) < 0).sum()
    assert shown["support vector"] == len(machine.support_)


def test_columns_with_names_are_asked_for_by_name():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.5, 2.0]})
    machine = SupportVectorClassifier().fit(X, [0, 0, 1, 1])
    axes = margin_boundary(machine, X, [0, 0, 1, 1], resolution=20)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")
