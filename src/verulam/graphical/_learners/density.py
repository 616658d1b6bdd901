"""The distribution of the rows of a table, as a Bayesian network."""

from typing import Any, ClassVar

import numpy as np

from verulam.base import Chunk, DataError, Density, OnePass, StrOptions, map_rows
from verulam.graphical._inference.junction_tree import MOST_ENTRIES
from verulam.graphical._learners.classifier import NetworkParameters
from verulam.graphical._learners.families import CONSTRAINTS, GRAPHS, NetworkLearner
from verulam.graphical._network.asking import row_evidence

#: Rows drawn from the network to learn which probabilities its own rows have.
N_SIMULATED = 20_000


class BayesianNetworkDensity(NetworkLearner, OnePass, Density):
    r"""Learn the joint distribution of the columns of a table as a Bayesian network.

    Columns of pandas dtype ``category`` or ``bool`` are variables as they are; numbers are cut
    into bins. Missing values are summed over exactly; by samples, with a warning, where the
    tables for that would be too large.

    Parameters
    ----------
    structure
        "independent": no arcs; "tree": the tree of largest mutual information (Chow and Liu);
        "search": the graph that scores best, by tabu search; or a graph over the columns: a
        network, a dictionary of parents, or arcs.
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
    network_ : BayesianNetwork
        The network, which can be asked anything.
    levels_ : tuple of Levels
        The states of each column.
    search_ : LearnedStructure or None
        How a search went, if there was one.
    statistics_ : ClassCounts or DistinctRows
        Counts, to which `partial_fit` adds; for a search, the distinct rows.

    Notes
    -----
    `score_samples` is the logarithm of :math:`\prod_i P(x_i \mid parents(x_i))`: of the probability
    of the row's states, not of a density over the numbers behind them. See Alpaydin 14.2 (14.12),
    14.7. A table is counted over the rows that have all of its columns.

    Examples
    --------
    >>> from verulam.graphical import BayesianNetworkDensity, sprinkler
    >>> rows = sprinkler().sample(2000, random_state=0)
    >>> density = BayesianNetworkDensity(structure="search").fit(rows)
    >>> sorted(density.network_.graph.parents["wet"])
    ['rain', 'sprinkler']
    >>> bool(density.unlikely(rows, share=0.02).sum() < 100)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "structure": [StrOptions({"independent", "tree", "search"}), *GRAPHS],
        **CONSTRAINTS,
    }
    _tree = "tree"

    def __init__(
        self,
        *,
        structure: Any = "tree",
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

    @classmethod
    def _example_learners(cls) -> list["BayesianNetworkDensity"]:
        return [cls(), cls(structure="independent"), cls(structure="search")]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        """Return columns of three values, so that each is a state in every part of the rows."""
        random = np.random.default_rng(0)
        first = np.arange(60) % 3
        inputs = (first[:, np.newaxis] + random.integers(0, 2, size=(60, 3))) % 3
        return inputs.astype(np.float64), None

    def _statistics(self, chunk: Chunk, parameters: None) -> Any:
        return self._count(chunk, 1)

    def _update(self, statistics: Any) -> NetworkParameters:
        return NetworkParameters(self._learn_network(statistics, ()))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log probability of each row; minus infinity where it is impossible."""
        codes = self._node_codes(self._encode(X))
        return map_rows(self._score_rows, codes, (len(codes),))

    def _score_rows(self, codes: np.ndarray) -> np.ndarray:
        gaps = (codes < 0).any(axis=1)
        result = np.zeros(len(codes))
        model = self.network_.model
        whole = codes[~gaps]
        total = np.zeros(len(whole))
        for factor in model.factors:
            with np.errstate(divide="ignore"):
                logs = np.log(factor.values)
            total += logs[tuple(whole[:, model.positions[name]] for name in factor.variables)]
        result[~gaps] = total
        if gaps.any():
            result[gaps] = row_evidence(self.network_, codes[gaps], MOST_ENTRIES, 0)
        return result

    def unlikely(self, X: Any, *, share: float = 0.01) -> np.ndarray:
        """Tell which rows are less probable than all but a small share of the network's own rows.

        Parameters
        ----------
        X
            Rows without gaps: what is missing makes a row more probable.
        share
            Share of rows drawn from the network that is called unlikely.
        """
        if not 0 < share < 1:
            raise DataError(f"share: expected a number between 0 and 1, not {share!r}.")
        scores = self.score_samples(X)
        drawn = self.network_.sample(N_SIMULATED, random_state=0)
        codes = np.column_stack([drawn[name].cat.codes for name in self.network_.nodes])
        limit = np.quantile(self._score_rows(codes.astype(np.int32)), share)
        return scores < limit
