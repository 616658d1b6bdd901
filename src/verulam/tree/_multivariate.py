"""Multivariate and omnivariate classification trees."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from verulam.base import (
    Classifier,
    DataError,
    Interval,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    generator,
)
from verulam.numerics import announced
from verulam.tree._base import (
    usable_weights,
    warn_of_empty_columns,
    warn_of_one_class,
    weights_by_class,
)
from verulam.tree._export.text import class_text
from verulam.tree._nodes.class_grouping import GROUPINGS
from verulam.tree._nodes.grow import Limits, MultivariateTree, grow_tree
from verulam.tree._nodes.inputs import learn_inputs
from verulam.tree._nodes.kinds import FITS, KIND_NAMES, check_kind, fit_node, fit_omnivariate
from verulam.tree._nodes.problem import CRITERIA, NodeOptions
from verulam.tree._nodes.splits import NodeTest
from verulam.tree._options import SHARED_CONSTRAINTS, feature_count, row_count
from verulam.tree._pruning import no_better_than_leaves, pessimistic_errors
from verulam.tree._structure.encoding import category_counts, encode_rows, read_rows
from verulam.tree._structure.tree import LEAF
from verulam.tree._structure.validation_rows import split_rows

#: What an omnivariate node chooses among: one input, a hyperplane, a curved surface.
CANDIDATES = ("univariate", "lda", "quadratic")
#: Terms by which a subtree may be better than a leaf and still be pruned pessimistically.
PESSIMISTIC_SLACK = 0.1


class MultivariateTreeClassifier(Classifier):
    r"""Decide by a tree whose nodes weigh several inputs at once.

    Where classes are divided along slanted or curved lines, one such node does the work of many
    single thresholds. Categories become indicators (0 or 1), gaps are filled with means, and
    inputs are standardised for learning; the tests themselves are in the units of the table.

    Parameters
    ----------
    node
        The kind of test. Of one input: "univariate", or "ternary" with two thresholds and three
        branches. Linear: "lda" by Fisher's direction, "logistic" by the fewest errors of a
        search that starts from a logistic discriminant, "cart" by tuning one coefficient after
        the other, "oc1" by the same with random jumps and starts.
        Curved: "sphere", "ellipsoid", "quadratic", and "network", a small perceptron with one
        hidden layer. "gaussian" has a branch for each class. "omnivariate" chooses for each node
        among `candidates`.
    criterion
        Impurity of a node: "entropy", "gini" or "misclassification".
    grouping
        How more than two classes are divided into two groups that a discriminant can separate:
        "exchange" moves classes while that reduces the impurity, "two_means" clusters their
        means.
    max_inputs
        Inputs that a node may use, the best ones by themselves: a number, a share, "sqrt" or
        "log2".
    candidates
        Kinds for omnivariate nodes, from the simplest to the most complex.
    alpha
        Level of the 5x2 cv F test by which a more complex kind must be better.
    hidden_units
        Units of a network.
    n_init
        Starts of "oc1" and "network", of which the best result is taken: of "oc1" all but the
        first are random, of "network" all.
    n_jumps
        Random directions that "oc1" and "logistic" try in vain before they end.
    softness
        Above 0, rows take all branches with probabilities that change smoothly at the borders;
        in standard deviations of a node's scores.
    max_depth
        Largest number of tests on a path.
    min_samples_split
        Fewest rows, or smallest share of all rows, of a node that may be split.
    min_samples_leaf
        Fewest rows, or smallest share, of a branch.
    impurity_threshold
        Nodes of smaller impurity are leaves (:math:`\theta_I`).
    purity_threshold
        Nodes whose largest class has at least this share are leaves (:math:`\theta_p`).
    min_impurity_decrease
        Smallest decrease of impurity, weighted by the node's share of all rows, of a split.
    pruning
        "none"; "reduced_error" on rows set aside; or "pessimistic", by C4.5's upper bounds on
        the errors.
    pruning_fraction
        Share of the rows that "reduced_error" sets aside.
    pruning_confidence
        Confidence of the pessimistic bounds; smaller prunes more.
    class_weight
        Weights by class, or "balanced".
    standardise
        Whether inputs are given mean 0 and standard deviation 1 for learning. Spheres of
        inputs that are not are spheres in the units of the table.
    unseen
        What to do with a category that was not there in training: "error", or "missing".
    random_state
        Seed of random starts and jumps, of the halves of omnivariate nodes, and of the rows set
        aside.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    tree_ : MultivariateTree
        The tree.
    schema_ : TableSchema
        Columns and categories found in training.
    code_ : InputCode
        How the table becomes inputs.
    n_leaves_grown_ : int
        Leaves before pruning.

    Notes
    -----
    A linear node asks whether :math:`w^T x + w_0 > 0`, a quadratic one whether
    :math:`x^T W x + w^T x + w_0 > 0`, a sphere whether :math:`\|x - c\| \leq \alpha`; see
    Alpaydin 9.6 (9.19)-(9.21), and 9.7 for omnivariate trees.

    Examples
    --------
    One slanted line needs many thresholds, but one linear node:

    >>> import numpy as np
    >>> from verulam.tree import DecisionTreeClassifier, MultivariateTreeClassifier
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> y = X[:, 0] > X[:, 1]
    >>> DecisionTreeClassifier().fit(X, y).get_n_leaves()
    15
    >>> print(MultivariateTreeClassifier("lda").fit(X, y).export_text())
    3.704 x1 - 3.844 x2 + 0.1287 <= 0: False (90)
    3.704 x1 - 3.844 x2 + 0.1287 > 0: True (110)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "node": [StrOptions({*FITS, "omnivariate"})],
        "criterion": [StrOptions(set(CRITERIA))],
        "grouping": [StrOptions(set(GROUPINGS))],
        "max_inputs": SHARED_CONSTRAINTS["max_features"],
        "candidates": ["array-like"],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "hidden_units": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "n_jumps": [Interval(Integral, 0, None, closed="left")],
        "softness": [Interval(Real, 0.0, None, closed="left")],
        "max_depth": SHARED_CONSTRAINTS["max_depth"],
        "min_samples_split": SHARED_CONSTRAINTS["min_samples_split"],
        "min_samples_leaf": SHARED_CONSTRAINTS["min_samples_leaf"][:2],
        "impurity_threshold": [Interval(Real, 0.0, None, closed="left")],
        "purity_threshold": [Interval(Real, 0.0, 1.0, closed="right")],
        "min_impurity_decrease": SHARED_CONSTRAINTS["min_impurity_decrease"],
        "pruning": [StrOptions({"none", "reduced_error", "pessimistic"})],
        "pruning_fraction": SHARED_CONSTRAINTS["pruning_fraction"],
        "pruning_confidence": [Interval(Real, 0.0, 0.5, closed="right")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "standardise": ["boolean"],
        "unseen": SHARED_CONSTRAINTS["unseen"],
        "random_state": SHARED_CONSTRAINTS["random_state"],
    }

    def __init__(
        self,
        node: str = "lda",
        *,
        criterion: str = "entropy",
        grouping: str = "exchange",
        max_inputs: int | float | str | None = None,
        candidates: Sequence[str] = CANDIDATES,
        alpha: float = 0.05,
        hidden_units: int = 3,
        n_init: int = 6,
        n_jumps: int = 5,
        softness: float = 0.0,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        impurity_threshold: float = 0.0,
        purity_threshold: float = 1.0,
        min_impurity_decrease: float = 0.0,
        pruning: str = "none",
        pruning_fraction: float = 1 / 3,
        pruning_confidence: float = 0.25,
        class_weight: Mapping[Any, float] | str | None = None,
        standardise: bool = True,
        unseen: str = "error",
        random_state: Any = None,
    ) -> None:
        self.node = node
        self.criterion = criterion
        self.grouping = grouping
        self.max_inputs = max_inputs
        self.candidates = candidates
        self.alpha = alpha
        self.hidden_units = hidden_units
        self.n_init = n_init
        self.n_jumps = n_jumps
        self.softness = softness
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.impurity_threshold = impurity_threshold
        self.purity_threshold = purity_threshold
        self.min_impurity_decrease = min_impurity_decrease
        self.pruning = pruning
        self.pruning_fraction = pruning_fraction
        self.pruning_confidence = pruning_confidence
        self.class_weight = class_weight
        self.standardise = standardise
        self.unseen = unseen
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["MultivariateTreeClassifier"]:
        return [
            cls("lda"),
            cls("oc1", n_init=2, n_jumps=2),
            cls("gaussian"),
            cls("sphere", softness=0.1),
            cls("quadratic", pruning="reduced_error"),
            cls("omnivariate", pruning="pessimistic"),
        ]

    @property
    def _skipped_checks(self) -> dict[str, str]:  # type: ignore[override] # depends on pruning
        skipped = {}
        if self.pruning != "pessimistic":
            pure = "the leaves of a tree that is hardly pruned are pure, whatever the weights"
            skipped["check_class_weight_classifiers"] = pure
        if self.pruning == "reduced_error":
            drawn = "rows are set aside by chance, whatever their weights"
            skipped["check_sample_weight_equivalence_on_dense_data"] = drawn
        return skipped

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        self._check_candidates()
        self.schema_, rows = read_rows(self, X)
        codes, self.classes_ = encode_classes(self, y)
        check_consistent_length(rows, codes)
        positive_weights, used = usable_weights(sample_weight, rows)
        rows, codes = rows[used], codes[used].astype(np.int64)
        weights = np.ones(len(rows)) if positive_weights is None else positive_weights
        if self.class_weight is not None:
            weights = weights * weights_by_class(self.class_weight, self.classes_[codes])
        if len(np.unique(codes)) == 1:
            warn_of_one_class(self.classes_[codes[0]])
        warn_of_empty_columns(self.schema_, rows)
        random = generator(self.random_state)
        if self.pruning == "reduced_error":
            growing, aside = split_rows(codes, self.pruning_fraction, random, stratified=True)
            # Means and scales are learned on the growing rows too: those set aside stay unseen.
            tree = self._grown(rows[growing], codes[growing], weights[growing], random)
            self.n_leaves_grown_ = tree.structure.n_leaves
            inputs = self.code_.encode(rows[aside])
            self.tree_ = self._reduced(tree, inputs, codes[aside], weights[aside])
            return self
        tree = self._grown(rows, codes, weights, random)
        self.n_leaves_grown_ = tree.structure.n_leaves
        self.tree_ = self._pessimistic(tree) if self.pruning == "pessimistic" else tree
        return self

    def _check_candidates(self) -> None:
        if self.node != "omnivariate":
            return
        if len(self.candidates) == 0:
            raise DataError("candidates is empty; an omnivariate tree needs at least one kind.")
        for name in self.candidates:
            check_kind(name)

    def _grown(
        self,
        rows: NDArray[np.float64],
        codes: NDArray[np.int64],
        weights: NDArray[np.float64],
        random: np.random.Generator,
    ) -> MultivariateTree:
        self.code_ = learn_inputs(
            rows,
            self.schema_,
            category_counts(self.schema_),
            weights,
            standardise=self.standardise,
        )
        inputs = self.code_.encode(rows)
        options = NodeOptions(
            criterion=CRITERIA[self.criterion],
            min_rows=row_count(self.min_samples_leaf, len(rows)),
            grouping=self.grouping,
            max_inputs=feature_count(self.max_inputs, inputs.shape[1]),
            hidden_units=self.hidden_units,
            n_init=self.n_init,
            n_jumps=self.n_jumps,
        )
        limits = Limits(
            max_depth=np.inf if self.max_depth is None else self.max_depth,
            min_split=max(2, row_count(self.min_samples_split, len(rows))),
            impurity_threshold=self.impurity_threshold,
            purity_threshold=self.purity_threshold,
            min_decrease=self.min_impurity_decrease,
        )
        with announced("verulam.tree"):
            return grow_tree(
                inputs,
                codes,
                weights,
                len(self.classes_),
                self.code_,
                options,
                limits,
                self._choose,
                random,
            )

    def _choose(self, problem: Any) -> Any:
        if self.node == "omnivariate":
            return fit_omnivariate(problem, self.candidates, self.alpha)
        return fit_node(self.node, problem)

    @staticmethod
    def _reduced(
        tree: MultivariateTree,
        inputs: NDArray[np.float64],
        codes: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> MultivariateTree:
        """Return the tree pruned where a leaf makes no more errors on other rows."""
        # The errors of deciding for any class, summed in all nodes by one walk; each node then
        # looks its decision up.
        wrong = codes[:, None] != np.arange(tree.structure.values.shape[1])
        reached = tree.reached(inputs, wrong * weights[:, None])
        decisions = tree.structure.values.argmax(axis=1)
        errors = reached[np.arange(len(decisions)), decisions]
        return tree.collapsed(no_better_than_leaves(tree.structure, errors, tol=1e-12))

    def _pessimistic(self, tree: MultivariateTree) -> MultivariateTree:
        structure = tree.structure
        errors = structure.weight - structure.values.max(axis=1)
        bounds = pessimistic_errors(structure.weight, errors, self.pruning_confidence)
        marks = no_better_than_leaves(structure, bounds, tol=PESSIMISTIC_SLACK)
        return tree.collapsed(marks)

    def _inputs(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.code_.encode(encode_rows(self, X, self.schema_, unseen=self.unseen))

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the number of the leaf that each row reaches."""
        return self.tree_.apply(self._inputs(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the shares of the classes in each row's leaf, or with `softness` in all leaves."""
        inputs = self._inputs(X)
        values = self.tree_.structure.values
        shares = values / values.sum(axis=1, keepdims=True)
        if self.softness == 0.0:
            return shares[self.tree_.apply(inputs)]
        # A soft tree averages over all its leaves, by the probability of reaching them.
        leaves = self.tree_.structure.leaves
        return self.tree_.leaf_shares(inputs, self.softness)[:, leaves] @ shares[leaves]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        decisions = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[decisions]

    def get_depth(self) -> int:
        """Return the largest number of tests on the way to a leaf."""
        check_is_fitted(self)
        return int(self.tree_.structure.depths().max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.structure.n_leaves

    def get_n_parameters(self) -> int:
        """Return how many numbers the tests of all nodes have learned."""
        check_is_fitted(self)
        return sum(test.n_parameters for test in self.tree_.tests if test is not None)

    def get_size(self) -> int:
        """Return the complexity of the tree: its nodes, and the parameters of their tests."""
        return self.get_n_parameters() + len(self.tree_.structure)

    def discriminant(self, node: int = 0) -> NodeTest:
        """Return the test of an inner node, in the units of the table."""
        check_is_fitted(self)
        test = self.tree_.tests[node]
        if test is None:
            raise DataError(f"node {node} is a leaf and has no discriminant.")
        return test

    def node_kinds(self) -> pd.DataFrame:
        """Return how many nodes of each kind (columns) there are at each depth (rows)."""
        check_is_fitted(self)
        structure = self.tree_.structure
        depths = structure.depths()
        inner = np.flatnonzero(structure.kind != LEAF)
        kinds = [KIND_NAMES[int(structure.kind[node])] for node in inner]
        table = pd.crosstab(
            pd.Series(depths[inner], name="depth", dtype=np.int64),
            pd.Series(kinds, name="kind", dtype=object),
        )
        return table[[name for name in FITS if name in table.columns]]

    def export_text(self, *, max_depth: int | None = None) -> str:
        """Return the tree as indented lines, each with the discriminant of its branch."""
        check_is_fitted(self)
        structure, lines = self.tree_.structure, []
        waiting = [(0, -1)]
        while waiting:
            node, depth = waiting.pop()
            cut = max_depth is not None and depth + 1 >= max_depth
            leaf = structure.kind[node] == LEAF
            if node:
                parent = int(structure.parent[node])
                branch = node - int(structure.first_child[parent])
                answer = self.discriminant(parent).describe(self.code_.names, branch)
                lines.append("|   " * depth + answer)
            if leaf or cut:
                text = self.leaf_text(node) if leaf else f"... ({self.leaf_text(node)})"
                lines[-1:] = [f"{lines[-1]}: {text}"] if node else [text]
            else:
                waiting.extend((child, depth + 1) for child in reversed(structure.children(node)))
        return "\n".join(lines)

    def node_text(self, node: int) -> str:
        """Return the question of an inner node."""
        test = self.discriminant(node)
        if test.n_branches == 2:
            return test.describe(self.code_.names, 1)
        return f"{test.n_branches} branches"

    def branch_text(self, node: int) -> str:
        """Return the answer that leads from a node's parent to it."""
        structure = self.tree_.structure
        parent = int(structure.parent[node])
        branch = node - int(structure.first_child[parent])
        test = self.discriminant(parent)
        if test.n_branches == 2:
            return "yes" if branch else "no"
        return test.describe(self.code_.names, branch)

    def leaf_text(self, node: int) -> str:
        """Return the decision of a node in words, with the weight behind it."""
        values = self.tree_.structure.values[node]
        return class_text(values, self.classes_, int(np.argmax(values)))
