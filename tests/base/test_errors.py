"""The nearest names, and messages that read as sentences."""

import pytest

from verulam.base import UnknownNameError, nearest_names, unknown_name


def test_nearest_names_ignore_case():
    assert nearest_names("NAIVEBAYS", ["NaiveBayes", "PCA"], count=1) == ["NaiveBayes"]


def test_three_names_are_offered():
    error = unknown_name("learner", "k-nn", ["k-means", "k-nearest neighbours", "tree", "k-nna"])
    assert isinstance(error, UnknownNameError)
    assert str(error).startswith("Unknown learner 'k-nn'. Nearest: k-nna, ")
    assert str(error).count(",") == 2


def test_message_has_no_quotes_around_it():
    with pytest.raises(UnknownNameError, match=r"^Unknown metric 'x'\. Try y\.$"):
        raise unknown_name("metric", "x", [], hint="Try y.")
