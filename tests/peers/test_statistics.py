"""Tests of two learners against mlxtend on the same splits, of many against scikit-posthocs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from verulam.statistics import (
    adjust_p_values,
    average_ranks,
    cliques,
    control_test,
    cv_t_test,
    error_overlap,
    fisher_lsd,
    five_by_two_f_test,
    five_by_two_t_test,
    mcnemar,
    nemenyi_test,
    newman_keuls,
    permutation_test,
    scheffe,
    tukey_hsd,
    tukey_on_ranks,
    wilcoxon_holm,
)
from verulam.statistics._datasets.wilcoxon import wilcoxon_p_values

pytestmark = pytest.mark.peers
evaluate = pytest.importorskip("mlxtend.evaluate")
posthocs = pytest.importorskip("scikit_posthocs")

INPUTS, TARGETS = load_breast_cancer(return_X_y=True)
LEARNERS = (
    make_pipeline(StandardScaler(), LogisticRegression()),
    DecisionTreeClassifier(max_depth=2, random_state=0),
)
SEED = 7


def scores(train, test):
    return [
        learner.fit(INPUTS[train], TARGETS[train]).score(INPUTS[test], TARGETS[test])
        for learner in LEARNERS
    ]


@pytest.fixture(scope="module")
def five_by_two():
    rng = np.random.RandomState(SEED)
    rows = np.arange(len(TARGETS))
    table = np.empty((2, 5, 2))
    for replication in range(5):
        halves = train_test_split(rows, test_size=0.5, random_state=rng.randint(0, 32767))
        table[:, replication, 0] = scores(*halves)
        table[:, replication, 1] = scores(*halves[::-1])
    return table


def test_five_by_two_t(five_by_two):
    expected = evaluate.paired_ttest_5x2cv(*LEARNERS, INPUTS, TARGETS, random_seed=SEED)
    result = five_by_two_t_test(*five_by_two)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)


def test_five_by_two_f(five_by_two):
    expected = evaluate.combined_ftest_5x2cv(*LEARNERS, INPUTS, TARGETS, random_seed=SEED)
    result = five_by_two_f_test(*five_by_two)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)


def test_k_fold_t():
    expected = evaluate.paired_ttest_kfold_cv(
        *LEARNERS, INPUTS, TARGETS, cv=10, shuffle=True, random_seed=SEED
    )
    folds = KFold(10, shuffle=True, random_state=SEED).split(INPUTS)
    table = np.array([scores(train, test) for train, test in folds])
    result = cv_t_test(table[:, 0], table[:, 1])
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_mcnemar(exact, seed):
    true, first, second = np.random.default_rng(seed).integers(0, 2, (3, 80))
    overlap = error_overlap(true, first, second)
    # The peer counts right answers first, ours wrong ones: the corners change places.
    table = evaluate.mcnemar_table(true, first, second)
    counts = overlap.both_right, overlap.only_second_wrong, overlap.only_first_wrong
    assert table.ravel()[:3].tolist() == list(counts)
    expected = evaluate.mcnemar(table, exact=exact)[1]
    result = overlap.mcnemar(method="exact" if exact else "chi-square")
    if overlap.only_first_wrong == overlap.only_second_wrong:
        assert result.p_value == 1.0
    else:
        assert_allclose(result.p_value, expected, rtol=1e-10)
        counts = overlap.only_first_wrong, overlap.only_second_wrong
        assert mcnemar(*counts, method="exact" if exact else "chi-square").p_value == result.p_value


def test_permutation():
    first, second = np.random.default_rng(0).normal(size=(2, 9))
    expected = evaluate.permutation_test(
        first, second, method="approximate", paired=True, num_rounds=20_000, seed=0
    )
    assert permutation_test(first, second).p_value == pytest.approx(expected, abs=0.02)


#: Their names of the adjustments, by ours.
ADJUSTMENTS = {
    "none": None,
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "benjamini-hochberg": "fdr_bh",
}


@pytest.fixture(params=[(0, 12, 4, None), (1, 12, 4, 0), (2, 30, 7, None), (3, 30, 7, 0)])
def results(request):
    """Random results of learners on data sets, of two sizes, without ties and with many."""
    seed, rows, columns, decimals = request.param
    values = np.random.default_rng(seed).normal(np.linspace(0, 1, columns), size=(rows, columns))
    table = values if decimals is None else np.round(values, decimals)
    return pd.DataFrame(table, columns=list("gbacfde"[:columns]))


def raw_matrix(found):
    """Return the p-values of our pairs before adjustment, as their table has them."""
    count = len(found.means)
    matrix = np.eye(count)
    upper = np.triu_indices(count, 1)
    matrix[upper] = found.table["p_value"]
    return np.maximum(matrix, matrix.T)


def test_nemenyi(results):
    """Neither corrects the error of the mean ranks for ties, which makes both stricter."""
    expected = posthocs.posthoc_nemenyi_friedman(results)
    assert_allclose(nemenyi_test(results).p_matrix(), expected, rtol=0, atol=1e-10)


def test_pairs_of_mean_ranks(results):
    expected = posthocs.posthoc_siegel_friedman(results)
    assert_allclose(raw_matrix(nemenyi_test(results)), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_control(results, adjust):
    expected = posthocs.posthoc_demsar(
        results, control="a", p_adjust=ADJUSTMENTS[adjust], to_matrix=False
    )
    found = control_test(results, "a", adjust=adjust).table.set_index("second")["adjusted_p"]
    assert_allclose(found, expected["a"].loc[found.index], rtol=0, atol=1e-10)


@pytest.mark.parametrize("adjust", ["none", "holm"])
def test_plain_t_of_ranks_is_conovers(results, adjust):
    """Conover's t of rank sums is the least significant difference of ranks in blocks."""
    expected = posthocs.posthoc_conover_friedman(results, p_adjust=ADJUSTMENTS[adjust])
    found = fisher_lsd(results.rank(axis=1), adjust=adjust, blocked=True)
    assert_allclose(found.p_matrix(), expected, rtol=0, atol=1e-10)


def test_tukey_on_ranks(results):
    """The statistics agree, the tails differ.

    Theirs is the range of normal deviates with a known spread. The spread is estimated from the
    ranks with (L - 1)(N - 1) degrees of freedom, which ours allows for: it never rejects more.
    With four learners on twelve data sets theirs rejects 6.5 % of true hypotheses at level 5 %.
    """
    expected = posthocs.posthoc_conover_friedman(results, p_adjust="single-step")
    found = tukey_on_ranks(results)
    upper = np.triu_indices(results.shape[1], 1)
    known = stats.studentized_range.sf(found.table["statistic"], results.shape[1], np.inf)
    assert_allclose(known, expected.to_numpy()[upper], rtol=0, atol=1e-10)
    small = known < 0.25
    assert small.any()
    assert (found.table["adjusted_p"][small] > known[small]).all()


@pytest.mark.parametrize("adjust", ["none", "holm"])
def test_pairwise_wilcoxon(results, adjust):
    """Equal without ties; with ties also where theirs counts all signs, up to 13 pairs.

    Beyond that they approximate by the normal distribution where ours still counts, so that our
    approximation is compared there.
    """
    ties = (results.round(0) == results).to_numpy().all()
    if ties and len(results) > 13:
        first, second = np.triu_indices(results.shape[1], 1)
        values = results.to_numpy()
        normal = wilcoxon_p_values(values[:, first] - values[:, second], method="normal")
        adjusted = adjust_p_values(normal, adjust)
    else:
        adjusted = wilcoxon_holm(results, adjust=adjust).table["adjusted_p"]
    groups = [column.to_numpy() for _, column in results.items()]
    expected = posthocs.posthoc_wilcoxon(groups, p_adjust=ADJUSTMENTS[adjust]).to_numpy()
    upper = np.triu_indices(results.shape[1], 1)
    assert_allclose(adjusted, expected[upper], rtol=0, atol=1e-10)


@pytest.fixture(params=[0, 1])
def groups(request, results):
    """Return the same results as independent groups, of equal and of unequal sizes."""
    columns = enumerate(results.items())
    return {name: column.to_numpy()[request.param * place :] for place, (name, column) in columns}


def test_tukey(groups):
    expected = posthocs.posthoc_tukey(list(groups.values()))
    assert_allclose(tukey_hsd(groups).p_matrix(), expected, rtol=0, atol=1e-10)


def test_scheffe(groups):
    expected = posthocs.posthoc_scheffe(list(groups.values()))
    assert_allclose(scheffe(groups).p_matrix(), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_least_significant_difference(groups, adjust):
    expected = posthocs.posthoc_lsd(list(groups.values()), p_adjust=ADJUSTMENTS[adjust])
    found = fisher_lsd(groups, adjust=adjust)
    assert_allclose(found.p_matrix(), expected, rtol=0, atol=1e-10)


def test_newman_keuls(groups):
    """They judge each range by itself; ours lets nothing reject inside a range that does not.

    The second is the procedure of Newman and Keuls: an inner range may only be looked at after
    every range around it has rejected. The p-values of single ranges are the same.
    """
    expected = posthocs.posthoc_snk(list(groups.values()))
    found = newman_keuls(groups)
    assert_allclose(raw_matrix(found), expected, rtol=0, atol=1e-10)
    assert (found.p_matrix().to_numpy() >= expected.to_numpy() - 1e-10).all()


def test_bars_of_the_diagram(results):
    """Bars join neighbours only; theirs are the largest sets of pairs that do not differ.

    With one critical difference for all pairs, as here, the two are the same sets.
    """
    import matplotlib.pyplot as plt

    found = nemenyi_test(results)
    ranks = average_ranks(results)
    figure, ax = plt.subplots()
    drawn = posthocs.critical_difference_diagram(ranks, found.p_matrix(), ax=ax)["crossbars"]
    theirs = {tuple(np.round(np.sort(bar[0].get_xdata()), 9)) for bar in drawn}
    plt.close(figure)
    ours = {tuple(np.round(ranks[group], 9)) for group in cliques(found)}
    assert ours == theirs
