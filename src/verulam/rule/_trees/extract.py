"""Rules read off a tree: one conjunction for each leaf."""

from typing import Any

import numpy as np

from verulam.base import DataError, TableSchema, check_is_fitted
from verulam.rule._base import Rule, RuleBase
from verulam.rule._term import Term
from verulam.tree import Condition, Path, TreeStructure, paths


def extract_rules(tree: Any, *, missing: bool = False) -> RuleBase:
    """Return the paths of a fitted tree as rules, with their support and confidence.

    Parameters
    ----------
    tree
        A fitted `verulam.tree.DecisionTreeClassifier` or `DecisionTreeRegressor`.
    missing
        Whether missing entries follow the tree's branches; otherwise, and in a tree that divides
        them among its branches, they meet no condition, and the rows that no rule covers get what
        the root would predict.

    Notes
    -----
    Conditions on one column are joined: the tightest bounds, the categories that all accept. The
    rules of a tree exclude one another, so that they may be asked in any order; their supports add
    up to one. See Alpaydin 9.4 (fig. 9.6).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import extract_rules
    >>> from verulam.tree import DecisionTreeClassifier
    >>> table = dataset("buys_computer")
    >>> tree = DecisionTreeClassifier(preset="id3").fit(table.inputs, table.target_values)
    >>> rules = extract_rules(tree)
    >>> print(rules)
    R1: IF age = middle_aged THEN yes  (support 28.6%, confidence 100.0%)
    R2: IF age = senior AND credit_rating = excellent THEN no  (support 14.3%, confidence 100.0%)
    R3: IF age = senior AND credit_rating = fair THEN yes  (support 21.4%, confidence 100.0%)
    R4: IF age = youth AND student = no THEN no  (support 21.4%, confidence 100.0%)
    R5: IF age = youth AND student = yes THEN yes  (support 14.3%, confidence 100.0%)
    ELSE yes  (support 0.0%)
    >>> print(rules.description("no"))
    IF (age = senior AND credit_rating = excellent) OR (age = youth AND student = no) THEN no
    """
    if not hasattr(tree, "tree_") or not hasattr(tree, "schema_"):
        check_is_fitted(tree)
        raise DataError(
            f"tree is a {type(tree).__name__}; rules are read off the trees of verulam.tree."
        )
    if not isinstance(tree.tree_, TreeStructure):
        raise DataError(
            f"tree is a {type(tree).__name__}, whose nodes ask about several inputs at once; a "
            "rule has terms of single columns: use DecisionTreeClassifier."
        )
    if getattr(tree, "linear_leaves_", None) is not None:
        raise DataError(
            "tree has a linear model in each leaf; a rule concludes one value: use "
            "leaf_model='constant'."
        )
    structure, schema = tree.tree_, tree.schema_
    classes = getattr(tree, "classes_", None)
    conclusions = _conclusions(tree)
    # A divided row follows no single path, so that no rule can claim it.
    missing = missing and not structure.fractional
    rules = [
        _as_rule(path, conclusions[path.leaf], tree, missing=missing) for path in paths(structure)
    ]
    if structure.n_leaves == 1:
        return RuleBase((), rules[0], schema, classes)
    return RuleBase(tuple(rules), Rule((), conclusions[0], support=0.0), schema, classes)


def _conclusions(tree: Any) -> np.ndarray:
    """Return what each node of a tree would predict as a leaf."""
    values = tree.tree_.values
    if not hasattr(tree, "classes_"):
        return values[:, 0]
    return tree.classes_[tree._decide(values)]


def _as_rule(path: Path, conclusion: Any, tree: Any, *, missing: bool) -> Rule:
    """Return the conditions of a path with what was counted in its leaf."""
    classes = getattr(tree, "classes_", None)
    terms = tuple(_as_term(condition, tree.schema_, missing) for condition in path.conditions)
    support = float(path.weight / tree.tree_.weight[0])
    # A branch that no row took has the values of its parent, and no weight of its own.
    if classes is None or path.weight == 0:
        return Rule(terms, conclusion, support)
    right = path.values[classes == conclusion].sum()
    confidence = float(right / path.values.sum())
    return Rule(terms, conclusion, support, confidence, tuple(path.values.tolist()))


def _as_term(condition: Condition, schema: TableSchema, missing: bool) -> Term:
    """Return a condition of a tree with the names of its column and categories."""
    name, categories = schema.names[condition.column], schema.categories[condition.column]
    if condition.relation != "in":
        only_missing = condition.relation == ">" and np.isinf(condition.threshold)
        accepts = condition.accepts_missing and (missing or bool(only_missing))
        return Term(name, condition.relation, float(condition.threshold), accepts)
    assert categories is not None
    accepts = condition.accepts_missing and missing
    values = tuple(categories.tolist()[code] for code in condition.categories)
    if len(values) == 1:
        return Term(name, "=", values[0], accepts)
    return Term(name, "in", values, accepts)
