"""Bad input, with the message that says what would be accepted."""

import numpy as np
import pandas as pd
import pytest

from verulam import statistics as st
from verulam.base import DataError, UnknownNameError
from verulam.statistics._core.checks import label_column, unequal_lengths

GOOD = np.array([0.1, 0.2, 0.15, 0.3, 0.25, 0.12, 0.2, 0.22])
HOLE = GOOD.copy()
HOLE[3] = np.nan
TABLE = np.random.default_rng(0).normal(size=(8, 3))


def holed_table():
    frame = pd.DataFrame(TABLE, columns=["a", "b", "c"], index=[f"set {k}" for k in range(8)])
    frame.loc["set 5", "b"] = np.nan
    return frame


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.cv_t_test(GOOD, GOOD[:5]), "first has 8 values and second has 5"),
        (lambda: st.wilcoxon_test(GOOD, GOOD[:5]), "first has 8 values and second has 5"),
        (lambda: st.cv_t_test(GOOD, HOLE), "second has a missing or infinite value in row 3"),
        (lambda: st.t_test(HOLE, 0), "values has a missing or infinite value in row 3"),
        (lambda: st.friedman_test(holed_table()), "in row 'set 5', column 'b'"),
        (lambda: st.one_way_anova(holed_table()), "in row 'set 5', column 'b'"),
        (lambda: st.five_by_two_f_test(HOLE[:4], GOOD[:4]), "first has shape .* 5 replications"),
        (lambda: st.friedman_test(TABLE[:, :1]), "table has 1 learner.* at least 2"),
        (lambda: st.friedman_test(TABLE[:1]), "table has 1 data set: at least 2"),
        (lambda: st.friedman_test(TABLE[:2]), "needs at least 3 to reject with 3 learners"),
        (lambda: st.nemenyi_test(TABLE[:2]), "needs at least 3 to reject"),
        (lambda: st.sign_test(GOOD, GOOD), "All ties"),
        (lambda: st.wilcoxon_test(GOOD, GOOD), "All ties"),
        (lambda: st.mcnemar(0, 0), "All ties: the classifiers never disagree"),
        (lambda: st.permutation_test(GOOD, GOOD), "All ties"),
        (lambda: st.friedman_test(np.ones((8, 3))), "All ties"),
        (lambda: st.kruskal_wallis(np.ones((8, 3))), "All ties"),
        (lambda: st.cv_t_test(GOOD + 0.1, GOOD), "All differences equal 0.1: with zero variance"),
        (lambda: st.t_test([2, 2, 2], 1), "All values equal 2: with zero variance"),
        (lambda: st.t_interval([2, 2, 2]), "zero variance"),
        (lambda: st.one_way_anova([[1, 2], [1, 2], [1, 2]]), "zero variance F is undefined"),
        (lambda: st.repeated_anova([[1, 2], [2, 3], [3, 4]]), "zero variance F is undefined"),
        (lambda: st.tukey_hsd([[1, 2], [1, 2]]), "zero variance F is undefined"),
        (
            lambda: st.five_by_two_t_test(np.ones((5, 2)), np.zeros((5, 2))),
            "zero variance the statistic is undefined",
        ),
        (lambda: st.delong_test([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4]), "zero variance"),
        (lambda: st.hotelling_test(np.ones((5, 2)), np.zeros((5, 2))), "zero variance"),
        (lambda: st.manova(np.ones((2, 4, 2))), "zero variance"),
        (lambda: st.adjust_p_values([0.1, 1.2]), r"p_values must lie in \[0, 1\], but entry 1"),
        (lambda: st.adjust_p_values([-0.1, 0.2]), "entry 0 is -0.1"),
        (lambda: st.mcnemar(-1, 3), "only_first_wrong must be a whole number.* is -1"),
        (lambda: st.mcnemar(1.5, 3), "only_first_wrong must be a whole number.* is 1.5"),
        (lambda: st.binomial_test(7, 5, 0.1), r"errors \(7\) must not exceed trials \(5\)"),
        (lambda: st.binomial_test(1, 5, 1.5), "rate must lie strictly between 0 and 1"),
        (lambda: st.runs_t_test([0.1], 0.2), "error_rates has 1 run: at least 2"),
        (lambda: st.cv_t_test([0.1], [0.2]), "Each of both has 1 fold: at least 2"),
        (lambda: st.z_test(GOOD, 0, sigma=-1), "sigma must be positive, but is -1"),
        (lambda: st.t_test(GOOD, 0, alpha=0), "alpha must lie strictly between 0 and 1"),
        (lambda: st.t_interval(GOOD, confidence=95), "confidence must lie strictly"),
        (lambda: st.corrected_t_test(GOOD, GOOD[::-1], test_share=1), "test_share must lie"),
        (lambda: st.error_overlap([1, 0], [1], [1, 0]), r"shapes \(2,\), \(1,\) and \(2,\)"),
        (lambda: st.delong_test([0, 1, 1], [1, 2, 3], [1, 3, 2]), "at least 2 of each"),
        (lambda: st.auc_interval([0, 0, 1, 1], [1, 2, 3]), "scores have shape"),
        (lambda: st.contrast(TABLE, [1, 1, 1]), "3 numbers that sum to zero"),
        (lambda: st.multitest_order(TABLE, [1, 2]), "complexity must be 3 numbers"),
        (lambda: st.two_factor_anova([1, 2, 3, 4], [0, 0, 1, 1], [0, 1, 0, 1]), "One run per"),
        (lambda: st.two_factor_anova([1, 2, 3, 4], [0, 0, 0, 0], [0, 1, 0, 1]), "one level"),
        (lambda: st.two_factor_anova(range(5), [0, 0, 1, 1, 1], [0, 1, 0, 0, 0]), "no runs"),
        (lambda: st.hotelling_test(TABLE, TABLE[:, :2]), "shape"),
        (lambda: st.manova({"a": TABLE}), "groups has 1 learner: at least 2"),
        (lambda: st.manova({"a": TABLE, "b": TABLE[:, :2]}), "the same measures"),
        (lambda: st.manova(TABLE), "array of shape"),
        (lambda: st.bayesian_correlated_t(GOOD, GOOD[::-1], rope=-1), "rope must be"),
        (lambda: st.bootstrap_interval([1.0]), "values has 1 value: at least 2"),
        (lambda: st.sample_size(0.0), "effect is zero"),
        (lambda: st.simulate("t", repeats=0), "repeats must be at least 1"),
        (lambda: st.friedman_test(pd.DataFrame(TABLE, columns=list("aab"))), "repeated learners"),
    ],
)
def test_bad_data_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.t_test(GOOD, 0, alternative="bigger"), "alternative must be one of"),
        (lambda: st.mcnemar(1, 2, method="mid"), "method must be one of chi-square, exact"),
        (lambda: st.adjust_p_values([0.1], "sidak"), "method must be one of none, bonferroni"),
        (lambda: st.wilcoxon_test(GOOD, GOOD[::-1], zeros="drop"), "zeros must be one of"),
        (lambda: st.rate_interval(1, 5, method="jeffreys"), "method must be one of wilson"),
        (lambda: st.compare_many(TABLE, post_hoc="tukey"), "post_hoc must be one of"),
        (lambda: st.manova(np.zeros((2, 3, 2)), statistic="fisher"), "statistic must be one of"),
        (lambda: st.choose_test("win", "k-fold"), "aim must be one of"),
    ],
)
def test_unknown_options_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.control_test(TABLE, "learner 9"), "Unknown learner 'learner 9'. Nearest"),
        (lambda: st.contrast(TABLE, {"lerner 1": 1}), "Unknown learner 'lerner 1'"),
        (lambda: st.simulate("5x2"), "Unknown simulated test '5x2'. Nearest: 5x2"),
        (lambda: st.simulate("cv t", fold=3), "Unknown parameter of 'cv t' 'fold'. Nearest: folds"),
        (lambda: st.nemenyi_test(TABLE).result("a", "b"), "Unknown pair"),
    ],
)
def test_unknown_names_get_the_nearest(call, message):
    with pytest.raises(UnknownNameError, match=message):
        call()


def test_series_are_paired_by_their_labels():
    labels = [f"set {k}" for k in range(8)]
    other = pd.Series(GOOD[::-1] + np.linspace(0, 0.1, 8), labels)
    first = pd.Series(GOOD, labels)
    expected = st.cv_t_test(GOOD, other.to_numpy()).p_value
    assert st.cv_t_test(first, other.sample(frac=1.0, random_state=0)).p_value == expected
    # Parts of one long table have no label in common.
    assert st.cv_t_test(first, other.set_axis(range(8, 16))).p_value == expected
    with pytest.raises(DataError, match="share some labels of their index, but not all"):
        st.cv_t_test(first, other.set_axis([*labels[1:], "set 8"]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.cv_t_test(["a", "b"], [1, 2]), "first must hold numbers"),
        (lambda: st.friedman_test({"a": ["x"] * 4, "b": [1] * 4}), "table must hold numbers"),
        (lambda: st.friedman_test({"a": [1, 2], "b": [1]}), "a row for each of the data sets"),
        (lambda: st.friedman_test([[1, 2], [3]]), "a column for each learner"),
        (lambda: st.friedman_test("abc"), r"its shape is \(\)"),
        (lambda: st.cv_t_test(GOOD * 1e200, GOOD), "first has a value too large .* in row 0"),
        (lambda: st.friedman_test(TABLE * 1e200), "too large to be squared in row 0"),
        (lambda: st.cv_t_test(GOOD * 1e-200, GOOD[::-1] * 1e-200), "too small to be squared"),
        (lambda: st.cv_t_test([0.2, 0.1], [0.1]), "first has 2 values and second has 1"),
        (lambda: st.rate_interval(11, 10), r"errors \(11\) must not exceed trials \(10\)\."),
        (lambda: st.rate_interval("3", 10.5), "trials must be a whole number"),
        (lambda: st.rate_interval(None, 10), "errors must be a whole number.* None"),
        (lambda: st.t_test(GOOD, np.nan), "mean must be a finite number, but is nan"),
        (lambda: st.z_test(GOOD, "a", sigma=1), "mean must be a number, but is 'a'"),
        (lambda: st.sample_size(np.nan), "effect must be a finite number"),
        (lambda: st.t_power(np.nan, 10), "effect has a missing or infinite value"),
        (lambda: st.power_curve([], [10]), "effects has 0 values: at least 1 is needed"),
        (lambda: st.bootstrap_interval(GOOD, resamples=0), "resamples is 0: at least 2"),
        (lambda: st.permutation_test(GOOD, TABLE[:, 0], resamples=0), "resamples is 0"),
        (lambda: st.auc_interval([0, None, 1, 1], GOOD[:4]), "y_true has a missing value in row 1"),
        (lambda: st.auc_interval([0, 0, 1, 1], GOOD[:4], positive=2), "is none of the labels"),
        (lambda: st.contrast(TABLE, ["a", 1, 0]), "coefficients must hold numbers"),
        (lambda: st.five_by_two_f_test(["a"] * 10, TABLE[:5, :2]), "first must hold numbers"),
        (lambda: st.rate_interval(0, 0), "trials is 0: at least 1 is needed"),
        (lambda: st.sign_test([[1, 2], [3]], 0.5), "first must hold numbers, .* lists of 2 and 1"),
        (lambda: st.friedman_test([[1, 2], [3]]), "table must .* but its rows have 2 and 1 values"),
        (lambda: st.friedman_test({"a": [1, 2], "b": [1]}), "but its columns have 2 and 1 values"),
        (lambda: st.mcnemar(st.error_overlap([1], [[1], [1, 0]], [1])), "first must be one column"),
        (lambda: st.auc_interval([[1, 0], [1]], GOOD), "y_true must be one column"),
        (lambda: st.no_information_error([[1], [1, 2]], [1, 1]), "y_true must be one column"),
        (lambda: st.sign_test([1, 2], [[1, 2], [3]]), "second must hold numbers, .* of 2 and 1"),
        (lambda: st.five_by_two_t_test([[1, 2], [3]], TABLE), "first must hold numbers, .* lists"),
        (lambda: st.two_factor_anova(GOOD[:4], [[1, 2], [3]], [1] * 4), "first must be one column"),
        (lambda: st.joint_posterior([[1, 2], [3]]), "values must hold numbers, .* of 2 and 1"),
        (lambda: st.split_posterior([[1, 2], [3]], "ab", test_share=0.5), "scores must hold numb"),
        (lambda: st.rows_to_tell([[1, 2], [3]], 0.1, 2.0), "values must hold numbers, .* lists"),
        (lambda: st.power_curve([0.5], [[10, 20], [30]]), "sample_sizes must hold numbers"),
        (lambda: st.resampled_losses([[0, 1]], [[1, 2], [3]]), "draws must hold numbers"),
        (lambda: st.bootstrap_error([[1, 2], [3]], 0.5), "training must be a number"),
        (lambda: st.bootstrap_left_out([[1, 2], [3]]), "sizes must be one column"),
    ],
)  # fmt: skip
def test_numbers_that_no_test_can_use(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    "test", [st.kruskal_wallis, st.one_way_anova, st.tukey_hsd, st.scheffe, st.fisher_lsd]
)
def test_lists_of_unequal_groups_are_told_the_form_that_they_need(test):
    groups = [[0.1, 0.2, 0.3], [0.2, 0.4], [0.3, 0.1, 0.5, 0.6]]
    with pytest.raises(DataError, match=r"^groups has lists of 3, 2 and 4 values: .* dictionary"):
        test(groups)
    test(dict(zip("abc", groups, strict=True)))
    with pytest.raises(DataError, match=r"^groups has a missing or infinite value in row 0"):
        test([[np.nan, 1.0], [2.0, 3.0]])


def test_a_mapping_is_a_table():
    frame = pd.DataFrame(TABLE, columns=["a", "b", "c"])
    columns = {name: frame[name].tolist() for name in frame}
    assert st.friedman_test(columns).p_value == st.friedman_test(frame).p_value


@pytest.mark.parametrize("words", [["yes", "no"], [b"yes", b"no"]])
def test_words_of_several_lengths_are_one_column(words):
    assert label_column(words, "labels").tolist() == words
    assert unequal_lengths(words) == ""
    assert unequal_lengths([*words, ["a"], ["b", "c"]]) == "1 and 2"
