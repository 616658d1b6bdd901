"""What a comparison offers, and how it reads."""

import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.data import dataset
from verulam.experiment import Comparison, compare
from verulam.statistics import corrected_t_test, five_by_two_f_test

BAYES, NEIGHBOURS = "naive Bayes", "k-nearest neighbours"


@pytest.fixture(scope="module")
def comparison():
    learners = ["majority class", "naive bayes", "k-nearest neighbours"]
    return compare("iris", learners, resampling="5-fold", progress=False)


@pytest.fixture(scope="module")
def two_classes():
    learners = ["majority class", "naive bayes", "perceptron"]
    return compare("breast_cancer", learners, resampling="5x2", progress=False)


@pytest.fixture(scope="module")
def numbers():
    learners = ["mean predictor", "linear regression"]
    return compare("auto_mpg", learners, resampling="3-fold", progress=False)


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_a_comparison_is_what_is_returned(comparison):
    assert isinstance(comparison, Comparison)
    assert comparison.data == "iris"


def test_text_fits_a_terminal(comparison):
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "iris: Error by stratified 5-fold cross-validation"
    assert repr(comparison) == str(comparison)


def test_text_says_the_numbers_and_the_words(comparison):
    text = str(comparison)
    value = r"^majority class +66\.7 % +\d+\.\d to \d+\.\d +< 1 % +< 1 %$"
    assert re.search(value, text, re.MULTILINE)
    assert re.search(r"^majority class +6\d\.\d \(.*\) +< 0\.001 +worse$", text, re.MULTILINE)
    assert re.search(r"^contestant +error +95 % interval +is best +within 1 point$", text, re.M)
    assert re.search(r"^against the best +points \(95 % interval\) +adjusted p$", text, re.M)
    assert "not distinguishable" in text
    assert comparison.conclusion in " ".join(text.split())
    assert "Preparation:\n- majority class, naive Bayes: the table as it is" in text
    assert "Keep in mind:" in text


def test_html(comparison):
    html = comparison._repr_html_()
    assert html.count("<tr") == 1 + 3
    assert f"<strong>{comparison.conclusion}</strong>" in html
    assert "k-nearest neighbours" in html


def test_scores_are_tidy(comparison):
    table = comparison.scores()
    assert table.columns.tolist()[:5] == ["learner", "repeat", "fold", "measure", "score"]
    assert len(table) == 15
    both = comparison.scores(["error", "log_loss"])
    assert both.groupby("measure").size().to_dict() == {"error": 15, "log_loss": 15}
    again = both[both["measure"] == "error"]["score"]
    np.testing.assert_array_equal(again, table["score"])
    table["score"] = 0
    assert comparison.scores()["score"].sum() > 0


def test_ranking_is_from_best_to_worst(comparison):
    ranking = comparison.ranking()
    means = comparison.scores().groupby("learner")["score"].mean()
    assert ranking["mean"].is_monotonic_increasing
    np.testing.assert_allclose(ranking["mean"], means[ranking.index])
    assert ranking["against_best"].tolist() == ["best", "not distinguishable", "worse"]
    np.testing.assert_allclose(ranking["estimate"], means[ranking.index])
    assert ranking.index.name == "learner"
    first = ranking.index[0]
    np.testing.assert_allclose(
        ranking["difference"].iloc[1:], (means - means[first])[ranking.index].iloc[1:]
    )


def test_evidence_is_for_everybody(comparison, numbers):
    for compared in (comparison, numbers):
        ranking = compared.ranking()
        assert list(ranking.index) == list(compared.evidence.order)
        assert compared.recommended == compared.evidence.selection.name
    once = compare("iris", ["naive bayes", "nearest mean"], measure="kappa",
                   resampling="holdout", progress=False)  # fmt: skip
    with pytest.raises(DataError, match="tells nothing of how far a mean may be off"):
        _ = once.evidence


def test_a_long_first_line_is_folded():
    data = replace(dataset("iris"), name="flowers of three kinds that Anderson measured")
    found = compare(data, ["nearest mean", "majority class"], resampling="2-3x5-fold",
                    progress=False)  # fmt: skip
    assert max(map(len, str(found).splitlines())) <= 80


def by_learner(compared):
    return compared.scores().pivot_table("score", ["repeat", "fold"], "learner")


def test_tests_are_those_of_the_design(comparison, two_classes):
    scores = by_learner(comparison)
    expected = corrected_t_test(scores[BAYES], scores[NEIGHBOURS], test_share=0.2)
    assert comparison.test(BAYES, NEIGHBOURS).p_value == pytest.approx(expected.p_value)
    assert "analysis of variance" in comparison.test().name.lower()
    halves = by_learner(two_classes)
    pair = [halves[name].to_numpy().reshape(5, 2) for name in (BAYES, "perceptron")]
    expected = five_by_two_f_test(*pair)
    assert two_classes.test(BAYES, "perceptron").p_value == pytest.approx(expected.p_value)


def test_learners_are_called_as_they_were_given_or_as_the_catalogue_has_them(comparison):
    own = comparison.test(BAYES, NEIGHBOURS)
    for name in ("naive bayes", "parametric.NaiveBayes", "NaiveBayes"):
        given = comparison.test(name, NEIGHBOURS)
        assert (given.statistic, given.p_value) == (own.statistic, own.p_value)


def test_what_cannot_be_tested(comparison):
    with pytest.raises(UnknownNameError, match=r"Unknown learner 'tree'\. Nearest: "):
        comparison.test("tree", BAYES)
    with pytest.raises(UnknownNameError, match="Unknown learner 'None'"):
        comparison.test(BAYES)
    alone = compare("iris", ["naive bayes"], resampling="3-fold", progress=False)
    with pytest.raises(DataError, match="nothing to test"):
        alone.test()
    assert "nothing to choose between" in alone.conclusion
    assert "*" not in str(alone)
    same = compare("iris", {"a": "nearest mean", "b": "nearest mean"}, progress=False)
    with pytest.raises(DataError, match="a and b cannot be tested: their scores do not vary"):
        same.test("a", "b")


def test_pictures_of_scores(comparison, ax):
    assert comparison.plot_scores(ax=ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == comparison.learners


def test_pictures_of_the_evidence(comparison, ax):
    assert comparison.plot_intervals(ax=ax) is ax
    labels = " ".join(label.get_text() for label in ax.get_yticklabels())
    assert all(name in labels for name in comparison.learners)
    for draw in (comparison.plot_probabilities, comparison.plot_difference):
        ax.clear()
        assert draw(ax=ax) is ax
    ax.clear()
    comparison.plot_difference("naive bayes", "majority class", ax=ax)
    with pytest.raises(UnknownNameError, match="Unknown learner 'tree'"):
        comparison.plot_difference("tree", BAYES)


def test_boxes(comparison, ax):
    comparison.plot_boxes(ax=ax)
    assert ax.get_xlabel() == "Error"


def test_costs(comparison, ax):
    comparison.plot_costs(ax=ax)
    assert ax.get_xlabel() == "seconds to fit"
    assert ax.get_ylabel() == "Error (lower is better)"


def test_roc_curves_are_of_learners_with_probabilities(two_classes, comparison, ax):
    two_classes.plot_roc(ax=ax)
    words = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    assert BAYES in words
    assert "perceptron" not in words
    with pytest.raises(DataError, match="two classes"):
        comparison.plot_roc()


def test_confusion_of_the_recommended_learner(comparison, numbers, ax):
    comparison.plot_confusion(ax=ax)
    shown = sum(
        int(text.get_text().split()[0]) for text in ax.texts if text.get_text()[:1].isdigit()
    )
    assert shown == 150
    with pytest.raises(DataError, match="needs classes"):
        numbers.plot_confusion()
    with pytest.raises(UnknownNameError, match="Unknown learner 'tree'"):
        comparison.plot_confusion("tree")


def test_report(comparison, tmp_path, monkeypatch):
    path = comparison.report(tmp_path / "mine.html")
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert BAYES in page
    assert comparison.conclusion in page.replace("\N{NO-BREAK SPACE}", " ")
    monkeypatch.chdir(tmp_path)
    assert comparison.report().name == "iris-comparison.html"


def test_regression_reads_as_well(numbers):
    assert "Root mean squared error by 3-fold cross-validation" in str(numbers)
    assert numbers.recommended == "linear regression"
    assert numbers.measure.name == "root_mean_squared_error"
