"""The joint posterior: its definition, invariances, draws, claims, and what could break it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from verulam.base import DataError
from verulam.statistics import (
    UNKNOWN_SPLITS,
    corrected_t_test,
    joint_posterior,
    rate_interval,
    split_posterior,
)
from verulam.statistics._several.joint_posterior import _largest_of_pairs

NAMES = ["line", "tree", "forest"]


def errors(seed=0, n_rows=80, repeats=3, rates=(0.2, 0.25, 0.3)):
    """Return errors of contestants that share what is hard in a row, and differ between repeats."""
    random = np.random.default_rng(seed)
    hard = random.normal(size=(1, n_rows, 1))
    noise = random.normal(size=(repeats, n_rows, len(rates)))
    return (0.8 * hard + 0.6 * noise > stats.norm.isf(rates)).astype(float)


def definition(losses):
    """Return S, W and F as they are defined, in plain NumPy."""
    repeats, n_rows, contestants = losses.shape
    rows = np.mean([np.cov(losses[r], rowvar=False) / n_rows for r in range(repeats)], axis=0)
    splits = np.zeros((contestants, contestants))
    for r in range(repeats):
        for i in range(n_rows):
            moved = losses[r, i] - losses[:, i].mean(axis=0)
            splits += np.outer(moved, moved)
    splits /= (repeats - 1) * n_rows**2
    return rows, splits, 2 * np.trace(rows) / (contestants * n_rows) * np.eye(contestants)


def pair_variance(covariance, one, other):
    return covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]


@pytest.fixture
def posterior():
    return joint_posterior(errors(), NAMES)


def test_matches_the_definition():
    losses = errors()
    rows, splits, floor = definition(losses)
    posterior = joint_posterior(losses, NAMES)
    assert_allclose(posterior.means, losses.mean(axis=(0, 1)))
    assert_allclose(posterior.rows, rows)
    assert_allclose(posterior.splits, splits)
    assert_allclose(posterior.covariance, rows + splits + floor)
    assert posterior.degrees_of_freedom == 79
    assert posterior.n_rows == 80
    assert_array_equal(posterior.repeats, [3, 3, 3])


def test_losses_are_not_averaged_over_repeats_first():
    losses = np.repeat(errors(repeats=1), 5, axis=0)
    assert_allclose(joint_posterior(losses).rows, joint_posterior(losses[:1]).rows)
    noisy = np.random.default_rng(0).random((20, 50, 2))
    averaged = np.cov(noisy.mean(axis=0), rowvar=False) / 50
    assert joint_posterior(noisy).rows[0, 0] > 10 * averaged[0, 0]


def test_intervals_are_those_of_the_t_distribution(posterior):
    covariance, means = posterior.covariance, posterior.means
    half = stats.t.isf(0.05, 79) * np.sqrt(covariance[1, 1])
    assert_allclose(posterior.interval("tree", 0.9), (means[1] - half, means[1] + half))
    difference = means[0] - means[2]
    half = stats.t.isf(0.025, 79) * np.sqrt(pair_variance(covariance, 0, 2))
    expected = (difference, difference - half, difference + half)
    assert_allclose(posterior.difference("line", "forest"), expected)
    assert_allclose(posterior.standard_errors, posterior.standard_errors.T)
    assert_array_equal(np.diag(posterior.standard_errors), 0)


def test_probabilities_of_a_pair_are_those_of_the_t_distribution(posterior):
    margin = 0.02
    error = np.sqrt(pair_variance(posterior.covariance, 0, 1))
    ahead = posterior.means[1] - posterior.means[0]
    better = stats.t.sf((margin - ahead) / error, 79)
    worse = stats.t.cdf((-margin - ahead) / error, 79)
    expected = (better, 1 - better - worse, worse)
    assert_allclose(posterior.better_equal_worse("line", "tree", margin), expected)
    assert_allclose(posterior.better_equal_worse("tree", "line", margin), expected[::-1])
    assert posterior.better_equal_worse("line", "line", 0.0) == (0.0, 1.0, 0.0)
    assert_allclose(posterior.better_equal_worse("line", "tree", np.inf), (0, 1, 0))


def test_the_direction_turns_with_the_measure():
    less, greater = (
        joint_posterior(errors(), NAMES),
        joint_posterior(1 - errors(), NAMES, greater_is_better=True),
    )
    assert less.best == greater.best
    assert_allclose(less.covariance, greater.covariance)
    assert_allclose(
        less.better_equal_worse("line", "tree", 0.01),
        greater.better_equal_worse("line", "tree", 0.01),
    )
    assert_allclose(less.probabilities(0.01), greater.probabilities(0.01))
    one, other = less.claims(), greater.claims()
    assert one.drop(columns=["low", "high", "difference", "adjusted_p"]).equals(
        other.drop(columns=["low", "high", "difference", "adjusted_p"])
    )
    assert_allclose(one["adjusted_p"], other["adjusted_p"])


def test_order_of_rows_repeats_and_contestants_does_not_matter():
    losses = errors()
    whole = joint_posterior(losses, NAMES)
    shuffled = joint_posterior(losses[::-1, np.random.default_rng(1).permutation(80)], NAMES)
    assert_allclose(shuffled.covariance, whole.covariance, rtol=1e-10)
    order = [2, 0, 1]
    turned = joint_posterior(losses[:, :, order], [NAMES[place] for place in order])
    assert_allclose(turned.covariance, whole.covariance[np.ix_(order, order)])
    chances, other = whole.probabilities(0.01), turned.probabilities(0.01)
    assert_allclose(chances, other.loc[NAMES], atol=0.03)
    pairs = whole.claims().set_index(["better", "worse"])["adjusted_p"]
    others = turned.claims().set_index(["better", "worse"])["adjusted_p"]
    assert_allclose(pairs.sort_index(), others.sort_index(), atol=0.02)


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12, 1e120])
def test_shift_and_scale_change_nothing_else(factor):
    losses = errors()
    plain, moved = joint_posterior(losses, NAMES), joint_posterior(factor * (losses + 3), NAMES)
    assert_allclose(moved.covariance, factor**2 * plain.covariance, rtol=1e-9)
    assert_allclose(moved.means, factor * (plain.means + 3))
    before, after = plain.probabilities(0.02), moved.probabilities(0.02 * factor)
    assert_allclose(after[["best", "within"]], before[["best", "within"]], atol=1e-3)
    assert_allclose(moved.claims()["adjusted_p"], plain.claims()["adjusted_p"], atol=1e-3)


def test_draws_give_the_probability_of_the_better_of_two():
    losses = errors(rates=(0.2, 0.22), n_rows=150)
    posterior = joint_posterior(losses, ["line", "tree"])
    ahead = posterior.means[1] - posterior.means[0]
    # Probabilities of being the best are drawn with 0.6 of the covariance.
    error = np.sqrt(0.6 * pair_variance(posterior.covariance, 0, 1))
    chances = posterior.probabilities(0.01)
    assert chances.loc["line", "best"] == pytest.approx(stats.t.cdf(ahead / error, 149), abs=0.02)
    within = stats.t.cdf((0.01 - ahead) / error, 149)
    assert chances.loc["tree", "within"] == pytest.approx(within, abs=0.02)


def test_draws_have_the_posterior_they_are_drawn_from(posterior):
    draws = posterior.draws
    assert_allclose(draws.mean(axis=0), posterior.means, atol=0.004)
    freedom = posterior.degrees_of_freedom
    spread = np.cov(draws, rowvar=False) * (freedom - 2) / freedom
    assert_allclose(spread, posterior.covariance, atol=0.05 * posterior.covariance.max())


def test_probabilities_sum_to_one_and_grow_with_the_margin(posterior):
    none, some, everything = (posterior.probabilities(margin) for margin in (0.0, 0.03, 10.0))
    assert none["best"].sum() == pytest.approx(1)
    assert_allclose(none["best"], none["within"])
    assert (some["within"] >= none["within"]).all()
    assert (everything["within"] == 1).all()
    assert (none["regret"] >= 0).all()
    assert none["regret"].idxmin() == posterior.best
    gaps = none["regret"].to_numpy()[:, None] - none["regret"].to_numpy()[None, :]
    assert_allclose(gaps, posterior.means[:, None] - posterior.means[None, :], atol=0.005)


def test_those_that_are_level_share_the_probability_of_being_the_best():
    posterior = joint_posterior(np.full((2, 10, 4), 0.5))
    assert_allclose(posterior.probabilities(0.0)["best"], 0.25)
    assert (posterior.claims()["adjusted_p"] == 1).all()


def test_copies_share_their_probability():
    losses = errors()[:, :, [0, 0, 2]]
    chances = joint_posterior(losses).probabilities(0.0)["best"]
    assert chances.iloc[0] == pytest.approx(chances.iloc[1], abs=0.05)


@pytest.mark.parametrize("measure_size", [1e-15, 1.0])
def test_small_measures_are_not_all_level(measure_size):
    losses = measure_size * np.random.default_rng(0).normal([1, 5], 0.1, size=(2, 50, 2))
    assert joint_posterior(losses).probabilities(0.0)["best"].iloc[0] > 0.999


def test_a_contestant_may_lack_repeats():
    losses = errors(repeats=4)
    losses[2:, :, 1] = np.nan
    posterior = joint_posterior(losses, NAMES)
    assert_array_equal(posterior.repeats, [4, 2, 4])
    assert posterior.means[1] == pytest.approx(losses[:2, :, 1].mean())
    together, early = definition(losses[:, :, [0, 2]]), definition(losses[:2])
    assert_allclose(posterior.rows[np.ix_([0, 2], [0, 2])], together[0])
    assert_allclose(posterior.splits[np.ix_([0, 2], [0, 2])], together[1])
    assert_allclose(posterior.rows[1], early[0][1])
    assert_allclose(posterior.splits[1], early[1][1])
    assert np.isfinite(posterior.draws).all()


def test_one_missing_row_takes_the_repeat_away():
    losses = errors(repeats=3)
    losses[1, 7, 0] = np.nan
    assert_array_equal(joint_posterior(losses).repeats, [2, 3, 3])


def test_contestants_without_a_common_repeat_are_taken_as_independent():
    losses = errors(repeats=4)[:, :, :2]
    losses[:2, :, 0] = np.nan
    losses[2:, :, 1] = np.nan
    posterior = joint_posterior(losses)
    assert posterior.rows[0, 1] == posterior.splits[0, 1] == 0


def test_one_repeat_takes_the_splits_for_half_of_the_rows():
    posterior = joint_posterior(errors(repeats=1))
    assert UNKNOWN_SPLITS == 0.5
    assert_allclose(posterior.splits, UNKNOWN_SPLITS * posterior.rows)
    losses = errors(repeats=3)
    losses[1:, :, 0] = np.nan
    posterior = joint_posterior(losses)
    assert posterior.splits[0, 0] == pytest.approx(0.5 * posterior.rows[0, 0])
    assert_allclose(posterior.splits[1:, 1:], definition(losses[:, :, 1:])[1])


def test_noise_of_the_splits_falls_with_the_repeats():
    losses = errors(repeats=4)
    losses[2:, :, 1] = np.nan
    posterior = joint_posterior(losses)
    assert posterior.split_noise[0, 0] == pytest.approx(1.13 * posterior.splits[0, 0] / 4)
    assert posterior.split_noise[0, 1] == pytest.approx(1.13 * posterior.splits[0, 1] / np.sqrt(8))
    others = posterior.other_means(2 * posterior.split_noise, 20_000, random_state=1)
    assert_allclose(others.mean(axis=0), posterior.means, atol=0.002)
    assert_allclose(others.var(axis=0), 2 * np.diag(posterior.split_noise), rtol=0.05)
    still = posterior.other_means(np.zeros((3, 3)), 5)
    assert_allclose(still, np.tile(posterior.means, (5, 1)))


def test_means_of_ones_own_take_the_place_of_those_of_the_values():
    posterior = joint_posterior(errors(), NAMES, means=[0.5, 0.4, 0.6])
    assert_array_equal(posterior.means, [0.5, 0.4, 0.6])
    assert posterior.best == "tree"
    assert_allclose(posterior.covariance, joint_posterior(errors()).covariance)


def test_heavy_tails_lower_the_degrees_of_freedom():
    random = np.random.default_rng(0)
    normal = random.normal(size=(1, 400, 3))
    kurtosis = np.median(stats.kurtosis(normal[0], fisher=False))
    degrees = joint_posterior(normal, heavy_tails=True).degrees_of_freedom
    assert degrees == pytest.approx(min(399, 2 * 400 / (kurtosis - 1)))
    heavy = random.standard_t(3, size=(1, 400, 3))
    fewer = joint_posterior(heavy, heavy_tails=True).degrees_of_freedom
    assert 4 <= fewer < degrees
    assert joint_posterior(heavy).degrees_of_freedom == 399
    assert joint_posterior(1e110 * heavy, heavy_tails=True).degrees_of_freedom == pytest.approx(
        fewer
    )
    assert joint_posterior(np.ones((1, 9, 2)), heavy_tails=True).degrees_of_freedom == 8
    assert joint_posterior(heavy[:, :3], heavy_tails=True).degrees_of_freedom == 2


class TestClaims:
    def test_every_pair_once_with_the_better_first(self, posterior):
        claims = posterior.claims()
        assert len(claims) == 3
        means = dict(zip(NAMES, posterior.means, strict=True))
        for row in claims.itertuples():
            assert row.difference == pytest.approx(means[row.worse] - means[row.better])
            assert row.difference >= 0
            assert (row.low + row.high) / 2 == pytest.approx(row.difference)

    def test_adjusted_p_is_that_of_the_t_test_for_two(self):
        losses = errors(n_rows=200, rates=(0.2, 0.3))
        posterior = joint_posterior(losses)
        rows, splits, floor = definition(losses)
        covariance = rows + 3 * splits + floor
        t = (posterior.means[1] - posterior.means[0]) / np.sqrt(pair_variance(covariance, 0, 1))
        assert posterior.claims()["adjusted_p"][0] == pytest.approx(
            2 * stats.t.sf(t, 199), abs=0.01
        )
        assert posterior.critical_value(0.1) == pytest.approx(stats.t.isf(0.05, 199), rel=0.03)

    def test_adjustment_raises_p_and_keeps_the_order(self):
        losses = errors(n_rows=200, rates=(0.2, 0.22, 0.27, 0.3, 0.3))
        posterior = joint_posterior(losses)
        rows, splits, floor = definition(losses)
        covariance = rows + 3 * splits + floor
        claims = posterior.claims()
        first, second = np.triu_indices(5, 1)
        t = np.abs(posterior.means[first] - posterior.means[second]) / np.sqrt(
            [pair_variance(covariance, i, j) for i, j in zip(first, second, strict=True)]
        )
        unadjusted = 2 * stats.t.sf(t, 199)
        adjusted = claims["adjusted_p"].to_numpy()
        assert (adjusted >= unadjusted - 0.01).all()
        assert (adjusted <= 10 * unadjusted + 0.01).all()
        assert (np.diff(adjusted[np.argsort(t)]) <= 0).all()
        assert_array_equal(claims["claimed"], adjusted < 0.05)
        low = claims["low"].to_numpy()
        assert_array_equal((low > 0)[np.abs(adjusted - 0.05) > 0.002], (adjusted < 0.05)[
            np.abs(adjusted - 0.05) > 0.002])  # fmt: skip

    def test_few_claims_where_all_are_equal(self):
        """Of exactly equal contestants, about one study in twenty may tell any two apart."""
        wrong = [
            joint_posterior(errors(seed, 60, 2, rates=(0.3,) * 4)).claims()["claimed"].any()
            for seed in range(300)
        ]
        # Below the level, since the noise of the splits counts thrice.
        assert np.mean(wrong) <= 0.05
        losses = [np.repeat(errors(seed, 60, 1, (0.3,) * 4), 2, axis=0) for seed in range(300)]
        stable = [joint_posterior(study).claims()["claimed"].any() for study in losses]
        assert 0.02 <= np.mean(stable) <= 0.08

    def test_looks_are_those_of_a_simulated_study(self):
        """The largest |t| over all looks, from draws of whole studies repeat by repeat."""
        posterior = joint_posterior(errors(rates=(0.3, 0.3), n_rows=400))
        split = pair_variance(1.13 * posterior.splits, 0, 1)
        whole = pair_variance(posterior.rows + 3 * posterior.splits, 0, 1) + 2 * posterior.floor
        random = np.random.default_rng(0)
        # Means of 2, 4 and 8 repeats of one study, of which the last has the whole variance.
        moves = random.normal(0, np.sqrt(split), size=(20_000, 8))
        common = random.normal(0, np.sqrt(whole - split / 8), size=20_000)
        means = [common + moves[:, :count].mean(axis=1) for count in (2, 4, 8)]
        largest = np.abs(means).max(axis=0) / np.sqrt(whole)
        for alpha in (0.05, 0.2):
            critical = posterior.critical_value(alpha, looks=(8, 2, 4))
            assert critical == pytest.approx(np.quantile(largest, 1 - alpha), rel=0.02)
            assert critical > 1.01 * posterior.critical_value(alpha)

    def test_looks_at_what_splits_do_not_move_cost_nothing(self):
        posterior = joint_posterior(np.repeat(errors(repeats=1), 2, axis=0))
        assert not posterior.splits.any()
        assert posterior.claims(looks=range(2, 11)).equals(posterior.claims())

    @pytest.mark.parametrize("looks", [(0, 3), (-1, 2), (1.5, 2), 3, "23", (None,)])
    def test_looks_are_numbers_of_repeats(self, looks):
        posterior = joint_posterior(errors())
        for method in (posterior.claims, posterior.critical_value):
            with pytest.raises(DataError, match="looks must be a list of whole numbers, 1 or more"):
                method(looks=looks)

    def test_large_differences_are_claimed(self):
        powers = [
            joint_posterior(errors(seed, 200, 2, rates=(0.2, 0.4))).claims()["claimed"].any()
            for seed in range(50)
        ]
        assert np.mean(powers) > 0.9

    def test_alpha_decides(self, posterior):
        claims = posterior.claims(alpha=0.999)
        assert claims["claimed"].equals(claims["adjusted_p"] < 0.999)
        assert claims["claimed"].any()
        with pytest.raises(DataError, match="alpha"):
            posterior.claims(alpha=1.0)

    def test_a_constant_difference_is_worth_no_more_than_the_rows(self):
        losses = np.random.default_rng(0).random((2, 5, 1)) + np.array([0.0, 10.0])
        posterior = joint_posterior(losses)
        value, _, high = posterior.difference("contestant 1", "contestant 0")
        assert value == pytest.approx(10)
        assert high - value == pytest.approx(value / 5 * stats.t.isf(0.025, 4))

    @pytest.mark.parametrize(("n_rows", "claimed"), [(2, False), (3, False), (50, True)])
    def test_where_nothing_varies_the_number_of_rows_decides(self, n_rows, claimed):
        losses = np.broadcast_to([0.0, 1.0], (2, n_rows, 2))
        claims = joint_posterior(losses).claims()
        assert claims["claimed"].tolist() == [claimed]
        expected = 2 * stats.t.sf(n_rows, n_rows - 1)
        assert claims["adjusted_p"][0] == pytest.approx(expected, abs=0.02)

    def test_perfect_copies_are_never_told_apart(self):
        losses = np.concatenate([np.zeros((2, 40, 2)), errors(n_rows=40, repeats=2)], axis=2)
        claims = joint_posterior(losses).claims()
        pair = claims[
            claims[["better", "worse"]].isin(["contestant 0", "contestant 1"]).all(axis=1)
        ]
        assert pair["adjusted_p"].tolist() == [1.0]

    def test_one_contestant_has_no_pairs(self):
        posterior = joint_posterior(errors()[:, :, :1])
        assert posterior.claims().empty
        assert posterior.critical_value() == np.inf
        assert posterior.probabilities(0.0)["best"].tolist() == [1.0]

    def test_of_many_contestants_fewer_draws_are_taken(self, monkeypatch):
        posterior = joint_posterior(errors(rates=np.linspace(0.2, 0.4, 12)))
        whole = posterior.claims()["adjusted_p"]
        monkeypatch.setattr("verulam.statistics._several.joint_posterior.MOST_DRAWN", 66 * 2000)
        fewer = posterior.claims()["adjusted_p"]
        assert_allclose(fewer * 2001, (fewer * 2001).round(), atol=1e-6)
        assert_allclose(fewer, whole, atol=0.04)

    def test_the_largest_is_taken_over_all_pairs(self):
        random = np.random.default_rng(2)
        draws, spreads = random.normal(size=(50, 5)), random.uniform(1, 2, size=(5, 5))
        spreads[1, 3] = 0.0
        first, second = np.triu_indices(5, 1)
        known = spreads[first, second] > 0
        first, second = first[known], second[known]
        ratios = np.abs(draws[:, first] - draws[:, second]) / spreads[first, second]
        assert_allclose(_largest_of_pairs(draws, spreads), ratios.max(axis=1))


class TestDivergence:
    """One contestant that went astray must not hide the differences of the others."""

    @pytest.fixture
    def losses(self):
        random = np.random.default_rng(0)
        return np.abs(random.normal([1.0, 1.3, 1.0], 0.3, size=(2, 200, 3)))

    @pytest.mark.parametrize("size", [1e3, 1e10, 1e100])
    def test_of_one(self, losses, size):
        alone = joint_posterior(losses[:, :, :2], ["line", "tree"])
        losses[:, :, 2] = size * np.random.default_rng(1).exponential(size=(2, 200))
        posterior = joint_posterior(losses, ["line", "tree", "astray"])
        assert_allclose(posterior.difference("tree", "line"), alone.difference("tree", "line"),
                        rtol=0.5)  # fmt: skip
        assert_allclose(posterior.interval("line"), alone.interval("line"), rtol=0.05)
        claims = posterior.claims().set_index(["better", "worse"])["claimed"]
        assert claims["line", "tree"]
        assert posterior.probabilities(0.01)["best"].iloc[0] > 0.99

    def test_the_draws_of_the_others_keep_their_spread(self, losses):
        losses[:, :, 2] = 1e12 * np.random.default_rng(1).exponential(size=(2, 200))
        posterior = joint_posterior(losses)
        freedom = posterior.degrees_of_freedom
        spread = posterior.draws[:, :2].var(axis=0) * (freedom - 2) / freedom
        assert_allclose(spread, np.diag(posterior.covariance)[:2], rtol=0.1)


class TestShares:
    def test_interval_is_wilsons_where_the_rows_tell_all(self):
        """With the variance of a share the interval is Wilson's, but for t in place of z."""
        losses = np.zeros((1, 2000, 1))
        losses[0, :300] = 1.0
        posterior = joint_posterior(losses)
        low, high = posterior.share_interval("contestant 0")
        share, variance = 0.15, float(posterior.covariance[0, 0])
        count = share * (1 - share) / variance
        wilson = rate_interval(round(0.15 * count), round(count), method="wilson")
        assert (low, high) == pytest.approx((wilson.low, wilson.high), abs=5e-4)

    def test_a_perfect_share_has_an_interval(self):
        posterior = joint_posterior(np.zeros((2, 50, 2)))
        low, high = posterior.share_interval("contestant 0")
        square = stats.t.isf(0.025, 49) ** 2
        assert low == 0.0
        assert high == pytest.approx(square / (50 + square))
        fewer = posterior.share_interval("contestant 0", n_rows=10)
        assert fewer[1] == pytest.approx(square / (10 + square))
        flawless = joint_posterior(np.ones((2, 50, 2))).share_interval("contestant 1")
        assert flawless == pytest.approx((1 - high, 1.0))

    def test_stays_between_0_and_1_and_holds_the_share(self):
        for seed in range(20):
            posterior = joint_posterior(errors(seed, 12, 2, rates=(0.05, 0.95)))
            for place, name in enumerate(posterior.names):
                low, high = posterior.share_interval(name)
                assert 0 <= low <= posterior.means[place] <= high <= 1


class TestSplits:
    SCORES = np.random.default_rng(4).normal([0.2, 0.25, 0.3], 0.03, size=(10, 3))

    def test_differences_are_those_of_the_corrected_t_test(self):
        posterior = split_posterior(self.SCORES, NAMES, test_share=0.1)
        test = corrected_t_test(self.SCORES[:, 0], self.SCORES[:, 2], test_share=0.1)
        value, low, high = posterior.difference("line", "forest")
        assert value == pytest.approx(np.mean(self.SCORES[:, 0] - self.SCORES[:, 2]))
        assert (low, high) == pytest.approx((test.interval.low, test.interval.high), abs=1e-6)
        assert posterior.degrees_of_freedom == 9

    def test_claims_of_two_have_its_p(self):
        scores = self.SCORES[:, :2]
        claims = split_posterior(scores, NAMES[:2], test_share=0.1).claims()
        p_value = corrected_t_test(*scores.T, test_share=0.1).p_value
        assert claims["adjusted_p"][0] == pytest.approx(p_value, abs=0.01)

    def test_splits_that_share_no_rows_need_no_correction(self):
        posterior = split_posterior(self.SCORES, NAMES, test_share=0.0)
        assert_allclose(posterior.rows, np.cov(self.SCORES, rowvar=False) / 10)
        test = stats.ttest_rel(self.SCORES[:, 0], self.SCORES[:, 1]).confidence_interval()
        assert posterior.difference("line", "tree")[1:] == pytest.approx(tuple(test), abs=1e-6)

    def test_copies_do_not_spoil_the_claims_of_others(self):
        """What rounding leaves of the variance of a copy must not pass for a difference."""
        copies = [self.SCORES[:, 0] / factor * factor for factor in (3, 7, 11, 13)]
        scores = np.column_stack([self.SCORES, *copies])
        plain = split_posterior(self.SCORES, NAMES, test_share=0.1)
        doubled = split_posterior(scores, [*NAMES, *"abcd"], test_share=0.1)
        assert doubled.critical_value() < 1.5 * plain.critical_value()
        assert doubled.claims().iloc[-1]["adjusted_p"] > 0.9

    def test_intervals_of_scores_that_never_vary_have_no_width(self):
        rows = [[-13.0, -1000.0, -900.0 - 100 * (seed % 2)] for seed in range(20)]
        posterior = split_posterior(
            rows, ["a", "b", "c"], test_share=0.0, greater_is_better=True, deterministic=True
        )
        assert posterior.difference("a", "b") == pytest.approx((987, 987, 987), abs=0.2)
        t = stats.ttest_rel(*np.transpose(rows)[[0, 2]]).confidence_interval()
        assert posterior.difference("a", "c")[1:] == pytest.approx((t.low, t.high), abs=0.2)

    def test_constant_differences_count_by_the_number_of_splits(self):
        scores = np.tile([[1.0, 2.0]], (2, 1))
        claims = split_posterior(scores, ["a", "b"], test_share=0.0).claims()
        assert claims["adjusted_p"][0] == pytest.approx(2 * stats.t.sf(2, 1), abs=0.02)

    @pytest.mark.parametrize(
        ("scores", "options"),
        [
            ([[0.1, 0.2]], {"test_share": 0.1}),
            ([0.1, 0.2], {"test_share": 0.1}),
            ([[0.1, np.nan], [0.2, 0.3]], {"test_share": 0.1}),
            ([[0.1, 1e200], [0.2, 0.3]], {"test_share": 0.1}),
            ([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]], {"test_share": 0.1}),
            ([[0.1, 0.2], [0.2, 0.3]], {"test_share": 1.0}),
        ],
    )
    def test_refuses(self, scores, options):
        with pytest.raises(DataError):
            split_posterior(scores, ["a", "b"], **options)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (np.zeros((2, 1, 2)), None),
        (np.zeros((2, 5)), None),
        (np.zeros((0, 5, 2)), None),
        (np.full((2, 5, 2), np.inf), None),
        (np.full((2, 5, 2), 1e160), None),
        (np.full((2, 5, 2), 1e-160), None),
        (np.full((2, 5, 2), np.nan), None),
        (np.zeros((2, 5, 2)), ["only one"]),
    ],
)
def test_refuses(values, names):
    with pytest.raises(DataError):
        joint_posterior(values, names)


def test_unknown_names_are_refused(posterior):
    with pytest.raises(DataError, match="'shrub' is none of line, tree, forest"):
        posterior.interval("shrub")


def test_two_rows_are_enough():
    posterior = joint_posterior([[[0.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]])
    assert posterior.degrees_of_freedom == 1
    assert not posterior.claims()["claimed"].any()
    assert np.isfinite(posterior.draws).all()


def test_the_largest_numbers_that_can_be_squared():
    losses = 1e150 * np.random.default_rng(0).random((2, 50, 3))
    posterior = joint_posterior(losses, heavy_tails=True)
    assert np.isfinite(posterior.covariance).all()
    assert np.isfinite(posterior.draws).all()
    assert 0 < posterior.claims()["adjusted_p"].min() <= 1
