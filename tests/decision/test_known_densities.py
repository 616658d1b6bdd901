"""KnownDensities: Bayes' rule, regions, errors and ROC curves in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LogisticRegression

from verulam.decision import (
    Estimate,
    KnownDensities,
    Partition,
    dichotomizer,
    log_odds,
    loss_table,
)
from verulam.measures import iso_cost, roc


@pytest.fixture
def attack():
    return KnownDensities(None, {"normal": stats.norm(0, 1), "attack": stats.norm(2, 1)})


def test_posteriors_follow_from_priors_and_densities():
    priors, parts = [0.2, 0.5, 0.3], [stats.norm(0, 1), stats.gamma(2), stats.norm(4, 2)]
    model = KnownDensities(priors, parts)
    x = np.linspace(-3, 9, 40)
    joint = np.column_stack([p * part.pdf(x) for p, part in zip(priors, parts, strict=True)])
    assert_allclose(model.evidence(x), joint.sum(axis=1))
    assert_allclose(model.posterior(x), joint / joint.sum(axis=1, keepdims=True))
    assert_array_equal(model.decide(x), joint.argmax(axis=1))


def test_likelihood_ratio_rule_is_the_largest_posterior():
    model = KnownDensities([0.3, 0.7], [stats.norm(0, 1), stats.norm(1, 2)])
    x = np.linspace(-6, 6, 101)
    chosen_by_ratio = np.where(model.likelihood_ratio(x) > 0.7 / 0.3, 0, 1)
    assert_array_equal(model.decide(x), chosen_by_ratio)
    assert_allclose(model.likelihood_ratio(x, 1, 0), 1 / model.likelihood_ratio(x))


def test_two_normals_err_as_often_as_the_tables_say(attack):
    assert_allclose(attack.bayes_error(), 0.158655, atol=5e-7)
    assert_allclose(attack.regions().boundaries, [1.0])


@pytest.mark.parametrize("threshold", [-1.0, 0.5, 0.99, 1.01, 3.0])
def test_every_other_threshold_is_worse(attack, threshold):
    error = attack.error_of(threshold)
    assert error > attack.bayes_error()
    assert_allclose(error, (stats.norm.sf(threshold) + stats.norm.cdf(threshold - 2)) / 2)


def test_regions_of_unequal_variances_are_multiply_connected():
    model = KnownDensities(None, {"narrow": stats.norm(0, 1), "wide": stats.norm(0, 2)})
    edge = np.sqrt(2 * np.log(2) / (1 - 1 / 4))
    regions = model.regions()
    assert_allclose(regions.intervals("narrow"), [(-edge, edge)])
    assert_allclose(regions.intervals("wide"), [(-np.inf, -edge), (edge, np.inf)])
    inside = 2 * stats.norm.cdf(edge) - 1
    assert_allclose(
        model.bayes_error(), 0.5 * (1 - inside) + 0.5 * (2 * stats.norm.cdf(edge / 2) - 1)
    )


def test_gamma_classes_have_the_boundary_of_the_formula():
    # p1/p2 of gamma densities with shapes 2 and 4 is 6 / x^2.
    model = KnownDensities(None, [stats.gamma(2), stats.gamma(4)])
    regions = model.regions()
    assert_allclose(regions.boundaries, [0, np.sqrt(6)], atol=1e-12)
    assert regions.labels.tolist() == [None, 0, 1]


def test_poisson_classes_sum_over_the_integers():
    priors, parts = [0.3, 0.7], [stats.poisson(3), stats.poisson(7)]
    model = KnownDensities(priors, parts)
    k = np.arange(200)
    joint = np.column_stack([p * part.pmf(k) for p, part in zip(priors, parts, strict=True)])
    assert_allclose(model.bayes_error(), 1 - joint.max(axis=1).sum())
    boundary = (np.log(0.3 / 0.7) + 4) / np.log(7 / 3)
    assert model.regions().boundaries.tolist() == [np.floor(boundary) + 0.5]
    assert_allclose(model.error_of(5), 0.3 * parts[0].sf(4) + 0.7 * parts[1].cdf(4))


def test_priors_alone_decide_before_anything_is_seen():
    model = KnownDensities([0.4, 0.6], {"a": stats.norm(), "b": stats.norm(1)})
    assert model.decide_unseen() == "b"
    assert model.decide_unseen([[0, 1], [2, 0]]) == "a"
    assert model.decide_unseen(reject_cost=0.1) == "reject"


def test_reject_zone_is_where_the_posterior_is_small(attack):
    cost = 0.2
    half = np.log((1 - cost) / cost) / 2
    regions = attack.regions(reject_cost=cost)
    assert_allclose(regions.intervals("reject"), [(1 - half, 1 + half)])
    outcome = attack.outcome_of(regions)
    assert_allclose(outcome.error, stats.norm.sf(1 + half))
    assert_allclose(outcome.reject, stats.norm.cdf(1 + half) - stats.norm.cdf(1 - half))
    assert_allclose(attack.bayes_risk(reject_cost=cost), outcome.error + cost * outcome.reject)
    assert attack.bayes_risk(reject_cost=cost) < attack.bayes_error()
    assert_allclose(attack.bayes_risk(reject_cost=0.6), attack.bayes_error())


def test_losses_move_the_boundary(attack):
    # Normal where P(attack) * 9 < P(normal): the log ratio 2x - 2 is below -log 9.
    loss = [[0, 9], [1, 0]]
    assert_allclose(attack.regions(loss).boundaries, [1 - np.log(9) / 2])
    best = attack.bayes_risk(loss)
    table = loss_table(attack.classes, loss)
    for threshold in [-1.0, 0.0, 1.0]:
        assert attack.outcome_of(threshold).risk(table) > best


@pytest.mark.parametrize("kind", ["risk", "posterior", "log posterior", "joint", "log joint"])
def test_all_discriminants_choose_alike(attack, kind):
    x = np.linspace(-3, 5, 30)
    values = attack.discriminants(x, kind)
    assert_array_equal(attack.classes[values.argmax(axis=1)], attack.decide(x))


def test_joint_discriminants_are_prior_times_density(attack):
    model = KnownDensities([0.3, 0.7], attack.densities)
    x = np.linspace(-3, 5, 30)
    joint = np.column_stack([0.3 * stats.norm(0).pdf(x), 0.7 * stats.norm(2).pdf(x)])
    assert_allclose(model.discriminants(x, "joint"), joint)
    assert_allclose(model.discriminants(x, "log joint"), np.log(joint))
    evidence = joint.sum(axis=1, keepdims=True)
    assert_allclose(model.discriminants(x, "posterior"), joint / evidence)
    assert_allclose(model.discriminants(x, "log posterior"), np.log(joint / evidence))
    assert_allclose(model.discriminants(x, "risk"), joint / evidence - 1.0)


def test_the_dichotomizer_is_the_rule_of_two_classes(attack):
    """The first class where the difference is positive; log odds are ratio times priors."""
    model = KnownDensities([0.3, 0.7], attack.densities, classes=["normal", "attack"])
    x = np.linspace(-3, 5, 31)
    decisions = model.decide(x)
    for kind in ("risk", "posterior", "log posterior", "joint", "log joint"):
        signs = dichotomizer(model.discriminants(x, kind)) > 0
        assert_array_equal(np.where(signs, "normal", "attack"), decisions)
    assert_allclose(model.log_odds(x), np.log(0.3 / 0.7) + 2.0 - 2.0 * x)
    assert_allclose(model.log_odds(x), log_odds(model.posterior(x)))
    assert model.log_odds(60.0) == pytest.approx(np.log(0.3 / 0.7) - 118.0)
    with pytest.raises(ValueError, match="needs two discriminants, but there are 3"):
        KnownDensities(None, [stats.norm(0), stats.norm(1), stats.norm(2)]).log_odds(0.0)


def test_rules_of_any_kind_have_the_same_error(attack):
    x, y = attack.sample(400, random_state=0)
    classifier = LogisticRegression().fit(x[:, np.newaxis], y)
    boundary = -classifier.intercept_[0] / classifier.coef_[0, 0]
    error = attack.error_of(boundary)
    assert_allclose(attack.error_of(classifier), error)
    assert_allclose(attack.error_of(Partition([boundary], ["normal", "attack"])), error)
    by_function = attack.error_of(lambda v: np.where(v < boundary, "normal", "attack"))
    assert_allclose(by_function, error)


@pytest.mark.parametrize("rule", [None, 0.3])
def test_simulation_agrees_with_quadrature(attack, rule):
    estimate = attack.simulated_error(rule, size=50_000, random_state=1)
    assert abs(estimate.value - attack.outcome_of(rule).error) < 4 * estimate.standard_error
    assert estimate == attack.simulated_error(rule, size=50_000, random_state=1)


def test_simulated_standard_error_is_the_spread_of_simulations(attack):
    estimates = [attack.simulated_error(size=500, random_state=seed) for seed in range(200)]
    spread = np.std([estimate.value for estimate in estimates])
    assert_allclose(np.mean([estimate.standard_error for estimate in estimates]), spread, rtol=0.15)


def test_many_inputs_are_simulated():
    mean = np.full(5, 2 / np.sqrt(5))
    model = KnownDensities(
        None, [stats.multivariate_normal(np.zeros(5)), stats.multivariate_normal(mean)]
    )
    estimate = model.simulated_error(size=50_000, random_state=0)
    assert abs(estimate.value - stats.norm.cdf(-1)) < 4 * estimate.standard_error
    with pytest.raises(ValueError, match="one or two inputs, but there are 5: use simulated_error"):
        model.bayes_error()


def test_roc_of_two_normals(attack):
    curve = attack.roc()
    assert_allclose(curve.area, 0.92135, atol=5e-6)
    assert_allclose(curve.tp_rate, stats.norm.sf(stats.norm.isf(curve.fp_rate) - 2), atol=1e-9)
    best = iso_cost(curve)
    assert_allclose(best.threshold, 1.0, atol=2e-3)
    assert_allclose(best.cost, attack.bayes_error(), atol=1e-6)


def test_roc_of_integers_counts_ties_half():
    few, many = stats.poisson(3), stats.poisson(7)
    k = np.arange(100)
    exact = many.pmf(k) @ (few.cdf(k - 1) + few.pmf(k) / 2)
    curve = KnownDensities(None, [few, many]).roc()
    assert_allclose(curve.area, exact)
    assert_allclose(curve.at(5), [few.sf(4), many.sf(4)])


def test_sample_roc_approaches_that_of_the_densities(attack):
    x, y = attack.sample(20_000, random_state=0)
    assert_allclose(roc(y, x, positive="attack").area, attack.roc().area, atol=0.006)
    assert_allclose(attack.roc(positive="normal").area, 1 - attack.roc().area, atol=1e-6)


def test_bulk_covers_every_class(attack):
    low, high = attack.bulk(0.998)
    assert_allclose([low, high], [stats.norm.ppf(0.001), 2 + stats.norm.isf(0.001)], atol=0.2)


def test_samples_follow_the_priors():
    model = KnownDensities([0.1, 0.9], [stats.norm(0, 1), stats.norm(9, 1)])
    x, y = model.sample(5000, random_state=0)
    assert abs((y == 0).mean() - 0.1) < 0.015
    assert abs(x[y == 1].mean() - 9) < 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6], [stats.norm(), stats.norm(1)]), "priors must sum to one"),
        (([-0.5, 1.5], [stats.norm(), stats.norm(1)]), "priors must not be negative"),
        ((None, [stats.norm()]), "two or more, but there are 1 and 1"),
        ((None, [stats.norm(), stats.poisson(1)]), "all continuous or all discrete"),
    ],
)
def test_bad_models_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        KnownDensities(*arguments)


def test_names_are_given_once():
    with pytest.raises(ValueError, match="the dictionary of densities names them"):
        KnownDensities(None, {"a": stats.norm(), "b": stats.norm()}, classes=["a", "b"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.posterior([0.5, 9.0]), r"evidence at position \(1,\) is zero"),
        (lambda m: m.error_of("1.0"), "rule must be None, a threshold, a Partition"),
        (lambda m: m.sample(0), "size must be a whole number of draws"),
        (lambda m: m.likelihood_ratio(0.5, "z"), "'z' is not one of the classes"),
    ],
)
def test_bad_requests_are_refused(call, message):
    model = KnownDensities(None, {"a": stats.uniform(0, 1), "b": stats.uniform(0.5, 1)})
    with pytest.raises(ValueError, match=message):
        call(model)


def test_requests_for_one_input_are_refused_in_the_plane():
    flat = stats.multivariate_normal([0, 0])
    model = KnownDensities(None, [flat, flat])
    with pytest.raises(ValueError, match="regions is for one input"):
        model.regions()
    with pytest.raises(ValueError, match="needs two classes and one input"):
        model.roc()
    with pytest.raises(ValueError, match="threshold is a rule for two classes and one input"):
        model.error_of(1.0)
    with pytest.raises(ValueError, match="A Partition is a rule for one input, not 2"):
        model.error_of(Partition([0.0], [0, 1]))
    with pytest.raises(ValueError, match=r"x must have 2 columns, but its shape is \(3,\)"):
        model.posterior([1.0, 2.0, 3.0])


def test_what_cannot_be_sampled_says_so():
    model = KnownDensities(None, [stats.norm(), lambda x: stats.norm.pdf(x, 1)])
    with pytest.raises(ValueError, match=r"density of class .*1.* cannot be sampled"):
        model.simulated_error(random_state=0)


def test_an_estimate_tells_its_size():
    model = KnownDensities(None, [stats.norm(0, 1), stats.norm(2, 1)])
    estimate = model.simulated_error(size=400, random_state=0)
    assert isinstance(estimate, Estimate)
    assert estimate.size == 400
    assert 0 < estimate.standard_error < 0.5 / np.sqrt(400)
