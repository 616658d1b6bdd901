"""Every way in which the arrays of a tree may not fit together is refused, and no sound tree is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.tree import DecisionTreeClassifier
from verulam.tree._structure.link_checks import check_links

CODES = np.arange(300) % 70
TABLE = pd.DataFrame(
    {"a": CODES * 1.5, "b": pd.Categorical.from_codes(CODES, [f"c{code}" for code in range(70)])}
)
LABELS = CODES % 3 == 0


@pytest.fixture(params=["subset", "n_way"])
def tree(request):
    return DecisionTreeClassifier(categories=request.param).fit(TABLE[["b"]], LABELS).tree_


def changed(tree, name, place, value):
    array = getattr(tree, name).astype(np.int64)
    array[place] = value
    return replace(tree, **{name: array})


@pytest.mark.filterwarnings("ignore:y has one class")
def test_trees_that_were_grown_are_sound(tree):
    check_links(tree)
    check_links(DecisionTreeClassifier().fit(TABLE, LABELS).tree_)
    check_links(DecisionTreeClassifier().fit(TABLE, np.zeros(300)).tree_)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("first_child", 0, "children before their parents"),
        ("first_child", 10**6, "children that are no nodes"),
        ("first_child", -5, "children before their parents"),
        ("n_children", 0, "too few children"),
        ("n_children", 10**6, "children that are no nodes"),
        ("column", 1, "columns that are not there"),
        ("column", -1, "columns that are not there"),
        ("missing_branch", 10**6, "gaps that lead to no child"),
        ("category_start", 10**6, "categories that are not there"),
        ("category_start", -1, "categories that are not there"),
        ("kind", 0, "leaves with children"),
    ],
)
def test_links_that_lead_astray_are_refused(tree, name, value, words):
    with pytest.raises(DataError, match=f"The tree has .*{words}"):
        check_links(changed(tree, name, 0, value))


def test_categories_must_lead_to_children():
    tree = DecisionTreeClassifier(categories="n_way").fit(TABLE[["b"]], LABELS).tree_
    with pytest.raises(DataError, match="categories that lead to no child"):
        check_links(changed(tree, "category_branches", 0, 10**6))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("kind", lambda array: array[:0], "no nodes"),
        ("column", lambda array: array[:-1], "'column'"),
        ("column", lambda array: array.astype(np.float64), "no whole numbers in 'column'"),
        ("threshold", lambda array: array.astype(np.float32), "'threshold'"),
        ("category_words", lambda array: array.astype(np.int64), "'category_words'"),
        ("category_start", lambda array: array[:1], "'category_start'"),
        ("category_start", lambda array: array[:0], "without any"),
        ("values", lambda array: array[:-1], "'values'"),
        ("n_categories", lambda array: array[None], "a table in 'n_categories'"),
        ("n_categories", lambda array: array + 10**6, "categories that are not there"),
    ],
)
def test_arrays_of_another_form_are_refused(tree, name, change, words):
    with pytest.raises(DataError, match=f"The tree has .*{words}"):
        check_links(replace(tree, **{name: change(getattr(tree, name))}))
