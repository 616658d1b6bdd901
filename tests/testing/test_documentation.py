"""Docstrings against signatures."""

import pytest

from verulam.base import Regressor
from verulam.testing import documented_names, quoted_defaults
from verulam.testing._documentation import (
    check_doctest,
    check_documented_attributes,
    check_documented_parameters,
)

DOCSTRING = """Do it.

    Parameters
    ----------
    first, second
        Two things. Defaults to ``1.5``.
    third : int
        With a type, and the default behaviour of others.
    **options
        Passed on; default None.

    Returns
    -------
    nothing
    """


def test_names_of_a_section():
    assert documented_names(DOCSTRING, "Parameters") == ["first", "second", "third", "options"]
    assert documented_names(DOCSTRING, "Returns") == ["nothing"]
    assert documented_names(DOCSTRING, "Attributes") == []
    assert documented_names("", "Parameters") == []


def test_quoted_defaults():
    defaults = quoted_defaults(DOCSTRING)
    assert defaults == {"first": 1.5, "second": 1.5, "options": None}


class Undocumented(Regressor):
    """Say nothing of the depth."""

    def __init__(self, depth=3):
        self.depth = depth


class Surplus(Undocumented):
    """Speak of a width that is not there.

    Parameters
    ----------
    depth, width
        Sizes.
    """


class Outdated(Undocumented):
    """Quote an old default.

    Parameters
    ----------
    depth
        Levels, default ``2``.

    Attributes
    ----------
    weights
        Lacks its underscore.
    """

    def fit(self, X, y):
        return self


class Promising(Outdated):
    """Promise an attribute.

    Attributes
    ----------
    weights_
        Never set.
    """


@pytest.mark.parametrize(
    ("check", "learner", "message"),
    [
        (check_documented_parameters, Undocumented(), "does not document depth"),
        (check_documented_parameters, Surplus(), "documents width"),
        (check_documented_parameters, Outdated(), "documented default 2, true default 3"),
        (check_documented_attributes, Undocumented(), "documents no attributes"),
        (check_documented_attributes, Outdated(), "does not end in an underscore"),
        (check_documented_attributes, Promising(), "not there after fit"),
        (check_doctest, Undocumented(), "no example"),
    ],
)
def test_a_broken_promise_is_found(check, learner, message):
    with pytest.raises(AssertionError, match=message):
        check(learner)
