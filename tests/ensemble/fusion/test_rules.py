"""Rules of combination, scales, majorities: worked numbers and plain formulas."""

from math import comb

import numpy as np
import pytest

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    MemberOutputs,
    ScoreScale,
    combine,
    majority_probability,
    normalise_scores,
    score_scale,
    weighted_median,
)

TABLE = dataset("learner_outputs").inputs.to_numpy()[:, None, :]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("sum", [0.2, 0.5, 0.3]),
        ("median", [0.2, 0.5, 0.3]),  # printed 0.4
        ("min", [0.0, 0.4, 0.2]),
        ("max", [0.4, 0.6, 0.4]),
        ("product", [0.0, 0.12, 0.024]),  # printed 0.032
        ("plurality", [1 / 3, 2 / 3, 0.0]),
    ],
)
def test_table_17_2_with_its_corrections(rule, expected):
    # The third learner is undecided between the first two classes; the first label wins.
    assert np.allclose(combine(TABLE, rule)[0], expected)
    if rule != "plurality":
        assert combine(TABLE, rule)[0].argmax() == 1


def test_weights_of_a_sum_and_of_votes():
    weights = [1.0, 2.0, 1.0]
    expected = (TABLE[0] + 2 * TABLE[1] + TABLE[2]) / 4
    assert np.allclose(combine(TABLE, "sum", weights=weights), expected)
    assert np.allclose(combine(TABLE, "plurality", weights=weights)[0], [0.25, 0.75, 0.0])
    assert np.allclose(combine(TABLE, "median", weights=[0, 1, 0]), TABLE[1])


def test_normalised_outputs_sum_to_one_and_a_veto_of_all_is_even():
    combined = combine(TABLE, "product", normalise=True)
    assert np.allclose(combined.sum(axis=1), 1)
    assert np.allclose(combined[0], [0, 0.12 / 0.144, 0.024 / 0.144])
    vetoed = combine(np.array([[[1.0, 0.0]], [[0.0, 1.0]]]), "product", normalise=True)
    assert vetoed.tolist() == [[0.5, 0.5]]


def test_numbers_are_combined_too_and_the_median_resists_an_outlier():
    numbers = np.array([[1.0, 2.0], [1.2, 2.2], [90.0, -90.0]])
    assert np.allclose(combine(numbers, "median"), [1.2, 2.0])
    assert np.allclose(combine(numbers), numbers.mean(axis=0))
    said = MemberOutputs(numbers[:, :, None], ("a", "b", "c"))
    assert np.allclose(combine(said, "max")[:, 0], [90.0, 2.2])


def test_a_member_that_abstains_does_not_vote():
    said = np.array([[[0.0, 0.0]], [[0.1, 0.9]]])
    assert combine(said, "plurality").tolist() == [[0.0, 0.5]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TABLE, "mode"), "rule='mode'"),
        ((np.empty((0, 2, 2)),), "one member or more"),
        ((np.ones(3),), "shape"),
        ((TABLE[:, 0], "plurality"), "numbers have none"),
    ],
)
def test_combine_refuses(arguments, message):
    with pytest.raises(DataError, match=message):
        combine(*arguments)


@pytest.mark.parametrize(
    ("rule", "weights", "message"),
    [
        ("max", [1, 1, 1], "weights go with"),
        ("sum", [1, 1], "3 finite numbers"),
        ("median", [1, -1, 1], "0 or more"),
        ("sum", [0, 0, 0], "sum to 0"),
    ],
)
def test_combine_refuses_weights(rule, weights, message):
    with pytest.raises(DataError, match=message):
        combine(TABLE, rule, weights=weights)


def test_weighted_median_is_that_of_repeated_values():
    random = np.random.default_rng(0)
    values, counts = random.normal(size=(7, 30)), random.integers(0, 5, size=7)
    repeated = np.sort(np.repeat(values, counts, axis=0), axis=0)
    lower = repeated[(counts.sum() - 1) // 2]
    assert np.allclose(weighted_median(values, counts.astype(float)), lower)


def test_scales_have_their_ranges_keep_order_and_know_their_formulas():
    scores = np.random.default_rng(1).normal(3.0, 2.0, size=50) ** 3
    for method in ("min_max", "z", "median", "tanh"):
        scaled = normalise_scores(scores, method)
        assert (np.argsort(scaled) == np.argsort(scores)).all()
        assert isinstance(score_scale(scores, method), ScoreScale)
    assert np.ptp(normalise_scores(scores)) == 1.0
    assert np.isclose(normalise_scores(scores, "z").std(), 1.0)
    middle = np.median(scores)
    assert np.allclose(
        normalise_scores(scores, "median"), (scores - middle) / np.median(abs(scores - middle))
    )
    tanh = normalise_scores(scores, "tanh")
    assert np.allclose(tanh, 0.5 * (np.tanh(0.01 * (scores - scores.mean()) / scores.std()) + 1))


def test_a_scale_of_some_rows_is_used_on_others_and_constants_stay_finite():
    scale = score_scale([0.0, 10.0])
    assert scale.apply([5.0, 20.0, -3.0]).tolist() == [0.5, 1.0, 0.0]
    assert np.isfinite(normalise_scores(np.full(4, 2.0), "z")).all()
    for bad, message in ((([1.0], "rank"), "method='rank'"), (([np.nan],), "finite")):
        with pytest.raises(DataError, match=message):
            score_scale(*bad)


def test_majorities_of_independent_learners():
    exact = {3: 0.648, 5: 0.68256, 7: 0.710208, 11: 0.753498, 21: 0.825622}
    for n_members, expected in exact.items():
        assert majority_probability(0.6, n_members) == pytest.approx(expected, abs=5e-7)
    assert np.allclose(majority_probability(0.7, [3, 5]), [0.784, 0.83692])
    assert np.allclose(majority_probability(0.5, [1, 3, 21]), 0.5)
    assert majority_probability(0.4, 5) == pytest.approx(0.31744)


def test_of_an_even_number_one_half_is_no_majority():
    direct = sum(comb(4, right) * 0.6**right * 0.4 ** (4 - right) for right in (3, 4))
    assert majority_probability(0.6, 4) == pytest.approx(direct)
    for p, n_members, message in ((1.2, 3, "between 0 and 1"), (0.5, 0, "1 or more")):
        with pytest.raises(DataError, match=message):
            majority_probability(p, n_members)
