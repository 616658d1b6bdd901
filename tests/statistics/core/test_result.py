"""The record: decision, words, and the forms that reports use."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from verulam.statistics import (
    Assumption,
    ConfidenceInterval,
    EffectSize,
    TestResult,
    cv_t_test,
    friedman_test,
)
from verulam.statistics._core.result import p_text


@pytest.fixture
def result():
    return TestResult(
        name="Some test",
        null="nothing differs",
        alternative="something differs",
        statistic=2.5,
        statistic_name="t",
        p_value=0.03,
        critical_value=2.26,
        degrees_of_freedom=(9,),
        estimate_name="mean difference",
        interval=ConfidenceInterval(0.01, np.inf, 0.95, 0.02, "t"),
        effect_size=EffectSize("Cohen's d", 0.8),
        assumptions=(Assumption("a is b", True, "a check"), Assumption("c is d")),
        caveats=("folds overlap",),
    )


def test_decision_is_never_acceptance(result):
    assert (result.reject, result.decision) == (True, "reject")
    other = TestResult("n", "equal", "unequal", 1.0, "t", 0.05, alpha=0.05)
    assert (other.reject, other.decision) == (False, "fail to reject")
    assert other.conclusion() == "Fail to reject the hypothesis that equal."


def test_paragraph_has_every_part(result):
    text = " ".join(str(result).split())
    for part in (
        "Some test: t(9) = 2.5, p = 0.03 (critical value 2.26 at alpha 0.05).",
        "Reject the hypothesis that nothing differs, in favour of: something differs.",
        "Mean difference 0.02, 95% interval [0.01, inf].",
        "Effect: Cohen's d 0.8.",
        "Assumes: a is b (plausible: a check); c is d (not checked).",
        "Caveat: folds overlap.",
    ):
        assert part in text
    assert max(map(len, str(result).splitlines())) <= 88


def test_terminal_form(result):
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(result)
    text = console.export_text()
    assert "Some test" in text
    assert "Reject the hypothesis" in text


def test_dictionary_is_json_and_frame_is_one_row(result):
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["decision"] == "reject"
    assert read["interval_low"] == 0.01
    assert read["interval_high"] is None
    assert read["degrees_of_freedom"] == [9.0]
    frame = result.to_frame()
    assert frame.shape[0] == 1
    assert frame.loc[0, "caveats"] == "folds overlap"


def test_interval():
    interval = ConfidenceInterval(1.0, 3.0, 0.9, 2.0, "x")
    assert 1.0 in interval
    assert 3.5 not in interval
    assert interval.width == 2.0
    assert str(interval) == "90% interval [1, 3]"


def test_very_small_p_values_are_bounds():
    assert p_text(1e-12) == "p < 0.0001"
    assert p_text(0.0123) == "p = 0.0123"


def test_every_kind_of_result_prints():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 10))
    for result in (cv_t_test(first, second), friedman_test(rng.normal(size=(9, 3)))):
        assert result.name in str(result)
        assert result.to_dict()["source"]
