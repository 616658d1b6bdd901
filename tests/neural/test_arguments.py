"""Public functions refuse arguments of another kind in one sentence."""

import inspect

import numpy as np
import pytest

import verulam.neural
from verulam.base import DataError, UnknownNameError
from verulam.neural import (
    MLPRegressor,
    Network,
    TrainingError,
    activate,
    centre_images,
    complexity_curve,
    deskew_images,
    evidence,
    gradient_norms,
    grow,
    hessian_diagonal,
    hessian_product,
    input_importance,
    layout_of,
    mean_error,
    next_steps,
    pretrain,
    prune,
    recurrent_layout,
    scale_images,
    search_structure,
    tangent_vectors,
    virtual_examples,
    window_layer,
)

ROWS = np.random.default_rng(0).normal(size=(9, 2))
NUMBERS = ROWS[:, 0]
DATA = ROWS, NUMBERS
NET = MLPRegressor(2, max_iter=1)
NETWORK = Network(layout_of((2, 1)))
CLASSES = Network(layout_of((2, 3)), output="softmax")
ERROR = TrainingError(NETWORK, ROWS, NUMBERS[:, None], alpha=1.0)
THETA = np.zeros(3)
RAGGED = [[1, 2], [3]]

WRONG = [
    (activate, ("a", "tanh"), {}, "sums must be numbers; got 'a'"),
    (activate, (RAGGED, "tanh"), {}, "sums must be numbers; got"),
    (activate, (ROWS, 3), {}, "activation must be a string; got 3"),
    (activate, (ROWS, "tanh", "steep"), {}, "gain must be a number; got 'steep'"),
    (centre_images, ("a",), {}, "images: expected an array of numbers"),
    (complexity_curve, (3, *DATA, DATA, [1]), {}, "learner must be a perceptron such as"),
    (complexity_curve, (NET, "a", NUMBERS, DATA, [1]), {}, "X must be a table of numbers"),
    (complexity_curve, (NET, ROWS, 3, DATA, [1]), {}, "y must be a vector or a table of targets"),
    (complexity_curve, (NET, *DATA, ROWS, [1]), {}, "validation must be other rows and their"),
    (complexity_curve, (NET, *DATA, DATA, 3), {}, "sizes must be a list"),
    (complexity_curve, (NET, *DATA, DATA, [1]), {"random_state": "a"}, "random_state must be"),
    (deskew_images, (3,), {}, "images: expected an array of images"),
    (evidence, (3, THETA), {}, "error must be a `TrainingError`; got 3"),
    (evidence, (ERROR, "a"), {}, "theta must be a vector of finite numbers; got 'a'"),
    (evidence, (ERROR, THETA, 0.0), {}, "noise must be a finite number above 0, or None"),
    (gradient_norms, (3, THETA), {}, "error must be a `TrainingError` or a `SequenceError`"),
    (gradient_norms, (ERROR, None), {}, "theta must be a vector of finite numbers; got None"),
    (gradient_norms, (ERROR, THETA[:2]), {}, "theta: expected 3 numbers; got 2"),
    (grow, (3, *DATA), {"goal": 1.0}, "learner: expected an MLPClassifier"),
    (grow, (NET, *DATA), {"goal": "low"}, "goal must be a number; got 'low'"),
    (grow, (NET, *DATA), {"goal": 1.0, "max_units": 2.5}, "max_units must be a whole number"),
    (hessian_diagonal, (3, THETA), {}, "error must be a `TrainingError`; got 3"),
    (hessian_diagonal, (ERROR, [np.nan]), {}, "theta must be a vector of finite numbers"),
    (hessian_product, (MLPRegressor, THETA, THETA), {}, "error must be a `TrainingError`"),
    (hessian_product, (ERROR, THETA, "a"), {}, "direction must be a vector of finite numbers"),
    (input_importance, (3,), {}, "learner must be a fitted perceptron; got 3"),
    (input_importance, (MLPRegressor,), {}, "learner must be a fitted perceptron; got"),
    (layout_of, (3,), {}, "sizes must be a list or tuple of whole numbers; got 3"),
    (layout_of, ((2, 0),), {}, "sizes: inputs, hidden units and outputs, at least 1 each"),
    (layout_of, ((2, 1),), {"combine": 3}, "combine must be a string; got 3"),
    (layout_of, ((2, 1),), {"skip": "no"}, "skip must be True or False; got 'no'"),
    (layout_of, ((2, 1),), {"masks": 3}, "masks must be a list with an array or None"),
    (layout_of, ((2, 1),), {"tied": ["a"]}, "tied: that of layer 1 must be an array of numbers"),
    (mean_error, (3, THETA, *DATA), {}, "network must be a `Network`; got 3"),
    (mean_error, (NETWORK, "a", *DATA), {}, "theta must be a vector of finite numbers"),
    (mean_error, (NETWORK, THETA, 3, NUMBERS), {}, "rows must be a table of finite numbers"),
    (mean_error, (NETWORK, THETA[:2], *DATA), {}, "theta and rows: expected 3 numbers and 2"),
    (mean_error, (NETWORK, THETA, *DATA), {}, r"targets: expected the shape \(9, 1\)"),
    (mean_error, (CLASSES, np.zeros(9), ROWS, np.full(9, 3)), {}, "whole numbers from 0 to 2"),
    (mean_error, (NETWORK, THETA, ROWS, ROWS[:, :1], [1.0]), {}, "weights: expected 9 numbers"),
    (next_steps, (ROWS,), {"lengths": RAGGED}, "lengths must be whole numbers, or None"),
    (next_steps, (ROWS, "a"), {}, "horizon must be"),
    (pretrain, (3, *DATA), {}, "learner: an MLPClassifier or MLPRegressor"),
    (pretrain, (NET, "a", NUMBERS), {}, "X must be a table of numbers; got 'a'"),
    (pretrain, (NET, *DATA), {"unlabelled": 3}, "unlabelled must be a table of numbers, or None"),
    (prune, (3, *DATA, DATA), {}, "learner: expected a fitted MLPClassifier"),
    (prune, (NET, *DATA, DATA), {"by": 3}, "by must be a string; got 3"),
    (prune, (NET, *DATA, DATA), {"share": "all"}, "share must be a number; got 'all'"),
    (prune, (NET, *DATA, DATA), {"tol": None}, "tol must be a number; got None"),
    (recurrent_layout, (3, "hidden"), {}, "sizes must be a list or tuple of whole numbers"),
    (recurrent_layout, ((1, 1, 1), 3), {}, "feedback must be a string, or a list"),
    (scale_images, (np.ones((1, 2, 2)), "a"), {}, "spread must be a positive number"),
    (search_structure, ([], *DATA, DATA), {}, "learner must be a perceptron such as"),
    (search_structure, (NET, *DATA, (ROWS,)), {}, "validation must be other rows and their"),
    (search_structure, (NET, *DATA, DATA), {"start": 3}, "start must be a list or tuple of whole"),
    (search_structure, (NET, *DATA, DATA), {"direction": 3}, "direction must be a string; got 3"),
    (search_structure, (NET, *DATA, DATA), {"operators": "unit"}, "operators must be a list"),
    (search_structure, (NET, *DATA, DATA), {"cost": 3}, "cost must be a function, or None"),
    (search_structure, (NET, *DATA, DATA), {"max_steps": "a"}, "max_steps must be a whole number"),
    (tangent_vectors, (np.ones((1, 2, 2)), 3), {}, "transform must be a string; got 3"),
    (tangent_vectors, ("a", "right"), {}, "images: expected an array of numbers"),
    (virtual_examples, (np.ones((1, 2, 2)), 3), {}, "labels must be a vector of labels"),
    (virtual_examples, (np.ones((1, 2, 2)), [1]), {"angles": ["a"]}, "angles must be a list of"),
    (virtual_examples, (np.ones((1, 2, 2)), [1]), {"scales": 2.0}, "scales must be a list of"),
    (virtual_examples, (np.ones((1, 2, 2)), [1]), {"shifts": 1}, "shifts must be a list of"),
    (window_layer, (3, 2), {}, "shape must be a list or tuple of whole numbers; got 3"),
    (window_layer, ((1, 4, 4), None), {}, "patch_size must be a whole number, or a list or tuple"),
    (window_layer, ((1, 4, 4), 2), {"stride": 1.5}, "stride must be a whole number; got 1.5"),
    (window_layer, ((1, 4, 4), 2), {"n_maps": None}, "n_maps must be a whole number; got None"),
]


@pytest.mark.parametrize(
    ("function", "arguments", "options", "message"),
    WRONG,
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_wrong_kinds_are_refused(function, arguments, options, message):
    with pytest.raises(DataError, match=message):
        function(*arguments, **options)


def test_all_functions_are_tried():
    public = (getattr(verulam.neural, name) for name in verulam.neural.__all__)
    functions = {function for function in public if inspect.isfunction(function)}
    assert functions == {function for function, *_ in WRONG}


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="activation 'tanj'"):
        activate(ROWS, "tanj")
    with pytest.raises(UnknownNameError, match="operator '3'"):
        search_structure(NET, *DATA, DATA, operators=[3])


def test_lists_serve_as_arrays():
    assert activate([-1, 2], "relu").tolist() == [0.0, 2.0]
    rows = [[1.0, 2.0], [3.0, 4.0]]
    assert mean_error(NETWORK, [1.0, 0.0, 0.0], rows, [[0.0], [1.0]]) == (0.5 * 1 + 0.5 * 4) / 2
    uneven = mean_error(NETWORK, [1.0, 0.0, 0.0], rows, [[0.0], [1.0]], [3, 1])
    assert uneven == (3 * 0.5 * 1 + 0.5 * 4) / 4
    assert mean_error(CLASSES, np.zeros(9), rows, [2, 0]) == pytest.approx(np.log(3))
    assert hessian_diagonal(ERROR, [0.0, 0.0, 0.0]).shape == (3,)
    assert window_layer([1, 4, 4], np.int64(2)).shape == (1, 3, 3)


@pytest.mark.parametrize(("y", "message"), [(3, "y must be a vector"), ([], "y has 0 entries")])
def test_targets_that_are_none(y, message):
    with pytest.raises(DataError, match=message):
        MLPRegressor(2).fit(ROWS, y)
