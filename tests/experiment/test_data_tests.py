"""Verdicts over several data sets."""

import numpy as np
import pytest
from tests.experiment.analysed import responses_of

from verulam import statistics
from verulam.experiment._data_tests import verdict_over_data

RNG = np.random.default_rng(3)


def over(means, **options):
    """Return the verdict on contestants with these mean scores on each data set."""
    count = len(next(iter(means.values())))
    tables = {
        f"set {place}": {name: [values[place]] * 2 for name, values in means.items()}
        for place in range(count)
    }
    return verdict_over_data(responses_of(tables, **options), alpha=0.05)


def test_two_contestants():
    first = RNG.uniform(0.1, 0.5, 8)
    second = first + RNG.uniform(0.01, 0.1, 8)
    found = over({"a": first, "b": second})
    wilcoxon, sign = found.tests
    assert wilcoxon.p_value == statistics.wilcoxon_test(first, second).p_value
    assert sign.p_value == statistics.sign_test(first, second).p_value
    assert found.best == "a"
    assert found.beats("a", "b")


def test_two_contestants_where_greater_is_better():
    first = RNG.uniform(0.1, 0.5, 8)
    found = over({"a": first, "b": first + 0.1 + RNG.uniform(0, 0.1, 8)}, measure="accuracy")
    assert found.best == "b"
    assert found.beats("b", "a")


def test_many_contestants():
    base = RNG.uniform(0.1, 0.5, 12)
    means = {"a": base + 0.2, "b": base + RNG.normal(0, 0.01, 12), "c": base}
    found = over(means)
    expected = statistics.compare_many(np.transpose(list(means.values())))
    assert found.overall.p_value == pytest.approx(expected.overall.p_value)
    assert found.many.nemenyi.critical_difference == pytest.approx(
        expected.nemenyi.critical_difference
    )
    assert found.group == ("b", "c")
    assert found.beats(found.best, "a")


def test_overall_test_over_few_data_sets_decides_as_compare_many_does():
    means = {"nb": [0.0467, 0.0311, 0.0276], "mine": [0.0633, 0.281, 0.032]}
    found = over(means | {"nm": means["mine"]})
    assert found.many.friedman.reject  # by the rough approximation, against the exact chance
    assert found.overall.p_value == pytest.approx(1 / 9)
    assert not found.undecided
    assert found.many.conclusion().startswith("Fail to reject")
    assert "inf" not in found.overall.headline()


def test_nemenyi_needs_friedman():
    found = over({name: RNG.uniform(0.1, 0.5, 4) for name in "abc"})
    assert not found.overall.reject
    assert (found.pairs["decision"] == "fail to reject").all()


@pytest.mark.parametrize(("contestants", "sets", "fewest"), [("ab", 5, 6), ("abc", 2, 3)])
def test_too_few_data_sets(contestants, sets, fewest):
    found = over({name: RNG.uniform(0.1, 0.5, sets) for name in contestants})
    assert not found.tested
    assert f"{sets} data sets are too few" in found.notes[0]
    assert f"needs {fewest}" in found.notes[0]


def test_contestants_without_some_data_sets_are_left_out():
    means = {name: RNG.uniform(0.1, 0.5, 6) for name in "abc"}
    means["c"][2] = np.nan
    found = over(means)
    assert found.notes == ("c has no result on some data sets and is left out of the tests.",)
    assert found.names == ("a", "b")


def test_equal_everywhere_is_no_error():
    values = RNG.uniform(0.1, 0.5, 8)
    found = over({"a": values, "b": values})
    assert not found.tested
    assert found.notes


def test_one_data_set_has_none():
    assert over({"a": [0.1], "b": [0.2]}) is None
