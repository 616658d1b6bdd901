"""How a comparison reads."""

import re

import matplotlib.pyplot as plt
import pytest

from verulam.experiment import compare


@pytest.fixture(scope="module")
def comparison():
    learners = ["majority class", "naive bayes", "k-nearest neighbours"]
    return compare("iris", learners, folds=5, progress=False)


def test_text_fits_a_terminal(comparison):
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "iris: Error by stratified 5-fold cross-validation"
    assert repr(comparison) == str(comparison)


def test_text_says_the_numbers_and_the_words(comparison):
    text = str(comparison)
    assert re.search(r"^majority class +0\.6667 +0\.0000 ", text, re.MULTILINE)
    assert re.search(r"^majority class +\+0\.\d{4} +< 0\.001 +reject$", text, re.MULTILINE)
    assert "fail to reject" in text
    assert "Recommended: parametric.NaiveBayes" in " ".join(text.split())
    assert "Preparation:\n- majority class, parametric.NaiveBayes: the table as it is" in text
    assert "Keep in mind:" in text


def test_html(comparison):
    html = comparison._repr_html_()
    assert html.count("<tr") == 1 + 1 + 3
    assert "k-nearest neighbours" in html


def test_plot(comparison):
    axes = comparison.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(comparison.summary.index)
    plt.close(axes.figure)


def test_frame_is_a_copy(comparison):
    frame = comparison.to_frame()
    frame["score"] = 0
    assert comparison.scores["score"].sum() > 0


def test_one_learner_alone():
    alone = compare("iris", ["naive bayes"], folds=3, progress=False)
    assert "no other complete learner to test it against" in alone.conclusion
    assert "against" not in str(alone).splitlines()[5]
