"""Junction trees: any network as a tree of cliques, compiled once and asked many times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.graphical._factor import Factor, FactorModel, as_model
from verulam.graphical._inference.junction_loops import (
    OFFSET,
    SIZE,
    evidence_rows,
    expected_rows,
    explanation_rows,
    posterior_rows,
)
from verulam.graphical._inference.tree_layout import (
    TreeArrays,
    TreePlan,
    clique_holders,
    entry_map,
    join_cliques,
    plan_tree,
    shapes_of,
    smallest_home,
    tree_arrays,
)

#: Numbers in all tables of a tree, from which on it is not built: half a gigabyte with its maps.
MOST_ENTRIES = 2**25


@dataclass(frozen=True, eq=False)
class JunctionTree:
    r"""A tree of cliques in which messages give all posteriors at once.

    Attributes
    ----------
    model
        Variables and factors.
    plan
        Triangulation and cost.
    cliques
        Variables of each clique, the root first, parents before children.
    parents
        Number of each clique's parent; -1 for the root.
    separators
        Variables that each clique shares with its parent.
    arrays
        The same as flat arrays, which the compiled passes read.

    Notes
    -----
    The parents of each node are married, directions dropped, the graph triangulated, and its
    cliques joined to the tree whose separators are largest, so that the cliques that hold a
    variable are connected (Alpaydin 14.5.4, figure 14.12). Messages go to the root and back
    (Jensen, Lauritzen and Olesen 1990); each row of a table needs two passes over the entries that
    agree with it.

    Examples
    --------
    >>> from verulam.graphical import sprinkler
    >>> tree = sprinkler().junction_tree
    >>> sorted(tree.cliques)
    [('cloudy', 'sprinkler', 'rain'), ('sprinkler', 'rain', 'wet')]
    """

    model: FactorModel
    plan: TreePlan
    cliques: tuple[tuple[str, ...], ...]
    parents: tuple[int, ...]
    separators: tuple[tuple[str, ...], ...]
    arrays: TreeArrays

    @classmethod
    def compile(
        cls,
        model: Any,
        *,
        heuristic: str | None = None,
        max_entries: int = MOST_ENTRIES,
    ) -> "JunctionTree":
        """Build the tree, unless its tables would be too large.

        Parameters
        ----------
        model
            A network, a field, or the variables and factors of one.
        heuristic
            Order of elimination: "min-fill", "min-size" or "min-neighbours"; None takes the
            cheaper of the first two.
        max_entries
            Most numbers in all tables; more are refused before anything is built.
        """
        model = as_model(model)
        plan = plan_tree(model, heuristic)
        if plan.n_entries > max_entries:
            raise DataError(
                f"An exact answer needs {plan.text()}, more than max_entries={max_entries:,}; "
                "raise max_entries, or choose an approximate method such as "
                "method='likelihood weighting'."
            )
        cliques, parents = join_cliques(plan.triangulation.cliques, model)
        separators = tuple(
            () if parent < 0 else tuple(name for name in clique if name in cliques[parent])
            for clique, parent in zip(cliques, parents, strict=True)
        )
        return cls(
            model,
            plan,
            cliques,
            parents,
            separators,
            tree_arrays(model, cliques, parents, separators),
        )

    def potentials(self, factors: Sequence[Factor]) -> np.ndarray:
        """Return the flat tables of all cliques: the product of the factors that each holds."""
        tables = [np.ones(prod(shape)) for shape in self._shapes]
        for factor in factors:
            home = self.home(factor.variables)
            scope = [self.cliques[home].index(name) for name in factor.variables]
            tables[home] *= factor.values.ravel()[entry_map(self._shapes[home], scope)]
        return np.concatenate(tables)

    def home(self, variables: Sequence[str]) -> int:
        """Return the number of the smallest clique that holds all of the variables, or -1."""
        return smallest_home(variables, self._holders, self._sets, self.arrays.layout[:, SIZE])

    def posteriors(
        self, codes: np.ndarray, factors: Sequence[Factor] = (), target: str | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return all marginals of each row side by side, and the log probability of its evidence.

        Parameters
        ----------
        codes
            Observed states of all variables by number, one row for each question; -1 where not
            observed.
        factors
            Further factors, such as soft evidence, for all rows.
        target
            The only variable whose marginal is needed; the others are then not computed.
        """
        tree = self.arrays
        base = self._with(factors).arrays.base
        marginals = np.empty((len(codes), self.model.offsets[-1]))
        log_evidence = np.empty(len(codes))
        posterior_rows(
            codes, base, tree.layout, tree.members, tree.maps, tree.homes, *self._paths(target),
            marginals, log_evidence,
        )  # fmt: skip
        # Nearly always zero, and a sum of arrays costs as much as some of the cliques.
        if self._log_scale:
            log_evidence += self._log_scale
        return marginals, log_evidence

    def log_evidence(self, codes: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each row's evidence."""
        result = np.empty(len(codes))
        tree = self.arrays
        evidence_rows(codes, tree.base, tree.layout, tree.members, tree.maps, result)
        return result + self._log_scale

    def explanations(
        self, codes: np.ndarray, factors: Sequence[Factor] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the most probable states that agree with each row, and their log probability."""
        tree = self.arrays
        base = self._with(factors).arrays.base
        states = np.zeros(codes.shape, dtype=np.int32)
        log_maxima = np.empty(len(codes))
        explanation_rows(codes, base, tree.layout, tree.members, tree.maps, states, log_maxima)
        return states, log_maxima + self._log_scale

    def expected_counts(
        self, codes: np.ndarray, weights: np.ndarray, scopes: Sequence[Sequence[str]]
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the sum over rows of the posterior of each scope, and each row's log evidence.

        Parameters
        ----------
        codes
            Rows, as for `posteriors`.
        weights
            How often each row counts.
        scopes
            Variables of each table, all of them in one clique.
        """
        maps, families, place, at = [self.arrays.maps], [], 0, len(self.arrays.maps)
        shapes = [tuple(len(self.model.states[name]) for name in scope) for scope in scopes]
        for scope, shape in zip(scopes, shapes, strict=True):
            home = self.home(scope)
            part = entry_map(self._shapes[home], [self.cliques[home].index(name) for name in scope])
            maps.append(part)
            families.append([home, self.arrays.layout[home, OFFSET], at, place])
            at, place = at + len(part), place + prod(shape)
        expected, log_evidence = np.zeros(place), np.empty(len(codes))
        expected_rows(
            codes, weights, self.arrays.base, self.arrays.layout, self.arrays.members,
            np.concatenate(maps).astype(np.uint32), np.array(families, dtype=np.int64),
            self._paths(None)[0], expected, log_evidence,
        )  # fmt: skip
        ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
        parts = np.split(expected, ends)
        tables = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        return tables, log_evidence

    def clique_posterior(self, number: int, codes: np.ndarray, factors: Sequence[Factor]) -> Factor:
        """Return the joint posterior of one clique's variables for one row of evidence."""
        names = self.cliques[number]
        tables, _ = self._with(factors).expected_counts(codes[np.newaxis], np.ones(1), [names])
        return Factor(names, tables[0], tuple(self.model.states[name] for name in names))

    def _with(self, factors: Sequence[Factor]) -> "JunctionTree":
        if not factors:
            return self
        base = self.arrays.base * self.potentials(factors)
        return replace(self, arrays=replace(self.arrays, base=base))

    def _paths(self, target: str | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the cliques that messages go to from the root, and the variables to be read."""
        if target not in self._known_paths:
            numbers = list(range(1, len(self.cliques)))
            asked = list(range(len(self.model.states)))
            if target is not None:
                asked, numbers = [self.model.positions[target]], []
                number = int(self.arrays.home_cliques[asked[0]])
                while number > 0:
                    numbers.insert(0, number)
                    number = self.parents[number]
            self._known_paths[target] = (
                np.array(numbers, dtype=np.int64),
                np.array(asked, dtype=np.int64),
            )
        return self._known_paths[target]

    @cached_property
    def _known_paths(self) -> dict[str | None, tuple[np.ndarray, np.ndarray]]:
        return {}

    @cached_property
    def _sets(self) -> tuple[frozenset[str], ...]:
        return tuple(map(frozenset, self.cliques))

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        return clique_holders(self.cliques)

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        return shapes_of(self.model, self.cliques)

    @cached_property
    def _log_scale(self) -> float:
        return float(sum(factor.log_scale for factor in self.model.factors))
