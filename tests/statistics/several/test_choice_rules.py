"""Rules of choice on means made by hand, and how firm a choice is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.base import DataError
from verulam.statistics import SELECTION_RULES, JointPosterior, Selection, joint_posterior, select

NAMES = ("baseline", "line", "tree", "forest")
GRADES = [0, 1, 2, 4]


def posterior_of(means, error=0.02, splits=0.0, repeats=2, *, greater=False, names=NAMES):
    """Return a posterior with these means, in which every difference has one standard error."""
    count = len(means)
    return JointPosterior(
        tuple(names)[:count],
        np.array(means, dtype=float),
        (error**2 / 2 - splits) * np.eye(count),
        splits * np.eye(count),
        0.0,
        np.full(count, repeats),
        99,
        1_000_000,
        greater,
    )


def chosen_by(rule, means, *, margin=0.01, error=0.02, **options):
    posterior = posterior_of(means, error, greater=options.pop("greater", False))
    return select(posterior, GRADES[: len(means)], margin=margin, rule=rule, **options).name


@pytest.mark.parametrize(
    ("means", "name"),
    [
        # behind by 0, margin .01, half a standard error .01
        ([0.4, 0.205, 0.2, 0.199], "line"),
        ([0.4, 0.2095, 0.2, 0.2], "line"),
        ([0.4, 0.211, 0.209, 0.2], "tree"),
        ([0.4, 0.3, 0.3, 0.2], "forest"),
        ([0.205, 0.3, 0.3, 0.2], "baseline"),
        ([0.2, 0.2, 0.2, 0.2], "baseline"),
        ([0.1, 0.2, 0.2, 0.2], "baseline"),
    ],
)
def test_the_simplest_within_the_margin_and_half_a_standard_error(means, name):
    assert chosen_by("half standard error", means) == name


def test_the_smaller_of_margin_and_half_a_standard_error_counts():
    means = [0.4, 0.206, 0.3, 0.2]
    assert chosen_by("half standard error", means, margin=0.01, error=0.02) == "line"
    assert chosen_by("half standard error", means, margin=0.005, error=0.02) == "forest"
    assert chosen_by("half standard error", means, margin=0.01, error=0.011) == "forest"


def test_without_a_margin_only_equal_means_are_level():
    assert chosen_by("half standard error", [0.4, 0.2001, 0.2, 0.2], margin=0.0) == "tree"
    assert chosen_by("half standard error", [0.4, 0.1 + 0.2, 0.3, 0.4], margin=0.0) == "line"


def test_with_any_margin_half_a_standard_error_decides():
    assert chosen_by("half standard error", [0.4, 0.2099, 0.3, 0.2], margin=np.inf) == "line"
    assert chosen_by("half standard error", [0.4, 0.2101, 0.3, 0.2], margin=np.inf) == "forest"


def test_one_standard_error_knows_no_margin():
    assert chosen_by("one standard error", [0.4, 0.219, 0.3, 0.2], margin=0.0) == "line"
    assert chosen_by("one standard error", [0.4, 0.221, 0.3, 0.2], margin=1.0) == "forest"


def test_best_mean_knows_no_simplicity():
    assert chosen_by("best mean", [0.2001, 0.2, 0.3, 0.19999]) == "forest"
    assert chosen_by("best mean", [0.3, 0.3, 0.2, 0.2]) == "tree"


def test_within_a_grade_the_better_mean_decides():
    posterior = posterior_of([0.206, 0.204, 0.2])
    assert select(posterior, [1, 1, 4], margin=0.01).name == "line"
    assert select(posterior, [1, 2, 4], margin=0.01).name == "baseline"
    equal = posterior_of([0.3, 0.1 + 0.2, 0.5])
    assert select(equal, [1, 1, 1], margin=0.01).name == "baseline"
    equal = posterior_of([0.1 + 0.2, 0.3, 0.5])
    assert select(equal, [1, 1, 1], margin=0.01).name == "baseline"


def test_complexity_may_be_any_number():
    posterior = posterior_of([0.2, 0.2, 0.2])
    assert select(posterior, [3.5, -2.0, 1e9], margin=0.01).name == "line"


def test_greater_is_better_turns_the_means():
    for rule in ("half standard error", "one standard error", "best mean"):
        for means in ([0.4, 0.205, 0.2, 0.199], [0.4, 0.3, 0.3, 0.2], [0.4, 0.215, 0.21, 0.2]):
            turned = [1 - mean for mean in means]
            assert chosen_by(rule, turned, greater=True) == chosen_by(rule, means)


def test_only_those_that_are_eligible_are_chosen():
    means = [0.3, 0.205, 0.2, 0.1]
    assert chosen_by("best mean", means) == "forest"
    some = [True, True, True, False]
    assert chosen_by("best mean", means, eligible=some) == "tree"
    assert chosen_by("half standard error", means, eligible=some) == "line"
    selection = select(
        posterior_of(means, splits=1e-4), GRADES, margin=0.01, eligible=[True, False, True, False]
    )
    assert selection.shares["line"] == selection.shares["forest"] == 0


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e9, 1e100])
def test_the_scale_of_the_measure_does_not_matter(scale):
    for means in ([0.4, 0.205, 0.2, 0.199], [0.4, 0.3, 0.3, 0.2], [0.4, 0.215, 0.21, 0.2]):
        plain = select(posterior_of(means), GRADES, margin=0.01)
        posterior = posterior_of(np.multiply(means, scale), 0.02 * scale)
        assert select(posterior, GRADES, margin=0.01 * scale).name == plain.name


def test_one_that_diverges_leaves_the_others_as_they_are():
    posterior = posterior_of([1e12, 0.3, 0.21, 0.2])
    assert select(posterior, GRADES, margin=1.0).name == "tree"


def test_without_noise_of_the_splits_all_others_agree():
    selection = select(posterior_of([0.4, 0.21, 0.2, 0.2]), GRADES, margin=0.01)
    assert selection.agreement == selection.settled == 1
    assert selection.shares[selection.name] == 1
    assert sum(selection.shares.values()) == pytest.approx(1)


def test_agreement_is_that_of_two_studies_with_the_same_noise():
    """Between two, the better mean stays better with the chance of a normal distribution."""
    splits = 1e-4
    posterior = posterior_of([0.2, 0.215], error=0.02, splits=splits, repeats=3)
    selection = select(posterior, [1, 1], margin=0.0, max_repeats=12)
    noise = 1.13 * splits / 3
    expected = stats.norm.cdf(0.015 / np.sqrt(2 * 2 * noise))
    assert selection.agreement == pytest.approx(expected, abs=0.03)
    later = stats.norm.cdf(0.015 / np.sqrt(2 * noise * (1 - 3 / 12)))
    assert selection.settled == pytest.approx(later, abs=0.03)
    assert_allclose(sum(selection.shares.values()), 1)


def test_a_study_that_goes_on_until_it_is_settled_has_less_noise():
    """One that would choose otherwise ends at its last repeat: its noise is that of the last."""
    splits = 1e-4
    posterior = posterior_of([0.2, 0.215], error=0.02, splits=splits, repeats=3)
    options = {"margin": 0.0, "max_repeats": 12}
    selection = select(posterior, [1, 1], sequential=True, **options)
    expected = stats.norm.cdf(0.015 / np.sqrt(2 * (1.13 * splits / 3 + 1.13 * splits / 12)))
    assert selection.agreement == pytest.approx(expected, abs=0.03)
    assert selection.settled == select(posterior, [1, 1], **options).settled
    last = select(posterior, [1, 1], margin=0.0, max_repeats=3, sequential=True)
    assert last.agreement == select(posterior, [1, 1], **options).agreement


def test_settled_grows_with_the_repeats():
    means = [0.4, 0.222, 0.3, 0.215]
    shares = [
        select(posterior_of(means, splits=1e-4, repeats=count), GRADES, margin=0.01).settled
        for count in (2, 4, 8, 10)
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.95
    assert shares[-1] == 1
    more = select(posterior_of(means, splits=1e-4), GRADES, margin=0.01, max_repeats=2)
    assert more.settled == 1


def test_noise_of_ones_own_takes_the_place_of_that_of_the_splits():
    posterior = posterior_of([0.2, 0.21])
    quiet = select(posterior, [1, 1], margin=0.0)
    noisy = select(posterior, [1, 1], margin=0.0, noise=np.eye(2))
    assert quiet.agreement == 1
    assert noisy.agreement == pytest.approx(0.5, abs=0.05)


def test_copies_agree_with_themselves():
    """Rounding must not choose between two that do the same in every draw."""
    losses = (np.random.default_rng(0).random((3, 100, 1)) < 0.3).astype(float)
    copies = joint_posterior(np.repeat(losses, 3, axis=2), ["a", "b", "c"])
    for rule in ("half standard error", "one standard error", "best mean"):
        selection = select(copies, [1, 1, 1], margin=0.01, rule=rule)
        assert selection.name == "a"
        assert selection.agreement == 1


def test_the_same_seed_gives_the_same_agreement():
    posterior = posterior_of([0.4, 0.222, 0.3, 0.215], splits=1e-4)
    shares = [
        select(posterior, GRADES, margin=0.01, random_state=seed).agreement for seed in (0, 0, 1)
    ]
    assert shares[0] == shares[1] != shares[2]


def test_one_contestant_is_chosen():
    selection = select(posterior_of([0.3], splits=1e-4), [2], margin=0.01)
    assert (selection.name, selection.agreement, selection.settled) == ("baseline", 1, 1)


def test_every_rule_has_words():
    assert set(SELECTION_RULES) == {
        "half standard error",
        "one standard error",
        "best mean",
        "not rejected",
    }


@pytest.mark.parametrize(
    ("grades", "options", "error"),
    [
        ([1, 2], {}, DataError),
        ([1, 2, np.nan, 3], {}, DataError),
        (GRADES, {"rule": "largest"}, ValueError),
        (GRADES, {"rule": "not rejected"}, ValueError),
        (GRADES, {"eligible": [False] * 4}, DataError),
    ],
)
def test_refuses(grades, options, error):
    with pytest.raises(error):
        select(posterior_of([0.4, 0.2, 0.2, 0.2]), grades, margin=0.01, **options)


def test_a_selection_is_a_frozen_record():
    selection = Selection("tree", 0.9, 0.8, {"tree": 0.9, "line": 0.1})
    assert selection.shares[selection.name] == selection.agreement
    with pytest.raises(AttributeError):
        selection.name = "line"
