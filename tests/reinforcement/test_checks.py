"""Arguments that are no numbers of the right range or shape are refused in one sentence."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement._checks import check_array, check_number


@pytest.mark.parametrize(
    ("low", "high", "options", "expected"),
    [
        (-np.inf, np.inf, {}, "expected a finite number\\."),
        (1.0, np.inf, {}, "expected a number at least 1\\."),
        (1.0, np.inf, {"open_low": True}, "expected a number above 1\\."),
        (-np.inf, 2.0, {}, "expected a number at most 2\\."),
        (1.0, 2.0, {"open_high": True}, "expected a number at least 1 and below 2\\."),
    ],
)
def test_the_range_is_said(low, high, options, expected):
    with pytest.raises(DataError, match=f"rate is nan; {expected}"):
        check_number("rate", np.nan, low, high, **options)


def test_bounds_belong_to_the_range_unless_it_is_open():
    assert check_number("rate", 1.0, 1.0, 2.0) == 1.0
    assert check_number("rate", 2.0, 1.0, 2.0) == 2.0
    for value, side in ((1.0, "open_low"), (2.0, "open_high")):
        with pytest.raises(DataError, match="rate is"):
            check_number("rate", value, 1.0, 2.0, **{side: True})


def test_shapes_in_which_some_lengths_are_free():
    assert check_array("table", [[1, 2], [3, 4], [5, 6]], (None, 2)).shape == (3, 2)
    with pytest.raises(DataError, match=r"table has shape \(1, 3\); expected 2 axes, of length"):
        check_array("table", [[1, 2, 3]], (None, 2))
    with pytest.raises(DataError, match=r"table has shape \(3,\); expected 2\."):
        check_array("table", [1, 2, 3], (2,))
