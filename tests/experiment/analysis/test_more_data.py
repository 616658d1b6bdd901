"""How many more data sets it would take to know more, in words."""

import numpy as np
from tests.experiment.analysed import responses_of

from verulam.experiment._analysis.data_tests import verdict_over_data
from verulam.experiment._analysis.more_data import advice_over_data
from verulam.experiment._analysis.power import data_sets_for_ranks, data_sets_needed

RNG = np.random.default_rng(5)


def over_data(means, name, **options):
    count = len(next(iter(means.values())))
    tables = {f"{i}": {each: [v[i]] * 2 for each, v in means.items()} for i in range(count)}
    responses = responses_of(tables, **options)
    verdict = verdict_over_data(responses, alpha=0.05)
    return advice_over_data(responses, verdict, 0.05, name=name)


def test_nothing_to_add_where_all_is_settled():
    first = RNG.uniform(0.1, 0.5, 8)
    assert over_data({"a": first + 0.2, "b": first}, "b") == ""


def test_more_data_sets_for_two():
    first = RNG.uniform(0.1, 0.5, 8)
    differences = np.array([0.02, -0.01, 0.03, -0.02, 0.01, 0.01, -0.01, 0.02])
    needed = data_sets_needed(differences, alpha=0.05)
    text = over_data({"a": first + differences, "b": first}, "b")
    assert text == (
        "To tell b from a with power 0.8, if they keep differing so: "
        f"about {needed - 8} more data sets."
    )


def test_more_data_sets_for_many_are_those_of_the_pair_among_all_pairs():
    base = RNG.uniform(0.1, 0.5, 8)
    means = {"a": base + 0.01, "b": base, "c": base + 0.2}
    needed = data_sets_for_ranks(1.0, 3, alpha=0.05 / 3)
    assert over_data(means, "b").endswith(f"about {needed - 8} more data sets.")


def test_the_rival_of_a_simpler_choice_is_the_best():
    base = RNG.uniform(0.1, 0.5, 8)
    # Mean ranks 1.625 of a and 1.375 of b.
    shift = np.array([1, 1, 1, 1, 1, -1, -1, -1])
    means = {"a": base + 0.001 * shift, "b": base, "c": base + 0.2}
    assert "tell a from b" in over_data(means, "a")
    assert "tell b from a" in over_data(means, "b")


def test_of_a_measure_that_is_to_be_great_the_greatest_ranks_first():
    base = RNG.uniform(0.5, 0.7, 8)
    means = {"a": base + 0.01, "b": base, "c": base - 0.2}
    assert "tell a from b" in over_data(means, "a", measure="accuracy")


def test_equal_ranks_cannot_be_told_apart():
    base = RNG.uniform(0.1, 0.5, 8)
    turned = np.array([1, -1] * 4)
    means = {"a": base + 0.01 * turned, "b": base, "c": base + 0.2}
    assert over_data(means, "a") == "No reasonable number of data sets would tell a from b."
