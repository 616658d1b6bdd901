"""Bells and their places: worked values, invariants, and every gradient by differences."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from verulam.base import DataError, DataWarning
from verulam.cluster import GaussianMixture, KMeans
from verulam.local import OnlineKMeans, RadialUnits, RBFFeatures
from verulam.local._radial.gates import BellGate, RadialGate
from verulam.local._radial.mixing import Targets
from verulam.local._radial.objective import ConstantExperts, LocalError, LocalModel
from verulam.local._radial.units import UNIT_TYPES, UnitLayout

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(40, 3))


def differences(error, theta, step=1e-6):
    """Return the gradient of an error by central differences."""
    return np.array(
        [
            (
                error.value_and_gradient(theta + step * direction)[0]
                - error.value_and_gradient(theta - step * direction)[0]
            )
            / (2 * step)
            for direction in np.eye(len(theta))
        ]
    )


def test_xor_by_two_circles_and_by_one_ellipse():
    circles = RBFFeatures(init=[[0, 1], [1, 0]], bandwidth=0.5).fit(XOR).transform(XOR).sum(axis=1)
    assert_allclose(circles, [0.2707, 1.0183, 1.0183, 0.2707], atol=5e-5)
    covariance = 0.25 * np.array([[[1.0, -0.9], [-0.9, 1.0]]])
    ellipse = RBFFeatures(init=[[0.5, 0.5]], covariance_type="full", bandwidth=covariance)
    values = ellipse.fit(XOR).transform(XOR)[:, 0]
    assert_allclose(values[[1, 2]], 0.591, atol=5e-4)
    assert_allclose(values[[0, 3]], 4.54e-5, atol=5e-7)


def test_the_bell_at_two_and_three_spreads_and_its_area():
    bell = RBFFeatures(init=[[0.0]], bandwidth=2.0).fit([[0.0], [1.0]])
    values = bell.transform([[0.0], [4.0], [-6.0]])[:, 0]
    assert_allclose(values, [1.0, np.exp(-2), np.exp(-4.5)], rtol=1e-12)
    area = quad(lambda x: bell.transform([[x]])[0, 0], -30, 30)[0]
    assert area == pytest.approx(np.sqrt(2 * np.pi) * 2.0, rel=1e-7)


def test_spheres_are_the_gaussian_kernel():
    bells = RBFFeatures(init=ROWS[:5], bandwidth=0.7).fit(ROWS).transform(ROWS)
    assert_allclose(bells, rbf_kernel(ROWS, ROWS[:5], gamma=1 / (2 * 0.49)), atol=1e-12)


def test_diagonal_and_full_units_have_their_mahalanobis_distance():
    spreads = RANDOM.uniform(0.5, 2.0, size=(4, 3))
    diagonal = RBFFeatures(init=ROWS[:4], covariance_type="diag", bandwidth=spreads)
    squares = (((ROWS[:, None] - ROWS[:4]) / spreads) ** 2).sum(axis=2)
    assert_allclose(diagonal.fit(ROWS).transform(ROWS), np.exp(-0.5 * squares), atol=1e-12)
    roots = RANDOM.normal(size=(4, 3, 3))
    covariances = roots @ roots.transpose(0, 2, 1) + np.eye(3)
    full = RBFFeatures(init=ROWS[:4], covariance_type="full", bandwidth=covariances)
    deviations = ROWS[:, None] - ROWS[:4]
    squares = np.einsum("nhi,hij,nhj->nh", deviations, np.linalg.inv(covariances), deviations)
    assert_allclose(full.fit(ROWS).transform(ROWS), np.exp(-0.5 * squares), atol=1e-12)


def test_shares_sum_to_one_and_are_finite_far_away():
    shares = RBFFeatures(6, coding="shares", random_state=0).fit(ROWS)
    far = shares.transform(np.array([[1e6, -1e6, 1e6], [0.0, 0.0, 0.0]]))
    assert_allclose(far.sum(axis=1), 1.0, rtol=1e-12)


def test_hard_codes_name_the_nearest_centre():
    features = RBFFeatures(6, coding="nearest", random_state=0).fit(ROWS)
    codes = features.transform(ROWS)
    nearest = cdist(ROWS, features.units_.centers).argmin(axis=1)
    assert_allclose(codes.argmax(axis=1), nearest)
    assert_allclose(codes.sum(axis=1), 1.0)


@pytest.mark.parametrize(("share", "spread"), [(0.5, 2.0), (1 / 3, 4 / 3)])
def test_spreads_are_a_share_of_the_farthest_row_that_a_unit_owns(share, spread):
    rows = [[0.0], [1.0], [4.0], [20.0], [21.0]]
    units = RBFFeatures(init=[[0.0], [20.0]], spread_share=share).fit(rows).units_
    assert_allclose(np.sqrt(units.covariances), [spread, share * 1.0])


def test_a_unit_with_a_single_row_reaches_half_way_to_the_next():
    units = RBFFeatures(init=[[0.0], [10.0]]).fit([[0.0], [10.0], [12.0]]).units_
    assert_allclose(np.sqrt(units.covariances), [5.0, 1.0])


def test_five_ways_to_place_centres():
    seed = 3
    placed = {
        init: RBFFeatures(4, init=init, random_state=seed).fit(ROWS).units_
        for init in ("k-means", "online", "mixture", "random")
    }
    inner = int(np.random.default_rng(seed).integers(0, 2**31 - 1, size=1)[0])
    clusters = KMeans(4, random_state=inner).fit(ROWS)
    assert_allclose(placed["k-means"].centers, clusters.cluster_centers_)
    online = OnlineKMeans(4, random_state=inner).fit(ROWS)
    assert_allclose(placed["online"].centers, online.cluster_centers_)
    mixture = GaussianMixture(4, covariance_type="spherical", random_state=inner).fit(ROWS)
    assert_allclose(placed["mixture"].centers, mixture.means_)
    assert_allclose(placed["mixture"].covariances, mixture.covariances_)
    rows = {tuple(row) for row in ROWS}
    anchors = [tuple(row) for row in placed["random"].centers]
    assert len(set(anchors)) == 4
    assert rows.issuperset(anchors)
    assert_allclose(RBFFeatures(init=ROWS[:2]).fit(ROWS).units_.centers, ROWS[:2])


@pytest.mark.parametrize("kind", UNIT_TYPES)
def test_units_survive_the_way_to_a_flat_vector_and_back(kind):
    units = RBFFeatures(3, covariance_type=kind, random_state=0).fit(ROWS).units_
    again = units.layout.units(units.layout.flat(units))
    assert_allclose(again.centers, units.centers)
    assert_allclose(again.covariances, units.covariances, rtol=1e-9)
    there = units.moved(np.ones(3), 2.0).moved_back(np.ones(3), 2.0)
    assert_allclose(there.covariances, units.covariances)
    assert isinstance(there, RadialUnits)
    assert_allclose(units.activations(units.centers).diagonal(), 1.0)


@pytest.mark.parametrize(
    ("kind", "combination", "classes"),
    list(product(UNIT_TYPES, ("sum", "normalised", "competitive"), (False, True))),
)
def test_gradients_by_central_differences(kind, combination, classes):
    random = np.random.default_rng(1)
    layout = UnitLayout(4, 3, kind)
    gate = BellGate(layout) if combination == "sum" else RadialGate(layout)
    competitive = combination == "competitive"
    rule = "none" if competitive else "linear"
    model = LocalModel(gate, ConstantExperts(4, 2), 3, 2, rule, competitive, classes)
    numbers = random.normal(size=(40, 2))
    targets = Targets(np.eye(2)[(numbers[:, 0] > 0).astype(int)] if classes else numbers, classes)
    weights = random.uniform(0.5, 2.0, size=40)
    decay = np.full(model.n_parameters, 0.1)
    error = LocalError(model, ROWS, targets, weights, decay)
    theta = 0.5 * random.normal(size=model.n_parameters)
    gradient = error.value_and_gradient(theta)[1]
    assert_allclose(gradient, differences(error, theta), atol=1e-8)


def spherical_problem(combination):
    """Return a small problem, its parts and the gradient of the summed error."""
    random = np.random.default_rng(2)
    layout = UnitLayout(4, 3, "spherical")
    gate = BellGate(layout) if combination == "sum" else RadialGate(layout)
    rule = "intercept" if combination == "sum" else "none"
    model = LocalModel(gate, ConstantExperts(4, 2), 3, 2, rule, combination == "competitive")
    theta = 0.5 * random.normal(size=model.n_parameters)
    if combination == "competitive":
        theta[-1] = 0.0
    numbers = random.normal(size=(40, 2))
    error = LocalError(model, ROWS, Targets(numbers, False))
    gradient = model.split(40 * error.value_and_gradient(theta)[1])
    of_gate, of_experts, of_rule, _ = model.split(theta)
    centers, logarithms = layout.split(of_gate[: layout.n_parameters])
    squares = cdist(ROWS, centers, "sqeuclidean")
    bells = np.exp(-squares / (2 * np.exp(2 * logarithms[:, 0])))
    if combination != "sum":
        bells = bells * np.exp(of_gate[layout.n_parameters :])
        bells = bells / bells.sum(axis=1, keepdims=True)
    parts = {
        "m": centers, "s": np.exp(logarithms[:, 0]), "w": of_experts.reshape(4, 2),
        "w0": of_rule, "p": bells, "squares": squares, "r": numbers,
    }  # fmt: skip
    by_center, by_logarithm = layout.split(gradient[0][: layout.n_parameters])
    return parts, by_center, by_logarithm[:, 0], gradient[1].reshape(4, 2)


def pull(part, factors):
    """Return the sum of factors times (x - m) / s^2 for each unit."""
    deviations = (ROWS[:, None] - part["m"]) / part["s"][:, None] ** 2
    return np.einsum("nh,nhj->hj", factors, deviations)


def test_steps_of_a_sum_are_the_printed_ones():
    """Alpaydin 12.17-12.19; the slope by ln s is s times that by s."""
    part, by_center, by_logarithm, by_weight = spherical_problem("sum")
    errors = part["r"] - part["p"] @ part["w"] - part["w0"]
    assert_allclose(by_weight, -part["p"].T @ errors, atol=1e-10)
    factors = (errors @ part["w"].T) * part["p"]
    assert_allclose(by_center, -pull(part, factors), atol=1e-10)
    step = (factors * part["squares"]).sum(axis=0) / part["s"] ** 3
    assert_allclose(by_logarithm, -part["s"] * step, atol=1e-10)


def test_steps_of_normalised_units_are_the_printed_ones():
    """Alpaydin 12.26, 12.27 and the step of the spread that follows."""
    part, by_center, by_logarithm, by_weight = spherical_problem("normalised")
    outputs = part["p"] @ part["w"]
    errors = part["r"] - outputs
    assert_allclose(by_weight, -part["p"].T @ errors, atol=1e-10)
    factors = np.einsum("nk,nhk->nh", errors, part["w"] - outputs[:, None]) * part["p"]
    assert_allclose(by_center, -pull(part, factors), atol=1e-10)
    step = (factors * part["squares"]).sum(axis=0) / part["s"] ** 3
    assert_allclose(by_logarithm, -part["s"] * step, atol=1e-10)


def test_steps_of_competing_units_are_the_printed_ones():
    """Alpaydin 12.33-12.36: (r - w) f and (f - g)(x - m) / s^2."""
    part, by_center, by_logarithm, by_weight = spherical_problem("competitive")
    errors = part["r"][:, None] - part["w"]
    posteriors = part["p"] * np.exp(-0.5 * (errors**2).sum(axis=2))
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    assert_allclose(by_weight, -np.einsum("nh,nhk->hk", posteriors, errors), atol=1e-10)
    factors = posteriors - part["p"]
    assert_allclose(by_center, -pull(part, factors), atol=1e-10)
    step = (factors * part["squares"]).sum(axis=0) / part["s"] ** 3
    assert_allclose(by_logarithm, -part["s"] * step, atol=1e-10)


def test_fewer_rows_than_units_are_said_and_used():
    rows = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], 4, axis=0)
    with pytest.warns(DataWarning, match=r"n_units=20 is more than the 3 rows of X that differ"):
        features = RBFFeatures().fit(rows)
    assert features.transform(rows).shape == (12, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": [[0.0]]}, r"init: an array of shape \(1, 1\) where a row for each unit and 3"),
        ({"init": [["a", "b", "c"]]}, "init: an array of numbers is expected"),
        ({"init": ROWS[:1], "bandwidth": ["a"]}, "bandwidth: an array of numbers is expected"),
        ({"init": [[np.nan, 0, 0]]}, "init: centres must be finite"),
        ({"init": ROWS[:2], "bandwidth": [1.0, -1.0]}, "bandwidth: spreads must be positive"),
        ({"init": ROWS[:2], "bandwidth": [1.0]}, r"bandwidth: an array of shape \(1,\)"),
        (
            {"init": ROWS[:1], "covariance_type": "full", "bandwidth": -np.eye(3)[None]},
            "bandwidth: covariances must be symmetric and positive definite",
        ),
    ],
)
def test_units_that_cannot_be_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        RBFFeatures(**options).fit(ROWS)


def test_a_constant_column_and_missing_values():
    rows = np.column_stack([ROWS, np.ones(40)])
    for kind in UNIT_TYPES:
        features = RBFFeatures(4, covariance_type=kind, random_state=0).fit(rows)
        assert np.isfinite(features.transform(rows)).all()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RBFFeatures(4).fit(rows)


def test_steps_of_competing_units_of_classes_are_the_printed_ones():
    """Alpaydin 12.37-12.40: posteriors by the units' probabilities, and f (r - y)."""
    random = np.random.default_rng(5)
    model = LocalModel(
        RadialGate(UnitLayout(4, 3, "spherical")), ConstantExperts(4, 3), 3, 3, "none", True, True
    )
    theta = 0.5 * random.normal(size=model.n_parameters)
    r = np.eye(3)[random.integers(3, size=40)]
    error = LocalError(model, ROWS, Targets(r, True))
    value, gradient = error.value_and_gradient(theta)
    of_gate, of_experts, _, _ = model.split(theta)
    g = np.exp(model.gate.shares(of_gate, ROWS).logarithms)
    w = of_experts.reshape(4, 3)
    y = np.exp(w) / np.exp(w).sum(axis=1, keepdims=True)
    joint = g * np.prod(y[None] ** r[:, None, :], axis=2)
    assert value == pytest.approx(-np.log(joint.sum(axis=1)).mean())
    f = joint / joint.sum(axis=1, keepdims=True)
    by_weight = 40 * model.split(gradient)[1].reshape(4, 3)
    assert_allclose(by_weight, -np.einsum("nh,nhk->hk", f, r[:, None] - y), atol=1e-10)
    by_center = 40 * model.gate.layout.split(model.split(gradient)[0][:16])[0]
    centers, logarithms = model.gate.layout.split(of_gate[:16])
    part = {"m": centers, "s": np.exp(logarithms[:, 0])}
    assert_allclose(by_center, -pull(part, f - g), atol=1e-10)
