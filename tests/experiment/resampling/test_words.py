"""What is printed of a resampling is also read."""

import pytest

from verulam.base import DataError
from verulam.experiment import resampling
from verulam.experiment._resampling.resampling import drawn_title, drawn_word

WORDS = (
    "10-fold", "10x10-fold", "2-10x10-fold", "3x2-fold", "5x2", "leave-one-out", "holdout 0.25",
    "3x holdout 0.2", "bootstrap 200", "out-of-bag 50", "disjoint 30", "20 seeds",
    "5-fold by Patient Id", "2-10x5-fold by patient", "leave-one-out by ward", "bootstrap 9 by id",
    "expanding 5", "expanding 4 by Sold", "sliding 3 gap 10 by sold", "expanding 5 gap 2",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_titles_are_read_as_the_words_they_stand_for(word):
    asked = resampling(word)
    read = resampling(asked.title)
    assert read.title == asked.title
    # Two-fold cross-validation is the same by either of its names.
    assert str(read).removesuffix("-fold") == str(asked).removesuffix("-fold")
    assert read.groups == asked.groups
    assert read.order == asked.order


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_a_report_says_of_the_drawn_splits_is_read(word, task):
    asked = resampling(word)
    said = drawn_title(asked, {"wine": asked.folds}, [task])
    assert resampling(said).title == asked.title
    assert resampling(f"{said}, when the budget was spent").title == asked.title


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("stratified 10-fold", "10-fold"),
        ("Stratified 10-fold cross-validation", "10-fold"),
        ("10 x 10-fold", "10x10-fold"),
        ("10-fold CV", "10-fold"),
        ("5x2cv", "5x2"),
        ("LOO", "leave-one-out"),
        ("leave one out", "leave-one-out"),
        ("hold-out 0.3", "holdout 0.3"),
        ("10 × 10 fold", "10x10-fold"),
        ("2-10 x 10-fold", "2-10x10-fold"),
        ("5 x 2", "5x2"),
        ("3x holdout 0.2", "3x holdout 0.2"),
        ("stratified 10-fold cross-validation (9-fold cross-validation on b)", "10-fold"),
        (drawn_word(resampling("20-fold"), {"firms": 11}), "11-fold"),
        (drawn_word(resampling("10-fold"), {"iris": 10, "glass": 9}), "10-fold"),
    ],
)  # fmt: skip
def test_other_ways_of_writing(words, expected):
    assert str(resampling(words)) == expected


def test_columns_keep_their_spelling():
    assert resampling("5-fold by Patient (new)").groups == "Patient (new)"
    assert resampling("expanding 5 by Date, local").order == "Date, local"


@pytest.mark.parametrize("words", ["stratified", "cross-validation", "x10-fold", "ten by fold"])
def test_other_words_are_refused_with_what_is_accepted(words):
    with pytest.raises(DataError, match=r"resampling: .* expected '10-fold'"):
        resampling(words)
