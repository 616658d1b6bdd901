"""HTML of studies, plans, results and analyses: complete and escaped."""

import pandas as pd
from tests.experiment.report.test_report import outline
from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, analyse, make_plan
from verulam.experiment._study.notebook import facts_html

EVIL = "<script>alert(1)</script>"


def test_a_study_says_what_it_varies():
    nearest = LearnerChoice("k-nearest neighbours", label=EVIL, factors={"n_neighbors": [1, 5]})
    table = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    study = small_study(
        learners=[nearest], data=[DataChoice("iris"), DataChoice(table, target="y")], question=EVIL
    )
    page = study._repr_html_()
    outline(page)
    assert EVIL not in page
    assert "n_neighbors = 1, 5" in page
    assert "iris, a DataFrame" in page
    assert "5-fold cross-validation" in page


def test_a_plan_shows_its_first_runs():
    page = make_plan(small_study())._repr_html_()
    outline(page)
    assert "flowers: 10 runs" in page
    assert page.count("<tr") == 1 + 8
    assert "... and 2 more" in page


def test_results_count_their_runs(two):
    page = two._repr_html_()
    outline(page)
    assert "flowers: 20 done" in page
    assert "parametric.NaiveBayes" in page


def test_an_analysis_has_its_answer_and_table(two):
    analysis = analyse(two)
    page = analysis._repr_html_()
    outline(page)
    assert analysis.answer.sentence[:40] in page
    assert "<table" in page


def test_nothing_is_left_out_silently_but_nothing():
    assert facts_html("x", {"a": 0, "b": "", "c": [1, 2]}).count("<tr>") == 2
