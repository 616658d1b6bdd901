"""The chooser: decision table, preferences, minimum replications."""

import pytest

import verulam.statistics as st
from verulam.base import DataError
from verulam.statistics import Choice, choose_test, decision_table


def names(*arguments, **options):
    return [choice.function for choice in choose_test(*arguments, **options)]


@pytest.mark.parametrize(
    ("aim", "design", "options", "expected"),
    [
        ("assess", "hold-out", {}, ["binomial_test", "normal_approximation_test"]),
        ("assess", "k-fold", {}, ["runs_t_test"]),
        ("assess", "data sets", {}, ["sign_test"]),
        ("assess", "hold-out", {"measure": "area"}, ["auc_interval"]),
        ("compare", "hold-out", {}, ["mcnemar"]),
        ("compare", "hold-out", {"measure": "area"}, ["delong_test"]),
        ("compare", "hold-out", {"measure": "number"}, ["permutation_test"]),
        ("compare", "5x2", {}, ["five_by_two_f_test", "five_by_two_t_test"]),
        ("compare", "k-fold", {}, ["corrected_t_test", "bayesian_correlated_t", "cv_t_test"]),
        ("compare", "data sets", {}, ["wilcoxon_test", "sign_test", "bayesian_signed_rank"]),
        ("compare", "k-fold", {"measure": "vector"}, ["hotelling_test"]),
        ("best", "k-fold", {}, ["repeated_anova", "tukey_hsd", "multitest_order"]),
        ("order", "data sets", {}, ["compare_many", "kruskal_wallis"]),
        ("best", "k-fold", {"measure": "vector"}, ["manova"]),
    ],
)
def test_decision_table(aim, design, options, expected):
    assert names(aim, design, **options) == expected


def test_every_choice_exists_and_says_why():
    table = decision_table()
    for function in table["test"]:
        assert callable(getattr(st, function))
    assert (table["reason"].str.len() > 10).all()
    assert (table["assumptions"].str.len() > 10).all()


def test_two_learners_are_compared():
    assert names("best", "k-fold", learners=2) == names("compare", "k-fold")
    with pytest.raises(DataError, match="'compare' is for two learners, not 5"):
        choose_test("compare", "k-fold", learners=5)
    with pytest.raises(DataError, match="aim='assess' does not go with 3"):
        choose_test("assess", "k-fold", learners=3)


def test_too_few_replications():
    assert names("compare", "data sets", replications=4) == ["bayesian_signed_rank"]
    with pytest.raises(DataError, match="replications=4 are too few: at least 6 are needed"):
        choose_test("assess", "data sets", replications=4)


def test_what_cannot_be_tested_says_so():
    with pytest.raises(DataError, match="No test for aim='assess', design='5x2'"):
        choose_test("assess", "5x2", measure="vector")


def test_a_choice_names_a_public_function_and_its_assumptions():
    first = choose_test("compare", "hold-out")[0]
    reason = "one training and one test set, counted instance by instance"
    assert first == Choice("mcnemar", reason, ("one training set: says nothing about others",))


def test_a_group_is_not_said_to_be_equal():
    """That no difference was found does not show that there is none."""
    assert not any("not differ" in reason for reason in decision_table()["reason"])
