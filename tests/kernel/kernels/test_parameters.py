"""Parameters of kernels are parameters of the learners that they are given to."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.data import dataset
from verulam.experiment import LearnerChoice, make_plan
from verulam.experiment._identity import describe
from verulam.kernel import (
    Gaussian,
    Kernel,
    KernelCorrelations,
    KernelPrincipalComponents,
    Linear,
    Polynomial,
    SupportVectorClassifier,
    SupportVectorRegressor,
)


@pytest.fixture(scope="module")
def iris():
    data = dataset("iris")
    return data.inputs.to_numpy()[::3], data.target_values.to_numpy()[::3]


@pytest.mark.parametrize("kernel", ["rbf", Gaussian(1.0)])
def test_a_grid_over_the_width(iris, kernel):
    widths = [0.1, 1.0, 30.0]
    search = GridSearchCV(SupportVectorClassifier(kernel=kernel), {"kernel__width": widths}, cv=3)
    search.fit(*iris)
    whole = GridSearchCV(
        SupportVectorClassifier(), {"kernel": [Gaussian(width) for width in widths]}, cv=3
    ).fit(*iris)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"]
    )
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert search.best_estimator_.kernel == Gaussian(search.best_params_["kernel__width"])
    assert search.estimator.kernel == kernel


def test_a_grid_in_a_pipeline_and_over_a_sum(iris):
    kernel = Linear() + 2.0 * Gaussian(1.0)
    line = make_pipeline(StandardScaler(), SupportVectorClassifier(kernel=kernel))
    name = "supportvectorclassifier__kernel__second__"
    levels = {f"{name}kernel__width": [0.5, 2.0], f"{name}factor": [1.0, 5.0]}
    search = GridSearchCV(line, levels, cv=3).fit(*iris)
    assert len(search.cv_results_["params"]) == 4
    assert kernel == Linear() + 2.0 * Gaussian(1.0)


def test_parameters_by_name():
    kernel = Polynomial(degree=3) * Gaussian(2.0)
    assert kernel.get_params(deep=False) == {"first": kernel.first, "second": kernel.second}
    assert kernel.get_params()["first__degree"] == 3
    assert kernel.get_params()["second__width"] == 2.0
    machine = SupportVectorClassifier(kernel=kernel)
    assert machine.get_params()["kernel__second__width"] == 2.0
    assert SupportVectorClassifier().get_params()["kernel__width"] == "scale"
    assert "kernel__width" not in SupportVectorClassifier().get_params(deep=False)


def test_a_shared_kernel_is_not_changed_by_one_of_the_learners():
    shared = Gaussian(1.0)
    first, second = (SupportVectorRegressor(kernel=shared) for _ in range(2))
    first.set_params(kernel__width=3.0)
    assert (first.kernel, second.kernel, shared) == (Gaussian(3.0), Gaussian(1.0), Gaussian(1.0))


def test_inner_kernels_are_not_changed_by_the_outer_one():
    inner = Gaussian(1.0)
    outer = Linear() + inner
    outer.set_params(second__width=2.0)
    assert outer.second == Gaussian(2.0)
    assert inner == Gaussian(1.0)


def test_copies(iris):
    kernel = Gaussian(1.0)
    copied = clone(kernel)
    assert copied == kernel
    copied.set_params(width=2.0)
    assert kernel.width == 1.0
    machine = clone(SupportVectorClassifier(kernel=kernel))
    assert machine.kernel == kernel
    fitted = machine.set_params(kernel__width=0.5).fit(*iris)
    same = SupportVectorClassifier(kernel=Gaussian(0.5)).fit(*iris)
    np.testing.assert_array_equal(
        fitted.decision_function(iris[0]), same.decision_function(iris[0])
    )
    assert pickle.loads(pickle.dumps(copied)) == Gaussian(2.0)


def test_a_kernel_and_its_parameter_at_once():
    machine = SupportVectorClassifier().set_params(kernel="polynomial", kernel__degree=4, C=2.0)
    assert (machine.kernel, machine.C) == (Polynomial(degree=4), 2.0)


def test_two_kernels_of_one_learner():
    learner = KernelCorrelations().set_params(kernel__width=1.0, target_kernel__width=2.0)
    assert (learner.kernel, learner.target_kernel) == (Gaussian(1.0), Gaussian(2.0))
    assert KernelPrincipalComponents().set_params(kernel__width=3.0).kernel == Gaussian(3.0)


class Power(Kernel):
    """A kernel of one's own, no dataclass."""

    def __init__(self, power):
        self.power = power

    def _values(self, left, right):
        return (left @ right.T) ** self.power


def test_kernels_of_ones_own():
    kernel = Power(2)
    assert kernel.get_params() == {"power": 2}
    machine = SupportVectorClassifier(kernel=kernel).set_params(kernel__power=3)
    assert (machine.kernel.power, kernel.power) == (3, 2)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel__breadth": 1.0}, "Gaussian has no parameter 'breadth'; it has width"),
        ({"kernel__width": -1.0}, "width must be"),
        ({"kernel__width__x": 1.0}, "'width' of Gaussian is no kernel"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    machine = SupportVectorClassifier(kernel=Gaussian(1.0))
    with pytest.raises(DataError, match=message):
        machine.set_params(**params)
    assert machine.kernel == Gaussian(1.0)


def test_a_study_over_the_width():
    learner = LearnerChoice("kernel.SupportVectorClassifier", factors={"kernel__width": [0.5, 2.0]})
    plan = make_plan(small_study(learners=[learner]))
    assert len(plan.table()) == 2 * plan.table()["fold"].nunique()


def test_runs_are_known_by_all_fields_of_a_kernel():
    assert describe(Gaussian(1.0))["fields"] == {"width": 1.0}
    centred = Gaussian(1.0).centred()
    assert describe(centred) != describe(replace(centred, means=np.ones(2)))
