"""Tables, numbers, names and sentences as plain text."""

import pytest

from verulam.experiment._text import (
    Numbers,
    achieves,
    chance_text,
    few,
    listed,
    measure_words,
    named,
    number_text,
    numbers_text,
    paragraph,
    seconds_text,
    sentence,
    text_table,
    times_text,
    wrapped_table,
)
from verulam.measures import Measure, measure

ERROR, RMSE = measure("error"), measure("rmse")


def test_columns_line_up():
    lines = text_table(["name", "n"], [["a", "100"], ["longer", "2"]]).splitlines()
    assert lines == ["name      n", "------  ---", "a       100", "longer    2"]


def test_a_mark_behind_a_name_goes_with_its_last_word():
    table = wrapped_table(["learner", "error"], [["logistic regression *", "0.08"]], 27)
    assert table.splitlines()[2:] == ["logistic         0.08", "  regression *"]


@pytest.mark.parametrize("room", range(22, 60))
def test_wrapped_names_lose_no_letter(room):
    """Whatever the width, the lines of a name put together are the name."""
    name = "naive Bayes (preparation=standardised, kind=self-organising.map)"
    table = wrapped_table(["learner", "error"], [[name, "0.08"]], room)
    lines = table.splitlines()[2:]
    assert max(map(len, table.splitlines())) <= room
    pieces = [line.removesuffix("0.08").strip() for line in lines]
    assert "".join(pieces).replace(" ", "") == name.replace(" ", "")


@pytest.mark.parametrize(
    ("value", "text"), [(0.25, "0.2500"), (1234.5678, "1235"), (float("nan"), "-")]
)
def test_numbers(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "12.3 ms"), (2.5, "2.50 s"), (float("nan"), "-")]
)
def test_seconds(value, text):
    assert seconds_text(value) == text


def test_one_column_has_one_number_of_decimals():
    assert numbers_text([1234.56, 2.0]) == ["1,235", "2"]
    assert numbers_text([0.12345, 99.0]) == ["0.1235", "99.0000"]
    assert numbers_text([1e9, 2.0]) == ["1e+09", "2.0000"]
    assert numbers_text([]) == []


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"], "or") == "a, b or c"
    assert few(list("abcdef")) == "a, b, c, d, e and f"
    assert few(list("abcdefg")) == "a, b, c, d, e and 2 others"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("majority class", "the majority class"),
        ("mean predictor", "the mean predictor"),
        ("parametric.NaiveBayes", "naive Bayes"),
        ("support vector machine", "the support vector machine"),
        ("logistic regression", "logistic regression"),
        ("k-nearest neighbours", "k-nearest neighbours"),
        ("decision tree (max_depth=3)", "the decision tree (max_depth=3)"),
        ("random forest", "the random forest"),
        ("my own", "my own"),
    ],
)
def test_names_have_an_article_where_they_are_things(name, words):
    assert named(name) == words


def test_sentences_begin_and_end_as_they_should():
    assert sentence("naive Bayes did best") == "Naive Bayes did best."
    assert sentence("it did. ") == "It did."
    assert sentence("did it?") == "Did it?"
    assert sentence("the error is 5 %") == "The error is 5 %."


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1.0, "nearly always"),
        (0.975, "nearly always"),
        (0.974, "about 19 times in 20"),
        (0.925, "about 19 times in 20"),
        (0.92, "about 9 times in 10"),
        (0.85, "about 8 times in 10"),
        (0.5, "about 5 times in 10"),
        (0.06, "about 1 time in 10"),
        (0.04, "hardly ever"),
        (0.0, "hardly ever"),
    ],
)
def test_how_often(share, words):
    assert times_text(share) == words


def test_never_all_times_out_of_all():
    texts = {times_text(share / 1000) for share in range(1001)}
    assert not any("20 times in 20" in text or "10 times in 10" in text for text in texts)


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.583, "58 %"),
        (0.0, "< 1 %"),
        (0.0099, "< 1 %"),
        (0.01, "1 %"),
        (0.99, "99 %"),
        (0.991, "> 99 %"),
        (1.0, "> 99 %"),
        (float("nan"), "-"),
    ],
)
def test_chances(probability, text):
    assert chance_text(probability) == text


class TestNumbers:
    @pytest.mark.parametrize(
        ("width", "text"),
        [(0.15, "18.1 %"), (0.027, "18.1 %"), (0.0027, "18.12 %"), (0.0, "18.1 %")],
    )
    def test_shares_are_given_in_per_cent(self, width, text):
        assert Numbers.of(ERROR, width).value(0.18123) == text

    @pytest.mark.parametrize(
        ("value", "width", "text"),
        [
            (3.4251, 0.31, "3.43"),
            (3.4251, 2.0, "3.4"),
            (34.251, 25.0, "34"),
            (54321.2, 2000.0, "54,321"),
            (5.4321e9, 1e8, "5.43e+09"),
            (0.00345, 0.0002, "0.00345"),
            (3.4e-9, 1e-9, "3.4e-09"),
            (2.5, float("inf"), "2.500"),
            (2.5, float("nan"), "2.500"),
        ],
    )
    def test_others_have_the_decimals_that_they_deserve(self, value, width, text):
        assert Numbers.of(RMSE, width).value(value) == text

    def test_areas_are_no_percentages(self):
        write = Numbers.of(measure("auc"), 0.05)
        assert write.value(0.8612) == "0.861"
        assert write.difference(0.01) == "0.010"
        assert write.margin(0.01) == "0.01"

    def test_zero_has_no_sign(self):
        assert Numbers.of(RMSE, 2.0).plain(-0.01) == "0.0"
        assert Numbers.of(RMSE, 2.0).plain(-0.06) == "-0.1"

    def test_differences_of_shares_are_points(self):
        write = Numbers.of(ERROR, 0.03)
        assert write.difference(0.042) == "4.2 points"
        assert write.difference(-0.01) == "1.0 point"
        assert write.interval(0.154, 0.208) == "15.4 to 20.8"
        assert Numbers.of(RMSE, 0.3).difference(-0.25) == "0.25"

    def test_margins_have_no_needless_zeros(self):
        write = Numbers.of(ERROR, 0.03)
        assert write.margin(0.01) == "1 point"
        assert write.margin(0.005) == "0.5 points"
        assert write.margin(0.02) == "2 points"
        assert Numbers.of(RMSE, 0.3).margin(0.0784) == "0.0784"

    def test_what_vanishes_in_writing(self):
        write = Numbers.of(ERROR, 0.03)
        assert write.vanishes(0.0004)
        assert write.vanishes(-0.0)
        assert not write.vanishes(0.0006)
        assert not Numbers.of(RMSE, 1e-9).vanishes(1e-12)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("error", "errs on 3"),
        ("accuracy", "is right on 3"),
        ("rmse", "has a root mean squared error of 3"),
        ("auc", "has an area under the ROC curve of 3"),
        ("f_score", "has an F score of 3"),
        ("average_precision", "has an average precision of 3"),
        ("matthews", "has a Matthews correlation of 3"),
        ("kappa", "has a Cohen's kappa of 3"),
        ("brier", "has a Brier score of 3"),
        ("log_loss", "has a log loss of 3"),
        ("half_sum_of_squares", "reaches 3 in half the sum of squares"),
    ],
)
def test_what_a_contestant_achieves(name, words):
    assert achieves(measure(name), "3") == words


def test_measures_keep_abbreviations_and_names():
    assert measure_words(measure("r2")) == "coefficient of determination"
    assert measure_words(measure("kappa")) == "Cohen's kappa"
    profit = Measure.from_function(lambda *_: 1.0, greater_is_better=True, name="net_profit")
    assert measure_words(profit) == "net profit"
    assert achieves(profit, "3") == "has a net profit of 3"


def test_labels_are_never_changed_where_a_sentence_begins():
    names = ["svm", "naive bayes", "parametric.NaiveBayes", "logistic regression"]
    assert sentence("svm did best", names) == "svm did best."
    assert sentence("svms did best", names) == "Svms did best."
    assert sentence("naive bayes did best", names) == "naive bayes did best."
    assert sentence("naive Bayes did best", names) == "Naive Bayes did best."
    assert sentence("logistic regression did best", names) == "Logistic regression did best."
    assert paragraph(["use svm", "", "svm errs"], names) == "Use svm. svm errs."
