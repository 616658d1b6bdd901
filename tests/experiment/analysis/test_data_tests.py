"""Verdicts over several data sets."""

import numpy as np
import pytest
from tests.experiment.analysed import responses_of

from verulam import statistics
from verulam.experiment._analysis.data_tests import verdict_over_data

RNG = np.random.default_rng(3)


def over(means, *, procedure=None, **options):
    """Return the verdict on contestants with these mean scores on each data set."""
    count = len(next(iter(means.values())))
    tables = {
        f"set {place}": {name: [values[place]] * 2 for name, values in means.items()}
        for place in range(count)
    }
    return verdict_over_data(responses_of(tables, **options), alpha=0.05, procedure=procedure)


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
    assert "cannot be told apart" in found.many.conclusion()
    assert "inf" not in found.overall.headline()


METHODS = {
    None: "Nemenyi's test",
    "nemenyi": "Nemenyi's test",
    "holm": "Holm's procedure on mean ranks",
    "shaffer": "Shaffer's procedure on mean ranks",
    "bergmann-hommel": "Bergmann and Hommel's procedure on mean ranks",
    "wilcoxon-holm": "Wilcoxon's signed rank test with Holm's procedure",
    "wilcoxon-shaffer": "Wilcoxon's signed rank test with Shaffer's procedure",
    "wilcoxon-bergmann-hommel": (
        "Wilcoxon's signed rank test with Bergmann and Hommel's procedure"
    ),
}


@pytest.mark.parametrize(("procedure", "words"), METHODS.items())
def test_procedure(procedure, words):
    rng = np.random.default_rng(5)
    means = dict(zip("abcd", rng.normal([0.5, 0.52, 0.6, 0.65], 0.05, size=(15, 4)).T, strict=True))
    verdict = over(means, procedure=procedure)
    assert verdict.method == (
        f"Friedman's test by Iman and Davenport's F, then {words} for every pair"
    )
    table = np.transpose(list(means.values()))
    options = {} if procedure is None else {"post_hoc": procedure}
    expected = statistics.compare_many(table, **options).pairs.table
    np.testing.assert_allclose(verdict.pairs["p_value"], expected["p_value"])
    np.testing.assert_allclose(verdict.pairs["adjusted_p"], expected["adjusted_p"])
    np.testing.assert_allclose(verdict.pairs["difference"], expected["difference"])
    decisions = np.where(expected["reject"], "reject", "fail to reject")
    assert verdict.pairs["decision"].tolist() == decisions.tolist()
    assert set(verdict.pairs) == {
        *("first", "second", "difference", "splits", "p_value", "adjusted_p"),
        *("decision", "better", "worse"),
    }
    assert verdict.beats("a", "d")


def test_signed_ranks_say_who_is_better():
    """Mean ranks favour a, signed ranks favour b."""
    rng = np.random.default_rng(0)
    others, a = rng.uniform(0.5, 1, size=(30, 4)), rng.uniform(0.3, 0.4, 30)
    b = a - rng.uniform(0.05, 0.1, 30)
    b[:8] = a[:8] + 0.01
    others[:8] = a[:8, None] + rng.uniform(0.001, 0.009, size=(8, 4))
    means = {"a": a, "b": b} | dict(zip("wxyz", others.T, strict=True))
    assert over(means, procedure="wilcoxon-shaffer").beats("b", "a")
    by_ranks = over(means, procedure="shaffer")
    assert by_ranks.best == "a"
    assert not by_ranks.beats("b", "a")
    accuracies = {name: 1 - values for name, values in means.items()}
    turned = over(accuracies, procedure="wilcoxon-shaffer", measure="accuracy")
    assert turned.best == "a"
    assert turned.beats("b", "a")


def test_too_many_contestants_for_the_procedure_is_no_note():
    means = {f"learner {k}": RNG.uniform(0.1, 0.5, 9) for k in range(11)}
    with pytest.raises(ValueError, match="at most 10 learners"):
        over(means, procedure="bergmann-hommel")
    with pytest.raises(ValueError, match="post_hoc must be one of"):
        over(means, procedure="tukey")


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
