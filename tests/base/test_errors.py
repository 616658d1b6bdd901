"""The nearest names, and messages that read as sentences."""

import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataWarning, UnknownNameError, nearest_names, unknown_name, warn_caller
from verulam.linear import Perceptron


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


def test_a_warning_names_the_line_of_the_users_call():
    with pytest.warns(ConvergenceWarning) as record:
        Perceptron(max_iter=1).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert record[0].filename == __file__


def test_a_warning_is_of_the_kind_asked_for():
    with pytest.warns(DataWarning, match="a look") as record:
        warn_caller("deserves a look", DataWarning)
    assert record[0].filename == __file__
