"""Growing and walking trees whose nodes test several inputs at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.tree._nodes.inputs import InputCode
from verulam.tree._nodes.kinds import KIND_NUMBERS, FittedNode, fit_node
from verulam.tree._nodes.problem import NodeOptions, NodeProblem, impurity_of, split_impurity_of
from verulam.tree._nodes.splits import NodeTest
from verulam.tree._structure.tree import LEAF, TreeStructure, collapse, surviving

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """When a node is a leaf.

    Attributes
    ----------
    max_depth
        Largest number of tests on a path.
    min_split
        Fewest rows of a node that may be split.
    impurity_threshold
        Nodes of smaller impurity are leaves.
    purity_threshold
        Nodes whose largest class has at least this share are leaves.
    min_decrease
        Smallest decrease of impurity, weighted by the node's share of all rows, of a split.
    """

    max_depth: float
    min_split: int
    impurity_threshold: float
    purity_threshold: float
    min_decrease: float


@dataclass(frozen=True, eq=False)
class MultivariateTree:
    """A tree with a test of its own in each inner node.

    Attributes
    ----------
    structure
        Links, counts and impurities of the nodes; its `kind` numbers the kinds of nodes.
    tests
        The test of each node; None for leaves.
    spreads : ndarray of shape (n_nodes,)
        Standard deviation of each test's scores in training, the unit of softness.
    """

    structure: TreeStructure
    tests: tuple[NodeTest | None, ...]
    spreads: Numbers

    def apply(self, inputs: Numbers) -> NDArray[np.int32]:
        """Return the leaf of each row."""
        leaves = np.zeros(len(inputs), dtype=np.int32)
        rows_of = {0: np.arange(len(inputs))}
        for node, test in enumerate(self.tests):
            # Parents come before their children, so that the rows of a node are known by now.
            rows = rows_of.pop(node)
            if test is None:
                leaves[rows] = node
                continue
            branches = test.branches(inputs[rows]) if len(rows) else rows
            for branch, child in enumerate(self.structure.children(node)):
                rows_of[child] = rows[branches == branch]
        return leaves

    def leaf_shares(self, inputs: Numbers, softness: float) -> Numbers:
        """Return the share of each row (first axis) that reaches each node (second axis)."""
        shares = np.zeros((len(inputs), len(self.tests)))
        shares[:, 0] = 1.0
        for node, test in enumerate(self.tests):
            if test is not None:
                parts = test.shares(inputs, softness * self.spreads[node])
                children = list(self.structure.children(node))
                shares[:, children] = shares[:, node, None] * parts
        return shares

    def reached(self, inputs: Numbers, contributions: Numbers) -> Numbers:
        """Return the sum of the rows' contributions in each node that they pass."""
        sums = np.zeros((len(self.tests), contributions.shape[1]))
        np.add.at(sums, self.apply(inputs), contributions)
        for node in range(len(self.tests) - 1, 0, -1):
            sums[self.structure.parent[node]] += sums[node]
        return sums

    def collapsed(self, to_leaf: NDArray[np.bool_]) -> "MultivariateTree":
        """Return the tree with the marked nodes turned into leaves."""
        order = surviving(self.structure, to_leaf)
        tests = tuple(None if to_leaf[node] else self.tests[node] for node in order)
        spreads = np.where(to_leaf[order], 1.0, self.spreads[order])
        return MultivariateTree(collapse(self.structure, to_leaf), tests, spreads)


@dataclass(eq=False)
class _Node:
    """A node while the tree grows."""

    rows: NDArray[np.intp]
    n_rows: int
    parent: int
    depth: int
    counts: Numbers
    impurity: float
    first_child: int = -1
    fitted: FittedNode | None = None
    spread: float = 1.0
    gain: float = 0.0


Choose = Callable[[NodeProblem], FittedNode | None]


def grow_tree(
    inputs: Numbers,
    codes: NDArray[np.int64],
    weights: Numbers,
    n_classes: int,
    code: InputCode,
    options: NodeOptions,
    limits: Limits,
    choose: Choose,
    random: np.random.Generator,
) -> MultivariateTree:
    """Return the tree grown on training rows.

    Parameters
    ----------
    inputs
        Numbers, in the units of the table.
    codes
        Class of each row.
    weights
        Weight of each row.
    n_classes
        Number of classes.
    code
        Centre and scale of the inputs, for learning.
    options
        Choices that are the same in all nodes.
    limits
        When a node is a leaf.
    choose
        Returns the test that a node's rows teach, on standardised inputs.
    random
        Where chance comes from.
    """
    standardised = (inputs - code.centre) / code.scale
    total = float(weights.sum())

    def make(rows: NDArray[np.intp], parent: int, depth: int) -> _Node:
        counts: Numbers = np.bincount(codes[rows], weights[rows], minlength=n_classes).astype(float)
        impurity = impurity_of(counts, options.criterion)
        return _Node(rows, len(rows), parent, depth, counts, impurity)

    nodes = [make(np.arange(len(inputs)), -1, 0)]
    # Breadth-first: children are appended behind all nodes of the depth above, so that parents come
    # first.
    for number, node in enumerate(nodes):  # which grows on the way
        # Only nodes that wait to be split hold their rows.
        rows, node.rows = node.rows, node.rows[:0]
        if _is_leaf(node, limits):
            continue
        problem = NodeProblem(
            np.ascontiguousarray(standardised[rows]),
            codes[rows],
            weights[rows],
            n_classes,
            options,
            random,
        )
        node_inputs = inputs[rows]
        fitted = _in_units(choose(problem), problem, node_inputs, code)
        if fitted is None:
            # In other units rounding may move a row across; a threshold is safe.
            fitted = _in_units(fit_node("univariate", problem), problem, node_inputs, code)
        gain = 0.0 if fitted is None else max(0.0, node.impurity - fitted.impurity)
        if fitted is None or gain * node.counts.sum() / total < limits.min_decrease:
            continue
        test = fitted.test
        branches = test.branches(node_inputs)
        node.fitted, node.first_child, node.gain = fitted, len(nodes), gain
        node.spread = _spread(test.scores(node_inputs), weights[rows])
        nodes += [
            make(rows[branches == branch], number, node.depth + 1)
            for branch in range(test.n_branches)
        ]
    return _assembled(nodes)


def _in_units(
    fitted: FittedNode | None, problem: NodeProblem, inputs: Numbers, code: InputCode
) -> FittedNode | None:
    """Return a test in the units of the table; None if it leaves a branch too few rows there."""
    if fitted is None:
        return None
    test = fitted.test.unscaled(code.centre, code.scale)
    branches = test.branches(inputs)
    if np.bincount(branches, minlength=test.n_branches).min() < problem.options.min_rows:
        return None
    return FittedNode(fitted.kind, test, split_impurity_of(problem, branches, test.n_branches))


def _spread(scores: Numbers, weights: Numbers) -> float:
    """Return the standard deviation of scores, over all branches that have them; 1 if zero."""
    mean = np.average(scores, axis=0, weights=weights)
    squares = np.average((scores - mean) ** 2, axis=0, weights=weights)
    return float(np.sqrt(squares.mean())) or 1.0


def _is_leaf(node: _Node, limits: Limits) -> bool:
    total = node.counts.sum()
    return bool(
        node.depth >= limits.max_depth
        or node.n_rows < limits.min_split
        or np.count_nonzero(node.counts) < 2
        or node.impurity < limits.impurity_threshold
        or node.counts.max() >= limits.purity_threshold * total
    )


def _assembled(nodes: list[_Node]) -> MultivariateTree:
    """Return grown nodes as arrays."""
    n_nodes = len(nodes)

    def constant(value: float, kind: type) -> NDArray[Any]:
        return np.full(n_nodes, value, dtype=kind)

    def gathered(values: list[Any], kind: type) -> NDArray[Any]:
        return np.array(values, dtype=kind)

    structure = TreeStructure(
        kind=gathered(
            [KIND_NUMBERS[node.fitted.kind] if node.fitted else LEAF for node in nodes], np.int8
        ),
        column=constant(-1, np.int32),
        threshold=constant(np.nan, np.float64),
        first_child=gathered([node.first_child for node in nodes], np.int32),
        n_children=gathered(
            [node.fitted.test.n_branches if node.fitted else 0 for node in nodes], np.int32
        ),
        missing_branch=constant(-1, np.int32),
        category_start=np.empty(0, dtype=np.int32),
        category_words=np.empty(0, dtype=np.uint64),
        category_branches=np.empty(0, dtype=np.int32),
        n_rows=gathered([node.n_rows for node in nodes], np.int32),
        own_weight=gathered([node.counts.sum() for node in nodes], np.float64),
        values=np.array([node.counts for node in nodes]),
        impurity=gathered([node.impurity for node in nodes], np.float64),
        gain=gathered([node.gain for node in nodes], np.float64),
        n_categories=np.empty(0, dtype=np.int32),
    )
    tests = tuple(node.fitted.test if node.fitted else None for node in nodes)
    return MultivariateTree(structure, tests, np.array([node.spread for node in nodes]))
