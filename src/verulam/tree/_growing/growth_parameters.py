"""Growth parameters, training sample and nodes, as named tuples that compiled loops take."""

from typing import Any, NamedTuple

import numpy as np

#: Impurities of classes, then errors of numbers; from `WORST` on, the largest of a node counts.
GINI, ENTROPY, RISK, VARIANCE, ABSOLUTE, WORST, WORST_OF_MEAN = range(7)
#: Fields of the best split of a column: the decrease of weight times impurity, the known rows on
#: the first side, the branch of the missing ones (-1 for none), the class by whose share categories
#: were ordered, the information of the split, and whether C4.5 would call the column many-valued.
DECREASE, N_FIRST, MISSING_TO, ORDERED_BY, SPLIT_INFO, MANY_VALUED, N_SPLIT_FIELDS = range(7)
#: Bits of a packed word that hold the row; the bits above hold the rank of its value.
ROW_BITS = np.uint64(32)
ROW_MASK = np.uint64((1 << 32) - 1)
#: Rank of a missing value, above all others.
MISSING_RANK = np.uint64((1 << 32) - 1)


class Sample(NamedTuple):
    """The training rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Encoded rows.
    packed : uint64 ndarray of shape (n_columns, n_rows)
        For each column its rows in ascending order, each with the rank of its value above the
        row's number. A node owns the same slice of every column.
    rows : int32 ndarray
        The rows of each node, in the same slices.
    classes : integer ndarray
        Class codes, or empty.
    targets : ndarray
        Numbers to predict, or empty.
    weights : ndarray
        Weight of each row, or empty if all weigh 1.
    n_categories : int32 ndarray
        Categories of each column; 0 for numeric ones.
    side : integer ndarray
        Where the branch that each row goes to is written.
    """

    values: Any
    packed: Any
    rows: Any
    classes: Any
    targets: Any
    weights: Any
    n_categories: Any
    side: Any


class GrowthParameters(NamedTuple):
    """Split criterion and stopping rules of a growing tree (pre-pruning).

    Attributes
    ----------
    criterion
        One of the impurities or errors above.
    n_classes
        Classes, or 1 for numbers.
    gain_ratio
        Divide the gain by the information of the split, under C4.5's guards.
    n_way
        One branch for each category, instead of two subsets.
    fractional
        Divide rows with a missing value among the children.
    boundaries_only
        Try thresholds only where the class changes.
    max_depth, min_split, min_leaf
        Largest depth; fewest rows of a node to split and of its children.
    threshold
        Impurity or error below which a node is a leaf.
    purity
        Share of the largest class from which on a node is a leaf.
    min_decrease
        Smallest weighted decrease of the impurity that justifies a split.
    max_features
        Columns tried at each node, drawn at random if fewer than there are.
    total_weight
        Weight of all training rows.
    loss : ndarray of shape (n_actions, n_classes)
        Losses for the risk.
    table : ndarray
        For each whole number n log2 n with the entropy, or 1 / n with Gini index and squared error;
        empty where weights are not 1.
    """

    criterion: int
    n_classes: int
    gain_ratio: bool
    n_way: bool
    fractional: bool
    boundaries_only: bool
    max_depth: int
    min_split: int
    min_leaf: int
    threshold: float
    purity: float
    min_decrease: float
    max_features: int
    total_weight: float
    loss: Any
    table: Any


class Scratch(NamedTuple):
    """Buffers that one thread works in, sized for the largest node it meets.

    Attributes
    ----------
    words : uint64 ndarray
        Rows on their way to another child, or categories in another order.
    rows : int32 ndarray
        Rows on their way to another child, or of one category.
    numbers : ndarray of shape (2, n_rows + 1)
        Running errors of both sides; short where no criterion needs them.
    ranks : int32 ndarray
        For each row the rank of its target in the node, where a criterion needs it.
    counts : ndarray of shape (4, n_values)
        Class counts of the node, of both sides and of the missing rows; or weight and sum.
    groups : ndarray of shape (3, n_categories)
        Weight, sum of targets and place of each category.
    places : int64 ndarray of shape (2, n_categories + 2)
        Where each category or child starts.
    """

    words: Any
    rows: Any
    numbers: Any
    ranks: Any
    counts: Any
    groups: Any
    places: Any


#: A node of a growing tree, its fields named as in `TreeStructure`; it owns `n_rows` of the
#: sample's rows from `start` on. Where trees grow by levels, `place` is where it stands in the
#: front of its level (-1 for leaves), `slot` which table has its counts (-1 for none), and `error`
#: is the impurity times the weight. Loops that pass one array of records instead of one array for
#: each field compile in half the time.
NODE = np.dtype(
    [
        *((name, np.float64) for name in ("threshold", "weight", "impurity", "error", "gain")),
        ("seed", np.uint64),
        *((name, np.int32) for name in ("column", "parent", "first_child", "n_children")),
        *((name, np.int32) for name in ("missing_branch", "category_start")),
        *((name, np.int32) for name in ("start", "n_rows", "depth")),
        *((name, np.int32) for name in ("place", "slot")),
        ("kind", np.int8),
    ]
)


class Nodes(NamedTuple):
    """The nodes of a growing tree.

    Attributes
    ----------
    cells : ndarray of NODE, or a dict of arrays by the names of its fields
        All but the values.
    values : ndarray of shape (n_nodes, n_values)
        Class weights, or the number to predict.
    """

    cells: Any
    values: Any
