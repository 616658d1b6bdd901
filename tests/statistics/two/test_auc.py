"""DeLong's variance and test, and bands around curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score, roc_curve

from verulam.base import DataError
from verulam.statistics import RocBand, auc_interval, delong_test, roc_band

RNG = np.random.default_rng(5)
TRUE = RNG.integers(0, 2, 120)
FIRST = np.round(RNG.normal(size=120) + 1.2 * TRUE, 1)
SECOND = np.round(0.5 * FIRST + RNG.normal(size=120) + 0.3 * TRUE, 1)


def placements(scores):
    """Return the definition: kernel means over all pairs of positives and negatives."""
    gaps = scores[TRUE == 1][:, None] - scores[TRUE == 0][None]
    kernel = (gaps > 0) + 0.5 * (gaps == 0)
    return kernel.mean(axis=1), kernel.mean(axis=0)


def test_matches_the_definition():
    above, below = zip(placements(FIRST), placements(SECOND), strict=True)
    covariance = np.cov(above) / np.sum(TRUE == 1) + np.cov(below) / np.sum(TRUE == 0)
    result = delong_test(TRUE, FIRST, SECOND)
    areas = roc_auc_score(TRUE, FIRST), roc_auc_score(TRUE, SECOND)
    assert_allclose(result.details["areas"], areas)
    assert_allclose(result.details["covariance"], covariance)
    error = np.sqrt([1, -1] @ covariance @ [1, -1])
    assert_allclose(result.statistic, (areas[0] - areas[1]) / error)
    interval = auc_interval(TRUE, FIRST)
    assert interval.estimate == pytest.approx(areas[0])
    assert_allclose(interval.width / 2, 1.959964 * np.sqrt(covariance[0, 0]), rtol=1e-6)


def test_only_the_order_of_scores_matters():
    expected = delong_test(TRUE, FIRST, SECOND).p_value
    assert_allclose(delong_test(TRUE, np.exp(FIRST), 3 * SECOND - 7).p_value, expected)


def test_direction_and_positive_label():
    greater = delong_test(TRUE, FIRST, SECOND, alternative="greater")
    assert greater.p_value < 0.5
    labels = np.where(TRUE == 1, "a", "b")
    assert_allclose(delong_test(labels, FIRST, SECOND, positive="a").statistic, greater.statistic)
    assert_allclose(delong_test(labels, FIRST, SECOND).statistic, -greater.statistic)
    with pytest.raises(DataError, match="say which is `positive`"):
        delong_test(np.arange(120) % 3, FIRST, SECOND)


def test_interval_is_cut_at_one():
    assert auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]).high == 1.0


def test_band_holds_the_curve_and_the_truth():
    band = roc_band(TRUE, FIRST, resamples=400, random_state=0).table
    fp, tp, _ = roc_curve(TRUE, FIRST, drop_intermediate=False)
    inside = (band["fp_rate"] > 0) & (band["fp_rate"] < 1)
    assert (band["low"] <= band["tp_rate"] + 1e-9).all()
    assert (band["tp_rate"] <= band["high"] + 1e-9)[inside].mean() > 0.95
    assert np.trapezoid(band["tp_rate"], band["fp_rate"]) == pytest.approx(
        np.trapezoid(tp, fp), abs=0.02
    )


def test_band_narrows_with_more_data():
    rng = np.random.default_rng(0)
    widths = []
    for size in (100, 1600):
        true = np.arange(size) % 2
        table = roc_band(true, rng.normal(size=size) + true, resamples=200, random_state=0).table
        widths.append((table["high"] - table["low"]).mean())
    assert widths[1] < 0.4 * widths[0]


@pytest.mark.parametrize(("sign", "limits"), [(1, (0.025**0.2, 1.0)), (-1, (0.0, 1 - 0.025**0.2))])
def test_a_perfect_order_has_an_interval_with_width(sign, limits):
    """Five pairs in order: Clopper and Pearson's limit of five hits in five."""
    interval = auc_interval([0] * 9 + [1] * 5, sign * np.arange(14.0))
    assert (interval.low, interval.high) == pytest.approx(limits)
    assert interval.method.startswith("Clopper-Pearson")


def test_a_band_holds_its_curve():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    band = roc_band(labels, labels + random.normal(size=80), positive=1, random_state=0)
    assert isinstance(band, RocBand)
    assert (band.table["low"] <= band.table["high"]).all()
