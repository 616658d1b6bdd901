"""Evidence over several data sets: mean ranks, their choice, and chances with the margins."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from tests.experiment.analysed import noisy, responses_of

from verulam.experiment._evidence.rank_evidence import rank_evidence
from verulam.statistics import bayesian_signed_rank

NAMES = ("line", "tree", "forest")
GRADES = {"line": 1.0, "tree": 2.0, "forest": 4.0}
RULE = "half standard error"


def scores(count=8, means=(0.2, 0.3, 0.21), seed=0):
    """Return for each data set ten scores of each contestant, around means of its own."""
    random = np.random.default_rng(seed)
    return {
        f"data {place}": {
            name: noisy(mean + random.normal(scale=0.02), seed=int(random.integers(1e6)))
            for name, mean in zip(NAMES, means, strict=True)
        }
        for place in range(count)
    }


def margins(tables, size=0.01):
    return {data: SimpleNamespace(margin=size) for data in tables}


def ranked(tables, *, complexity=GRADES, rule=RULE, margin=0.01, **options):
    return rank_evidence(responses_of(tables, **options), margins(tables, margin), complexity, rule)


def mean_scores(tables):
    return np.array([[np.mean(table[name]) for name in NAMES] for table in tables.values()])


def test_mean_ranks_and_their_errors():
    tables = scores()
    known = ranked(tables)
    by_hand = stats.rankdata(mean_scores(tables), axis=1)
    assert known.n_data_sets == 8
    for place, name in enumerate(NAMES):
        assert known.mean_rank(name) == pytest.approx(by_hand[:, place].mean())
    difference = by_hand[:, 0] - by_hand[:, 2]
    low, high = stats.ttest_1samp(difference, 0).confidence_interval()
    assert known.posterior.difference("line", "forest")[1:] == pytest.approx((low, high), abs=1e-5)
    assert known.order == tuple(sorted(NAMES, key=known.mean_rank))
    assert known.best == known.order[0]


def test_greater_may_be_better():
    tables = scores()
    turned = {
        data: {name: [1 - value for value in row] for name, row in table.items()}
        for data, table in tables.items()
    }
    plain, other = ranked(tables), ranked(turned, measure="accuracy")
    assert_allclose(plain.table, other.table, atol=1e-9)
    assert plain.selection == other.selection


def test_ties_share_their_ranks():
    tables = {f"data {place}": {"line": [0.1, 0.2], "tree": [0.2, 0.1], "forest": [0.3, 0.4]}
              for place in range(3)}  # fmt: skip
    known = ranked(tables)
    assert known.mean_rank("line") == known.mean_rank("tree") == 1.5


@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e14])
def test_rounding_makes_no_ranks_and_small_measures_have_some(scale):
    tables = {
        f"data {place}": {"line": [(0.1 + 0.2) * scale], "tree": [0.3 * scale],
                          "forest": [0.4 * scale]}
        for place in range(4)
    }  # fmt: skip
    known = ranked(tables, measure="mean_squared_error")
    assert known.table["mean_rank"].to_dict() == {"line": 1.5, "tree": 1.5, "forest": 3.0}


def test_the_simplest_within_half_a_standard_error_is_chosen():
    tables = scores(7, (0.2, 0.4, 0.2), seed=3)
    known = ranked(tables)
    gap = known.mean_rank("line") - known.mean_rank("forest")
    error = known.posterior.standard_errors[0, 2]
    assert 0 < gap < error / 2
    assert (known.best, known.selection.name) == ("forest", "line")
    assert ranked(tables, rule="best mean").selection.name == "forest"
    assert ranked(tables, complexity=dict.fromkeys(NAMES, 1.0)).selection.name == "forest"
    assert known.rule == RULE


def test_the_margin_of_a_measure_is_none_of_ranks():
    tables = scores(7, (0.2, 0.4, 0.2), seed=3)
    assert ranked(tables, margin=1e-9).selection.name == ranked(tables).selection.name == "line"


def test_the_rule_of_the_tests_is_left_to_the_analysis():
    tables = scores()
    other = ranked(tables, rule="not rejected")
    assert other.selection == ranked(tables).selection
    assert other.rule == RULE


def test_agreement_is_that_of_as_many_other_data_sets():
    tables = scores(6, (0.2, 0.4, 0.23), seed=1)
    known = ranked(tables, rule="best mean")
    first, second = known.order[:2]
    gap = known.mean_rank(second) - known.mean_rank(first)
    place = known.posterior.names.index
    error = known.posterior.standard_errors[place(first), place(second)]
    assert known.selection.agreement == pytest.approx(
        stats.norm.cdf(gap / (np.sqrt(2) * error)), abs=0.05
    )


def test_chances_are_those_of_the_signed_ranks_in_units_of_the_margin():
    tables = scores(10, (0.2, 0.3, 0.21))
    known = ranked(tables)
    means = mean_scores(tables)
    best = NAMES.index(known.best)
    for place, name in enumerate(NAMES):
        row = known.table.loc[name, ["better", "equal", "worse"]].to_numpy()
        if place == best:
            assert row.tolist() == [0, 1, 0]
            continue
        test = bayesian_signed_rank(
            means[:, place], means[:, best], rope=0.01, draws=4000, random_state=0
        )
        assert_allclose(row, [test.left, test.rope, test.right], atol=1e-9)
        assert row[2] > row[0]


def test_data_sets_may_have_margins_of_their_own():
    tables = scores(10)
    by_data = {
        data: SimpleNamespace(margin=10.0 ** (place % 3)) for place, data in enumerate(tables)
    }
    known = rank_evidence(responses_of(tables), by_data, GRADES, RULE)
    assert (known.table["equal"] > 0.99).all()


@pytest.mark.parametrize("count", [2, 4])
def test_few_data_sets_have_no_chances(count):
    known = ranked(scores(count))
    assert known.table[["better", "equal", "worse"]].isna().all().all()
    assert known.table["mean_rank"].notna().all()


def test_without_a_margin_there_are_no_chances():
    tables = scores()
    assert ranked(tables, margin=0.0).table["equal"].isna().all()
    some = {data: SimpleNamespace(margin=0.01) for data in list(tables)[1:]}
    partly = rank_evidence(responses_of(tables), some, GRADES, RULE)
    assert partly.table["equal"].isna().all()


def test_who_lacks_a_data_set_is_left_out():
    tables = scores()
    tables["data 0"]["tree"] = [np.nan] * 10
    known = ranked(tables)
    assert set(known.order) == {"line", "forest"}
    assert known.n_data_sets == 8


def test_data_sets_without_results_do_not_count():
    tables = scores()
    tables["data 0"] = {name: [np.nan] * 10 for name in NAMES}
    known = ranked(tables)
    assert known.n_data_sets == 7
    assert set(known.order) == set(NAMES)


def test_too_little_for_ranks():
    assert ranked(scores(1)) is None
    tables = {f"data {place}": {"line": [0.1, 0.2]} for place in range(5)}
    assert ranked(tables) is None


def test_always_the_same_order_is_no_accident():
    tables = {
        f"data {place}": {"line": [0.1], "tree": [0.2], "forest": [0.3]} for place in range(6)
    }
    known = ranked(tables)
    assert known.selection.name == "line"
    assert known.selection.agreement > 0.98
    assert known.posterior.claims()["claimed"].all()
