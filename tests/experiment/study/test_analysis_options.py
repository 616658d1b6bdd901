"""AnalysisOptions of a study about its analysis."""

import json

import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import Study, analyse, run
from verulam.experiment._study.analysis_options import AnalysisOptions, analysis_options
from verulam.experiment._study.toml import parse_study


def test_the_analysis_follows_them(tmp_path):
    wished = {
        "alpha": 0.01,
        "acceptable": 0.2,
        "test": "t_test",
        "simplicity": {"fit_seconds": 1, "model_size": 2},
    }
    study = small_study(analysis=wished, aim="assess")
    assert isinstance(study, Study)
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    found = analyse(results)
    assert found.alpha == 0.01
    assert found.assessments is not None
    assert "the paired t test" in found.verdict.method
    assert found.simplicity == "quicker to fit, smaller when stored"
    # Who analyses may say otherwise; the acceptable level is one of the study's own measure.
    other = analyse(results, "log_loss", 0.1, test="corrected_t_test")
    assert (other.alpha, other.assessments) == (0.1, None)
    assert "corrected" in other.verdict.method


def test_rule_and_margin_are_followed_unless_the_analysis_says_otherwise(tmp_path):
    wished = {"matters": 0.2, "rule": "best mean"}
    results = run(
        small_study(analysis=wished), tmp_path / "r.sqlite", engine="serial", progress=False
    )
    assert results.description["analysis"] == wished
    known = analyse(results).evidence["iris"]
    assert (known.margin, known.rule) == (0.2, "best mean")
    other = analyse(results, matters=0.0, rule="one standard error").evidence["iris"]
    assert (other.margin, other.rule) == (0.0, "one standard error")
    # A margin is one of the study's own measure.
    assert analyse(results, "log_loss").evidence["iris"].margin != 0.2


def test_procedures_are_for_several_data_sets(several):
    usual = analyse(several).over_data
    chosen = analyse(several, procedure="shaffer").over_data
    assert "shaffer" in chosen.method.lower()
    assert "shaffer" not in usual.method.lower()


def test_studies_without_are_described_as_before():
    assert "analysis" not in json.loads(small_study().to_json())
    content = {
        "data": ["iris"],
        "learners": ["naive bayes"],
        "analysis": {"simplicity": "interpretability"},
    }
    described = json.loads(parse_study(content).to_json())
    assert described["analysis"] == {"simplicity": "interpretability"}
    assert analysis_options(None) == AnalysisOptions()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 2}, r"analysis\.alpha: 2; expected a number between 0 and 1"),
        ({"alpha": "small"}, r"analysis\.alpha: 'small'; expected a number"),
        ({"acceptable": True}, r"analysis\.acceptable: True; expected a number"),
        ({"test": "coin"}, r"analysis\.test: 'coin'; expected one of mcnemar"),
        ({"simplicity": "beauty"}, r"analysis\.simplicity: 'beauty'; expected some of"),
        ({"simplicity": 3}, r"analysis\.simplicity: 3; expected a cost"),
        ({"matters": -1}, r"analysis\.matters: -1; expected a number of at least 0"),
        ({"matters": float("inf")}, r"analysis\.matters: inf; expected a number of at least 0"),
        ({"matters": "much"}, r"analysis\.matters: 'much'; expected a number"),
        ({"rule": "first"}, r"analysis\.rule: 'first'; expected one of half standard error"),
        ({"procedure": "tukey"}, r"analysis\.procedure: 'tukey'; expected one of"),
        ({"alfa": 0.1}, r"analysis\.alfa: no such key\. Nearest: alpha"),
        (0.05, r"analysis: 0\.05; expected a table"),
    ],
)
def test_bad_wishes_are_named(given, message):
    with pytest.raises(DataError, match=message):
        small_study(analysis=given)
