"""Tuning as a study says it."""

import pytest

from verulam.base import DataError, UnknownNameError
from verulam.experiment import Tuning
from verulam.experiment._tuning.options import tuning


def test_tables_are_read():
    assert tuning({"method": "grid", "budget": 9}) == Tuning("grid", 9, 3)
    assert tuning({}) == Tuning()
    assert tuning(None) is None
    assert tuning(Tuning(measure="auc").to_dict()) == Tuning(measure="auc")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metod": "grid"}, r"tuning.metod: no such key. Nearest: method"),
        ({"method": "luck"}, "tuning.method: 'luck'; expected one of random, grid, successive"),
        ({"budget": 0}, "tuning.budget: 0; expected a whole number of at least 1"),
        ({"budget": 2.5}, "tuning.budget: 2.5; expected a whole number"),
        ({"folds": 1}, "tuning.folds: 1; expected a whole number of at least 2"),
        (20, "tuning: 20; expected a table"),
    ],
)
def test_errors_name_the_key(given, message):
    with pytest.raises(DataError, match=message):
        tuning(given)
    with pytest.raises(UnknownNameError, match="Unknown measure 'eror'"):
        tuning({"measure": "eror"})


def test_fits_of_a_run():
    assert Tuning("random", 20, 3).fits == 61
    assert Tuning("successive halving", 12, 2).fits == 2 * (36 + 12 + 4) + 1
    assert "20 settings in 3 folds by auc (61 fits a run)" in Tuning(measure="auc").title
