"""Radial networks: solved, trained, mixed; equal to what they are made of."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from verulam.base import DataError, DataWarning, spawn_seeds
from verulam.linear import LogisticDiscriminant, MinimumSquaredError
from verulam.local import RBFFeatures, RBFNetworkClassifier, RBFNetworkRegressor
from verulam.local._radial.expectation import _log_determinant
from verulam.local._radial.mixing import _log_constant
from verulam.local._radial.network import least_squares
from verulam.local._radial.units import UnitLayout
from verulam.nonparametric import KernelSmoother

RANDOM = np.random.default_rng(0)
LINE = np.sort(RANDOM.uniform(-1, 1, size=80))[:, None]
WAVE = np.sin(6 * LINE[:, 0]) + 0.05 * RANDOM.normal(size=80)
TWO = np.column_stack([WAVE, LINE[:, 0] ** 2])
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
COMBINATIONS = ("sum", "normalised", "competitive")


def test_hybrid_regression_is_least_squares_on_the_bells():
    network = RBFNetworkRegressor(7, alpha=0, random_state=0).fit(LINE, WAVE)
    bells = np.column_stack([np.ones(80), network.units_.activations(LINE)])
    weights = np.linalg.lstsq(bells, WAVE, rcond=None)[0]
    assert_allclose(network.predict(LINE), bells @ weights, atol=1e-8)
    assert_allclose(np.append(network.intercept_, network.coef_), weights, rtol=1e-5)
    shares = RBFNetworkRegressor(7, combination="normalised", alpha=0, random_state=0)
    shares.fit(LINE, WAVE)
    table = shares.unit_shares(LINE)
    assert_allclose(table.sum(axis=1), 1.0)
    weights = np.linalg.lstsq(table, WAVE, rcond=None)[0]
    assert_allclose(shares.predict(LINE), table @ weights, atol=1e-8)
    assert_allclose(table @ shares.coef_, shares.predict(LINE), atol=1e-8)


def test_several_targets_share_the_units():
    network = RBFNetworkRegressor(7, alpha=0, random_state=0).fit(LINE, TWO)
    bells = np.column_stack([np.ones(80), network.units_.activations(LINE)])
    expected = bells @ np.linalg.lstsq(bells, TWO, rcond=None)[0]
    assert_allclose(network.predict(LINE), expected, atol=1e-8)
    assert network.coef_.shape == (2, 7)
    assert network.intercept_.shape == (2,)


@pytest.mark.parametrize("combination", ["sum", "normalised"])
def test_as_many_units_as_rows_interpolate(combination):
    rows = np.linspace(0, 1, 9)[:, None]
    values = RANDOM.normal(size=9)
    network = RBFNetworkRegressor(init=rows, bandwidth=0.1, alpha=0, combination=combination)
    assert_allclose(network.fit(rows, values).predict(rows), values, atol=1e-8)


def test_hybrid_classification_is_logistic_regression_on_the_bells():
    network = RBFNetworkClassifier(8, alpha=0.1, random_state=0).fit(IRIS, SPECIES)
    bells = network.units_.activations(IRIS)
    theirs = LogisticRegression(C=10.0, tol=1e-8, max_iter=5000).fit(bells, SPECIES)
    assert_allclose(network.predict_proba(IRIS), theirs.predict_proba(bells), atol=1e-4)


@pytest.mark.parametrize("layer", [LogisticDiscriminant(), MinimumSquaredError()])
def test_any_discriminant_can_stand_on_the_units(layer):
    network = make_pipeline(RBFFeatures(12, random_state=0), layer).fit(IRIS, SPECIES == 1)
    assert network.score(IRIS, SPECIES == 1) >= 0.9


def test_outputs_of_fixed_units_are_learned_online():
    """Least mean squares in plain Python, in the same order of rows."""
    values = (WAVE - WAVE.mean()) / WAVE.std()
    options = {"init": [[-0.5], [0.0], [0.5]], "bandwidth": 0.3, "alpha": 0, "random_state": 5}
    network = RBFNetworkRegressor(
        **options, solver="sgd", momentum=0, learning_rate=0.1, batch_size=1, max_iter=1
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        network.fit(LINE, values)
    order = np.arange(80)
    np.random.default_rng(spawn_seeds(5, 1)[0]).shuffle(order)
    bells = np.column_stack([np.ones(80), network.units_.activations(LINE)])
    weights = np.zeros(4)
    for row in order:
        weights += 0.1 * (values[row] - bells[row] @ weights) * bells[row]
    assert_allclose(np.append(network.intercept_, network.coef_), weights, atol=1e-10)
    assert_allclose(network.centers_, options["init"], atol=1e-12)


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_training_all_parameters_lowers_the_error(combination, kind):
    options = {"covariance_type": kind, "combination": combination, "random_state": 0}
    hybrid = RBFNetworkRegressor(6, **options).fit(LINE, WAVE)
    trained = RBFNetworkRegressor(6, training="gradient", **options).fit(LINE, WAVE)
    assert trained.loss_ < hybrid.loss_ - 0.01
    first = RBFNetworkClassifier(4, **options).fit(IRIS, SPECIES)
    second = RBFNetworkClassifier(4, training="gradient", **options).fit(IRIS, SPECIES)
    assert second.loss_ < first.loss_
    assert second.score(IRIS, SPECIES) > 0.95


def test_trained_units_follow_a_function_that_changes_in_one_place():
    rows = np.linspace(-3, 3, 300)[:, None]
    values = np.tanh(8 * (rows[:, 0] - 1)) + np.exp(-20 * (rows[:, 0] - 1.5) ** 2)
    hybrid = RBFNetworkRegressor(5, random_state=0).fit(rows, values)
    trained = RBFNetworkRegressor(5, training="gradient", random_state=0).fit(rows, values)
    assert trained.score(rows, values) > 0.99 > hybrid.score(rows, values)


def test_centres_stay_among_the_rows_and_spreads_within_bounds():
    network = RBFNetworkRegressor(
        6, training="gradient", solver="sgd", learning_rate=0.5, momentum=0, max_iter=20,
        n_iter_no_change=50, random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning):
        network.fit(LINE, WAVE)
    assert network.centers_.min() >= LINE.min() - 1e-9
    assert network.centers_.max() <= LINE.max() + 1e-9
    spreads = np.sqrt(network.covariances_) / LINE.std()
    assert (spreads > 9e-4).all()
    assert (spreads < 1.1e3).all()


def test_solvers_that_search_along_lines_end_below_where_they_began():
    start = RBFNetworkRegressor(6, random_state=0).fit(LINE, WAVE)
    errors, ways = ((start.predict(LINE) - WAVE) ** 2).mean(), set()
    for solver in ("lbfgs", "cg", "newton-cg"):
        network = RBFNetworkRegressor(
            6, training="gradient", solver=solver, max_iter=30, tol=0.0, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(LINE, WAVE)
        losses = network.history_["loss"].to_numpy()
        assert (np.diff(losses) <= 1e-12).all(), solver
        assert ((network.predict(LINE) - WAVE) ** 2).mean() < 0.9 * errors, solver
        ways.add(float(losses[3]))
    assert len(ways) == 3


def test_a_batch_of_all_rows_is_one_step_an_epoch():
    networks = [
        RBFNetworkRegressor(
            6, training="gradient", solver="sgd", batch_size=size, max_iter=5, random_state=0
        )
        for size in ("all", len(LINE))
    ]
    with pytest.warns(ConvergenceWarning):
        first, second = (network.fit(LINE, WAVE).predict(LINE) for network in networks)
    assert_allclose(first, second, rtol=1e-9)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_a_training_can_be_watched_and_ended(solver):
    network = RBFNetworkRegressor(6, training="gradient", solver=solver, random_state=0)
    losses = []
    for epoch in network.epochs(LINE, WAVE):
        losses.append(epoch.loss)
        assert np.isfinite(network.predict(LINE)).all()
        if epoch.number == 5:
            break
    assert losses[-1] < losses[0]
    assert network.history_["loss"].tolist() == losses
    assert network.n_iter_ == 5


def test_a_linear_target_needs_no_exceptions():
    rows = RANDOM.normal(size=(100, 2))
    target = rows @ [2.0, -1.0] + 3.0
    for training in ("hybrid", "gradient"):
        network = RBFNetworkRegressor(
            5, linear_part=True, training=training, tol=1e-8, random_state=0
        ).fit(rows, target)
        assert_allclose(network.coef_, 0.0, atol=1e-5)
        assert_allclose(network.linear_coef_, [2.0, -1.0], atol=1e-5)
        assert network.intercept_ == pytest.approx(3.0, abs=1e-5)


def test_rule_and_exceptions_are_solved_for_together():
    rows = RANDOM.normal(size=(100, 2))
    target = rows @ [2.0, -1.0] + np.exp(-((rows - 1) ** 2).sum(axis=1) / 0.1)
    network = RBFNetworkRegressor(
        init=[[1.0, 1.0], [0.0, 0.0]], bandwidth=0.3, linear_part=True, alpha=0
    ).fit(rows, target)
    design = np.column_stack([np.ones(100), rows, network.units_.activations(rows)])
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    assert_allclose(network.predict(rows), design @ weights, atol=1e-8)
    assert_allclose(network.linear_coef_, weights[1:3], atol=1e-7)
    assert network.intercept_ == pytest.approx(weights[0], abs=1e-7)
    classes = (target > 0).astype(int)
    plain = RBFNetworkClassifier(3, random_state=0).fit(rows, classes)
    joint = RBFNetworkClassifier(3, linear_part=True, random_state=0).fit(rows, classes)
    assert joint.loss_ < plain.loss_
    assert joint.linear_coef_.shape == (2, 2)
    assert_allclose(joint.intercept_.shape, (2,))


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_expectation_maximisation_never_lowers_the_joint_likelihood(kind):
    for learner, rows, target in (
        (RBFNetworkRegressor, LINE, WAVE),
        (RBFNetworkRegressor, LINE, TWO),
        (RBFNetworkClassifier, IRIS, SPECIES),
    ):
        network = learner(
            5, combination="competitive", training="em", covariance_type=kind, tol=1e-6,
            random_state=0,
        ).fit(rows, target)  # fmt: skip
        curve = network.log_likelihoods_
        assert len(curve) > 3
        assert (np.diff(curve) >= -1e-8 * np.abs(curve[:-1])).all()
        assert network.unit_priors_.sum() == pytest.approx(1.0)


def test_the_last_step_of_expectation_maximisation_has_weighted_means():
    """Means, covariances and outputs by posteriors (12.41-12.43) are where it settles."""
    network = RBFNetworkRegressor(
        4, combination="competitive", training="em", covariance_type="full", tol=1e-13,
        max_iter=3000, random_state=0,
    ).fit(LINE, WAVE)  # fmt: skip
    units, noise = network.units_, network.noise_
    variances = units.covariances[:, 0, 0]
    # The shares of a gate with priors are those of normal densities.
    likelihoods = np.exp(-0.5 * ((WAVE[:, None] - network.coef_) / noise) ** 2)
    posteriors = network.unit_shares(LINE) * likelihoods
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    mass = posteriors.sum(axis=0)
    assert_allclose(posteriors.T @ LINE / mass[:, None], units.centers, atol=1e-4)
    deviations = (LINE - units.centers.T) ** 2
    assert_allclose((posteriors * deviations).sum(axis=0) / mass, variances, atol=1e-4)
    assert_allclose(posteriors.T @ WAVE / mass, network.coef_, atol=1e-4)


def test_the_printed_steps_can_lower_the_likelihood():
    """Alpaydin 12.41-12.43 with the gate of 12.31 maximise no likelihood."""
    drops = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        x, r = random.normal(size=(2, 40))
        m, s, w = random.normal(size=3), np.ones(3), random.normal(size=3)
        before = -np.inf
        for _ in range(20):
            g = np.exp(-0.5 * ((x[:, None] - m) / s) ** 2)
            g /= g.sum(axis=1, keepdims=True)
            f = g * np.exp(-0.5 * (r[:, None] - w) ** 2)
            likelihood = np.log(f.sum(axis=1)).sum()
            drops += likelihood < before - 1e-9
            before = likelihood
            f /= f.sum(axis=1, keepdims=True)
            mass = f.sum(axis=0)
            m, w = f.T @ x / mass, f.T @ r / mass
            s = np.sqrt((f * (x[:, None] - m) ** 2).sum(axis=0) / mass + 1e-9)
    assert drops > 20


def test_descent_on_the_targets_follows_expectation_maximisation():
    options = {"combination": "competitive", "covariance_type": "diag", "random_state": 0}
    joint = RBFNetworkClassifier(5, training="em", **options).fit(IRIS, SPECIES)
    both = RBFNetworkClassifier(5, training="em-gradient", **options).fit(IRIS, SPECIES)
    assert_allclose(both.log_likelihoods_, joint.log_likelihoods_)
    assert both.loss_ < joint.loss_
    assert len(both.history_) > 0


def test_priors_of_units_are_equal_or_learned():
    options = {"combination": "competitive", "training": "gradient", "random_state": 0}
    equal = RBFNetworkRegressor(4, **options).fit(LINE, WAVE)
    learned = RBFNetworkRegressor(4, unit_priors="learned", **options).fit(LINE, WAVE)
    assert_allclose(equal.unit_priors_, 0.25)
    assert np.abs(learned.unit_priors_ - 0.25).max() > 0.01
    assert learned.n_parameters_ == equal.n_parameters_ + 4


def test_the_noise_of_competing_units_is_learned_or_stated():
    options = {"combination": "competitive", "training": "gradient", "random_state": 0}
    learned = RBFNetworkRegressor(4, **options).fit(LINE, WAVE)
    stated = RBFNetworkRegressor(4, noise_scale=0.5, **options).fit(LINE, WAVE)
    assert stated.noise_ == pytest.approx(0.5)
    assert learned.noise_ < 0.5
    assert learned.loss_ < stated.loss_
    both = RBFNetworkRegressor(
        4, noise_scale=0.5, combination="competitive", training="em", random_state=0
    )
    assert both.fit(LINE, WAVE).noise_ == pytest.approx(0.5)
    with pytest.raises(AttributeError, match="noise_ is there where units compete"):
        RBFNetworkRegressor(4).fit(LINE, WAVE).noise_  # noqa: B018 - the property is the test


def test_competing_units_are_more_local_than_cooperating_ones():
    options = {"training": "gradient", "random_state": 0}
    compete = RBFNetworkRegressor(6, combination="competitive", **options).fit(LINE, WAVE)
    cooperate = RBFNetworkRegressor(6, combination="normalised", **options).fit(LINE, WAVE)

    def entropy(network):
        shares = network.unit_shares(LINE) + 1e-300
        return -(shares * np.log(shares)).sum(axis=1).mean()

    assert entropy(compete) < entropy(cooperate)


def test_parameters_are_counted():
    """H d + H + (H + 1) K (Alpaydin ex. 5)."""
    network = RBFNetworkClassifier(5, training="gradient", random_state=0).fit(IRIS, SPECIES)
    assert network.n_parameters_ == 5 * 4 + 5 + 6 * 3
    hybrid = RBFNetworkClassifier(5, random_state=0).fit(IRIS, SPECIES)
    assert hybrid.n_parameters_ == 6 * 3


def test_all_rows_as_anchors_are_a_kernel_machine():
    """Weights (K^2 + a)^-1 K r; as the penalty vanishes, kernel ridge regression."""
    rows, values = LINE[::8], WAVE[::8] - WAVE[::8].mean()
    kernel = rbf_kernel(rows, gamma=1 / (2 * 0.2**2))
    network = RBFNetworkRegressor(
        init=rows, bandwidth=0.2, alpha=0.3, combination="sum"
    ).fit(rows, values)  # fmt: skip
    centred, targets = kernel - kernel.mean(axis=0), values - values.mean()
    weights = np.linalg.solve(centred.T @ centred + 0.3 * np.eye(10), centred.T @ targets)
    assert_allclose(network.coef_, weights, atol=1e-8)
    exact = RBFNetworkRegressor(init=rows, bandwidth=0.2, alpha=1e-12).fit(rows, values)
    ridge = KernelRidge(alpha=1e-12, kernel="rbf", gamma=1 / (2 * 0.2**2)).fit(rows, values)
    assert_allclose(exact.predict(rows), ridge.predict(rows), atol=1e-5)
    machine = SVC(C=1e3, gamma=0.5).fit(IRIS, SPECIES == 1)
    support = RBFNetworkClassifier(init=IRIS[machine.support_], bandwidth=1.0, alpha=0.01)
    agreement = support.fit(IRIS, SPECIES == 1).predict(IRIS) == machine.predict(IRIS)
    assert agreement.mean() > 0.95


def test_normalised_units_at_all_rows_are_the_kernel_smoother():
    shares = RBFFeatures(init=LINE, bandwidth=0.15, coding="shares").fit(LINE)
    smoother = KernelSmoother(bandwidth=0.15, kernel="gaussian").fit(LINE, WAVE)
    queries = np.linspace(-0.9, 0.9, 20)[:, None]
    assert_allclose(shares.transform(queries) @ WAVE, smoother.predict(queries), atol=1e-9)


def test_weights_stand_for_repeated_rows():
    centers, counts = [[-0.5], [0.0], [0.5]], RANDOM.integers(0, 3, size=80)
    repeated = np.repeat(np.arange(80), counts)
    for training, tolerance in (("hybrid", 1e-12), ("gradient", 1e-5)):
        options = {"init": centers, "bandwidth": 0.3, "training": training, "tol": 1e-8}
        weighted = RBFNetworkRegressor(**options).fit(LINE, WAVE, sample_weight=counts)
        plain = RBFNetworkRegressor(**options).fit(LINE[repeated], WAVE[repeated])
        assert_allclose(weighted.predict(LINE), plain.predict(LINE), atol=tolerance)


def test_the_best_of_several_starts_is_taken():
    one = RBFNetworkRegressor(4, init="random", random_state=1).fit(LINE, WAVE)
    best = RBFNetworkRegressor(4, init="random", n_init=8, random_state=1).fit(LINE, WAVE)
    assert best.loss_ < one.loss_


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_few_equal_or_constant_rows(combination):
    rows = np.repeat([[0.0, 1.0], [2.0, 1.0]], 3, axis=0)
    options = {"combination": combination, "training": "gradient", "random_state": 0}
    with pytest.warns(DataWarning, match="2 rows of X that differ"):
        network = RBFNetworkRegressor(5, **options).fit(rows, [0.0, 0, 0, 1, 1, 1])
    assert_allclose(network.predict(rows), [0, 0, 0, 1, 1, 1], atol=0.02)
    constant = RBFNetworkRegressor(2, **options).fit(rows, np.full(6, 7.0))
    assert_allclose(constant.predict(rows), 7.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"training": "em"}, "training='em' is for units that compete"),
        ({"training": "none"}, "training='none' takes all from rules"),
        ({"combination": "competitive", "linear_part": True}, "linear_part is added to a sum"),
        ({"rules": "IF x0 ~ 1 THEN 1"}, "take covariance_type='diag'"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RBFNetworkRegressor(4, **options).fit(LINE, WAVE)


def test_bad_targets_and_weights_are_refused():
    with pytest.raises(ValueError, match="y has one class alone, 1"):
        RBFNetworkClassifier(3).fit(LINE, np.ones(80, dtype=int))
    with pytest.raises(DataError, match="y has 79 entries for 80 rows"):
        RBFNetworkRegressor(3).fit(LINE, WAVE[:-1])
    with pytest.raises(DataError, match="sample_weight: all weights are zero"):
        RBFNetworkRegressor(3).fit(LINE, WAVE, sample_weight=np.zeros(80))
    with pytest.raises(ValueError, match="NaN"):
        RBFNetworkRegressor(3).fit(LINE, np.where(WAVE > 0, np.nan, WAVE))
    diverging = RBFNetworkRegressor(
        3, training="gradient", solver="sgd", learning_rate=1e6, random_state=0
    )
    with pytest.raises(DataError, match="Lower learning_rate"):
        diverging.fit(LINE, WAVE * 1e3)


def test_tables_are_read_by_name():
    table = pd.DataFrame({"depth": LINE[:, 0]})
    network = RBFNetworkRegressor(5, random_state=0).fit(table, WAVE)
    assert_allclose(network.predict(table), network.predict(table.copy()))
    assert network.extract_rules()[0].conditions[0].column == "depth"


def test_where_no_unit_is_active_the_default_answers():
    network = RBFNetworkRegressor(6, training="gradient", random_state=0).fit(LINE, WAVE)
    assert network.predict([[1e4]])[0] == pytest.approx(network.intercept_)
    classes = RBFNetworkClassifier(6, random_state=0).fit(IRIS, SPECIES)
    exponentials = np.exp(classes.intercept_)
    expected = exponentials / exponentials.sum()
    assert_allclose(classes.predict_proba(np.full((1, 4), 1e4))[0], expected, atol=1e-9)


def test_competing_units_mix_their_probabilities():
    network = RBFNetworkClassifier(
        5, combination="competitive", training="gradient", random_state=0
    ).fit(IRIS, SPECIES)  # fmt: skip
    outputs = np.exp(network.coef_.T)
    outputs /= outputs.sum(axis=1, keepdims=True)
    expected = network.unit_shares(IRIS) @ outputs
    assert_allclose(network.predict_proba(IRIS), expected, atol=1e-12)


def test_penalties_are_those_of_the_normal_equations():
    design, targets = RANDOM.normal(size=(30, 4)), RANDOM.normal(size=(30, 2))
    weights, decay = RANDOM.uniform(0.5, 2.0, size=30), np.array([0.0, 2.0, 0.0, 3.0])
    for row_weights in (None, weights):
        shares = np.ones(30) if row_weights is None else row_weights
        expected = np.linalg.solve(
            design.T @ (shares[:, None] * design) + np.diag(decay),
            design.T @ (shares[:, None] * targets),
        )
        assert_allclose(least_squares(design, targets, row_weights, decay), expected)


def test_a_linear_part_is_told_in_the_units_of_the_table():
    rows = RANDOM.normal(size=(90, 2)) * [3.0, 0.2] + [5.0, -1.0]
    classes = (rows[:, 0] > 5.0).astype(int) + (rows[:, 1] > -1.0)
    network = RBFNetworkClassifier(3, linear_part=True, random_state=0).fit(rows, classes)
    scores = (
        network.units_.activations(rows) @ network.coef_.T
        + rows @ network.linear_coef_.T + network.intercept_
    )  # fmt: skip
    likelihoods = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    assert_allclose(network.predict_proba(rows), expected, atol=1e-8)


@pytest.mark.parametrize("combination", ["sum", "normalised"])
@pytest.mark.parametrize("linear_part", [False, True])
def test_the_weights_give_the_predictions(combination, linear_part):
    options = {"combination": combination, "linear_part": linear_part, "random_state": 0}
    network = RBFNetworkRegressor(4, **options).fit(LINE, WAVE + 7.0)
    shares = network.units_.activations(LINE)
    if combination == "normalised":
        shares = network.unit_shares(LINE)
    values = shares @ network.coef_ + network.intercept_
    if linear_part:
        values = values + LINE @ network.linear_coef_
    assert_allclose(network.predict(LINE), values, atol=1e-8)


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_determinants_of_all_kinds_of_covariance(kind):
    layout = UnitLayout(1, 3, kind)
    covariance = {
        "spherical": np.float64(2.0),
        "diag": np.array([1.0, 2.0, 5.0]),
        "full": np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]]),
    }[kind]
    matrix = covariance if kind == "full" else np.diag(covariance * np.ones(3))
    assert _log_determinant(covariance, layout) == pytest.approx(np.log(np.linalg.det(matrix)))


def test_the_constant_of_the_noise_is_that_of_the_normal_density():
    noise = 0.3
    expected = -norm.logpdf(np.zeros(2), scale=noise).sum()
    assert _log_constant(2, noise) == pytest.approx(expected)
