"""Columns as nuisance factors: few levels, whatever the column."""

import numpy as np
import pandas as pd

from verulam.experiment._plan.nuisance_columns import as_levels


def test_categories_keep_their_names_and_gaps_are_a_level():
    found = as_levels(pd.Series(["b", None, "a", "b"], name="who"))
    assert found.levels == ("a", "b", "missing")
    assert found.codes.tolist() == [1, 2, 0, 1]


def test_rare_categories_become_one():
    column = pd.Series([str(number) for number in range(30)] + ["7"] * 5, name="id")
    found = as_levels(column)
    assert len(found.levels) == 11
    assert found.levels[-1] == "others"
    assert found.levels[found.codes[7]] == "7"


def test_few_numbers_stay_and_many_are_cut_into_quarters():
    years = as_levels(pd.Series([2009, 2007, 2008, 2007], name="year"))
    assert years.levels == ("2007", "2008", "2009")
    ages = as_levels(pd.Series(np.arange(100.0), name="age"))
    assert len(ages.levels) == 4
    assert np.bincount(ages.codes).tolist() == [25, 25, 25, 25]


def test_truths():
    assert as_levels(pd.Series([True, False, True], name="night")).levels == ("False", "True")
