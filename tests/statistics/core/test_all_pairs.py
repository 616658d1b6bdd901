"""The record of all pairs: either order, either side, limits and words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from verulam.statistics import fisher_lsd, nemenyi_test, newman_keuls, scheffe, tukey_hsd

TABLE = np.random.default_rng(7).normal([0, 0.5, 1, 2], size=(8, 4))
NAMES = [f"learner {k}" for k in range(1, 5)]


def test_record_of_pairs():
    found = tukey_hsd(TABLE)
    one = found.result(NAMES[0], NAMES[3])
    other = found.result(NAMES[3], NAMES[0])
    assert one.p_value == other.p_value
    assert one.effect_size.value == -other.effect_size.value
    assert "adjusted for 6 comparisons" in str(one.caveats)
    matrix = found.p_matrix()
    assert_allclose(matrix, matrix.T)
    assert str(found).startswith("Tukey's HSD: ")
    assert len(found.rejected()) == found.table["reject"].sum()


def test_only_signed_statistics_change_sign_with_the_order():
    for procedure in (tukey_hsd, scheffe, newman_keuls):
        found = procedure(TABLE)
        one, other = found.result(NAMES[0], NAMES[3]), found.result(NAMES[3], NAMES[0])
        assert one.statistic == other.statistic > 0
    found = fisher_lsd(TABLE)
    assert found.result(NAMES[0], NAMES[3]).statistic == -found.result(*NAMES[::-3]).statistic


def test_one_sided_pairs_turn_round():
    found = fisher_lsd(TABLE, alternative="less")
    straight, turned = found.result(NAMES[0], NAMES[3]), found.result(NAMES[3], NAMES[0])
    assert straight.alternative == "learner 1 is below learner 4"
    assert straight.null == "learner 1 is not below learner 4"
    assert turned.alternative == "learner 4 is above learner 1"
    assert (straight.tail, turned.tail) == ("less", "greater")
    assert straight.p_value == turned.p_value
    assert (
        straight.critical_value == -turned.critical_value == pytest.approx(-stats.t.isf(0.05, 28))
    )
    assert straight.statistic < straight.critical_value
    assert straight.caveats[-1] == "p-value not adjusted for 6 comparisons"


def test_statistics_and_critical_values_decide_as_p_values_do():
    for procedure in (
        tukey_hsd,
        scheffe,
        fisher_lsd,
        lambda table: fisher_lsd(table, adjust="bonferroni"),
        nemenyi_test,
    ):
        found = procedure(TABLE)
        beyond = found.table["statistic"].abs() > found.critical_value
        assert (beyond == found.table["reject"]).all()
        assert found.result(NAMES[0], NAMES[3]).critical_value == found.critical_value
