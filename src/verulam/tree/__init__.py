"""Decision trees that take a table as it is, and say what they have learned."""

from verulam.base import publish as _publish
from verulam.tree._classifier import DecisionTreeClassifier
from verulam.tree._export.python_code import export_code
from verulam.tree._export.text import branch_label, describe_condition, export_dot
from verulam.tree._growing.impurity import (
    entropy,
    gini,
    information_gain,
    misclassification,
    risk,
    split_impurity,
)
from verulam.tree._multivariate import MultivariateTreeClassifier
from verulam.tree._nodes.splits import (
    ClasswiseTest,
    IntervalTest,
    LinearTest,
    NetworkTest,
    QuadraticTest,
    SphereTest,
)
from verulam.tree._pruning import PruningPath, pessimistic_errors
from verulam.tree._regressor import DecisionTreeRegressor
from verulam.tree._structure.encoding import category_counts, encode_rows, read_rows
from verulam.tree._structure.tree import (
    Condition,
    Path,
    TreeStructure,
    collapse,
    conditions,
    merge_conditions,
    paths,
)

__all__ = [
    "ClasswiseTest",
    "Condition",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "IntervalTest",
    "LinearTest",
    "MultivariateTreeClassifier",
    "NetworkTest",
    "Path",
    "PruningPath",
    "QuadraticTest",
    "SphereTest",
    "TreeStructure",
    "branch_label",
    "category_counts",
    "collapse",
    "conditions",
    "describe_condition",
    "encode_rows",
    "entropy",
    "export_code",
    "export_dot",
    "gini",
    "information_gain",
    "merge_conditions",
    "misclassification",
    "paths",
    "pessimistic_errors",
    "read_rows",
    "risk",
    "split_impurity",
]

_publish(__name__)
