"""A classifier that is a Bayesian network: naive, tree-augmented, searched for, or drawn."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from verulam.base import (
    ByClass,
    Chunk,
    Classifier,
    DataError,
    DataWarning,
    OnePassClassifier,
    StrOptions,
    map_rows,
    warn_caller,
)
from verulam.graphical._graph import as_graph
from verulam.graphical._inference.junction_tree import MOST_ENTRIES
from verulam.graphical._learners.families import CONSTRAINTS, GRAPHS, NetworkLearner
from verulam.graphical._network.asking import row_marginals
from verulam.graphical._network.network import BayesianNetwork
from verulam.numerics import PosteriorMixin

#: Names of the class's node, of which the first that is no column is taken.
_CLASS_NAMES = ("class", "target", "class_", "target_")


@dataclass(frozen=True, eq=False)
class NetworkParameters:
    """The fitted parameters, named as the attributes of the learners."""

    network: BayesianNetwork


class BayesianNetworkClassifier(PosteriorMixin, NetworkLearner, OnePassClassifier, Classifier):
    r"""Predict the class from whatever columns are known, by a Bayesian network.

    Columns of pandas dtype ``category`` or ``bool`` are variables as they are; numbers are cut
    into bins. Missing values are summed over exactly, in any combination; by samples, with a
    warning, where the tables for that would be too large.

    Parameters
    ----------
    structure
        "naive": columns are independent within a class; "tan": a tree of dependences among them
        besides; "search": the graph that scores best, by tabu search; or a graph over the columns
        and one further node, the class: a network, a dictionary of parents, or arcs.
    alpha
        Pseudo-count of each cell of a table; 0 gives the plain frequencies.
    n_bins
        Bins of about equal weight that a numeric column is cut into, at the first rows that are
        seen; a column with no more values has one state for each. None refuses numbers.
    criterion
        What a search maximises: "bic", "bde", "aic" or "k2".
    max_parents
        Most parents of a node in a search.
    required, forbidden
        Arcs, as pairs (parent, child), that a search must or must not use.
    unseen
        What to do with a category that was not there in training: "error", or "skip" to treat
        it as missing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    network_ : BayesianNetwork
        The network, which can be asked anything; the class's node is `class_node_`.
    class_node_ : str
        Name of the class's node.
    levels_ : tuple of Levels
        The states of each column.
    search_ : LearnedStructure or None
        How a search went, if there was one.
    statistics_ : ByClass
        Counts, to which `partial_fit` adds; for a search, the distinct rows.

    Notes
    -----
    .. math:: P(C \mid x) \propto \sum_{x_{mis}} \prod_i P(x_i \mid parents(x_i))

    Alpaydin 14.3 (figure 14.6), 14.7; tree-augmented naive Bayes by Friedman, Geiger and Goldszmidt
    (1997). A table is counted over the rows that have all of its columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.graphical import BayesianNetworkClassifier
    >>> X = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"], "wind": ["no", "no", "no", "yes"]})
    >>> X = X.astype("category")
    >>> classifier = BayesianNetworkClassifier().fit(X, ["out", "out", "in", "in"])
    >>> classifier.predict_proba(X.mask(X == "sun").iloc[:1]).round(3)
    array([[0.4, 0.6]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "structure": [StrOptions({"naive", "tan", "search"}), *GRAPHS],
        **CONSTRAINTS,
    }
    _tree = "tan"
    #: Naive and tree-shaped networks can be read as a whole.
    _interpretability: ClassVar[int] = 3

    def __init__(
        self,
        *,
        structure: Any = "naive",
        alpha: float = 1.0,
        n_bins: int | None = 5,
        criterion: str = "bic",
        max_parents: int = 4,
        required: Any = None,
        forbidden: Any = None,
        unseen: str = "error",
    ) -> None:
        self.structure = structure
        self.alpha = alpha
        self.n_bins = n_bins
        self.criterion = criterion
        self.max_parents = max_parents
        self.required = required
        self.forbidden = forbidden
        self.unseen = unseen

    @property
    def _complexity(self) -> int:
        """The grade of naive Bayes, of a tree, or of a graph."""
        return {"naive": 1, "tan": 2}.get(str(self.structure), 3)

    @classmethod
    def _example_learners(cls) -> list["BayesianNetworkClassifier"]:
        return [cls(), cls(structure="tan"), cls(structure="search")]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        """Return columns of three values, so that each is a state in every part of the rows."""
        random = np.random.default_rng(0)
        labels = np.arange(60) % 3
        inputs = (labels[:, np.newaxis] + random.integers(0, 2, size=(60, 3))) % 3
        return inputs.astype(np.float64), np.array(["a", "b", "c"])[labels]

    @property
    def _target(self) -> str:
        names = self._names
        if not isinstance(self.structure, str):
            others = [node for node in as_graph(self.structure).nodes if node not in names]
            if len(others) != 1:
                raise DataError(
                    "structure: expected one node that is no column, the class; there are "
                    f"{len(others)}{': ' + ', '.join(others[:5]) if others else ''}."
                )
            return others[0]
        return next(name for name in (*_CLASS_NAMES, "_".join(names)) if name not in names)

    def _statistics(self, chunk: Chunk, parameters: None) -> ByClass[Any]:
        assert chunk.classes is not None
        return ByClass(chunk.classes, self._count(chunk, len(chunk.classes)))

    def _update(self, statistics: ByClass[Any]) -> NetworkParameters:
        labels = tuple(label.item() if hasattr(label, "item") else label for label in self.classes_)
        self.class_node_ = self._target
        return NetworkParameters(self._learn_network(statistics.statistics, labels))

    def _joint_log_likelihood(self, X: Any) -> np.ndarray:
        codes = self._encode(X)
        joint = map_rows(self._joint_of_rows, codes, (len(codes), len(self.classes_)))
        impossible = joint.max(axis=1) == -np.inf
        if impossible.any():
            warn_caller(
                f"{impossible.sum()} rows are impossible under every class, because alpha=0 gives "
                "unobserved combinations probability 0; their posteriors are the priors.",
                DataWarning,
            )
            joint[impossible] = np.log(self.network_.query(self.class_node_).values)
        return joint

    def _joint_of_rows(self, codes: np.ndarray) -> np.ndarray:
        joint = np.empty((len(codes), len(self.classes_)))
        gaps = (codes < 0).any(axis=1)
        joint[~gaps] = self._joint_of_complete(codes[~gaps])
        if gaps.any():
            marginals, log_evidence = self._ask_rows(codes[gaps])
            with np.errstate(divide="ignore"):
                joint[gaps] = np.log(marginals) + log_evidence[:, np.newaxis]
        return joint

    def _joint_of_complete(self, codes: np.ndarray) -> np.ndarray:
        """Sum the logarithms of the tables that hold the class: only these tell it apart."""
        places = {name: place for place, name in enumerate(self._names)}
        joint = np.zeros((len(codes), len(self.classes_)))
        for factor in self.network_.model.factors:
            if self.class_node_ not in factor.variables:
                continue
            others = [name for name in factor.variables if name != self.class_node_]
            with np.errstate(divide="ignore"):
                logs = np.log(factor.arranged([*others, self.class_node_]).values)
            joint += logs[tuple(codes[:, places[name]] for name in others)]
        return joint

    def _ask_rows(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the posterior of the class for rows with gaps, and their log evidence."""
        model = self.network_.model
        nodes = self._node_codes(codes)
        marginals, log_evidence = row_marginals(self.network_, nodes, MOST_ENTRIES, 0)
        place = model.positions[self.class_node_]
        start = sum(model.sizes[:place])
        part = marginals[:, start : start + model.sizes[place]]
        # Nothing was written for rows of probability zero.
        return np.where(log_evidence[:, np.newaxis] > -np.inf, part, 0.0), log_evidence
