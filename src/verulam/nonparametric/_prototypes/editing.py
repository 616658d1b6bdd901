"""Editing: rows that mislead (Wilson), or that no boundary needs (Voronoi), are dropped."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import Delaunay
from scipy.spatial.distance import cdist

from verulam.base import DataError, HasMethods, Interval, StrOptions, clone
from verulam.nonparametric._neighbours.brute_search import check_neighbour_count
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._neighbours.inputs import checked_rows
from verulam.nonparametric._prototypes.base import PrototypeClassifier
from verulam.nonparametric._voting.votes import class_shares, winning_class
from verulam.numerics import njit

#: Beyond this many dimensions a tessellation has far too many facets to be computed.
MOST_DIMENSIONS = 6
#: Most rows for Gabriel's graph, which looks at all pairs.
MOST_GABRIEL = 6_000


class EditedNeighbours(PrototypeClassifier):
    r"""Nearest neighbours among the rows that lie on the side of their own class.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote, in editing and afterwards.
    rule
        None for Wilson's editing: a row goes if its nearest others misclassify it. A classifier
        drops what it misclassifies after it was fitted to all rows: the rows on the wrong side
        of its boundary.
    max_iter
        How often editing is done at most, each time on what is left; it stops where nothing goes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    rows_ : ndarray
        Kept rows of the training data, in order.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The kept rows themselves.
    codes_ : ndarray of shape (n_prototypes,)
        Class of each, as a position in `classes_`.
    n_dropped_ : int
        Rows that were dropped.
    n_iter_ : int
        How often the rows were judged.

    Notes
    -----
    Editing removes overlap, condensing what lies far from the boundary; edit first. See
    Bartkowiak 4.4 [wilson1972]_.

    References
    ----------
    .. [wilson1972] D. L. Wilson, "Asymptotic properties of nearest neighbor rules using edited
       data", IEEE Transactions on Systems, Man, and Cybernetics 2, 1972.

    Examples
    --------
    >>> from verulam.nonparametric import EditedNeighbours
    >>> X, y = [[0.0], [1.0], [2.0], [1.4], [8.0], [9.0], [10.0]], list("aaabbbb")
    >>> EditedNeighbours().fit(X, y).rows_
    array([0, 1, 2, 4, 5, 6])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "rule": [HasMethods(["fit", "predict"]), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, n_neighbors: int = 3, rule: Any = None, max_iter: int = 1) -> None:
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.max_iter = max_iter

    def _select(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        rows = np.arange(len(inputs))
        if self.rule is None:
            check_neighbour_count(self.n_neighbors + 1, len(inputs), "the other rows")
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            right = self._is_right(inputs[rows], codes[rows])
            # Fewer rows than neighbours could not vote.
            if right.all() or len(rows[right]) <= self.n_neighbors:
                break
            rows = rows[right]
        self.n_dropped_ = len(inputs) - len(rows)
        if not len(rows):
            raise DataError("Every row is on the wrong side of the rule; nothing would be left.")
        return rows

    def _is_right(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        if self.rule is not None:
            return clone(self.rule).fit(inputs, codes).predict(inputs) == codes
        return wilson_keeps(inputs, codes, self.n_neighbors)


def wilson_keeps(inputs: np.ndarray, codes: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Tell which rows their nearest others classify as they are labelled.

    Parameters
    ----------
    inputs
        One row per case.
    codes
        Their classes, as numbers from 0.
    n_neighbors
        Others that vote; a tie goes to the first class.
    """
    neighbours = codes[NeighbourIndex(inputs).query_others(n_neighbors).rows]
    n_classes = int(codes.max()) + 1
    shares = class_shares(neighbours, None, n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    return winning_class(shares, neighbours, counts, "first") == codes


class VoronoiEditing(PrototypeClassifier):
    r"""Nearest neighbour among the rows that shape its boundary.

    Parameters
    ----------
    graph
        "voronoi" drops a row where all cells that touch its own have its class, so that the
        boundary stays as it is; "gabriel" looks at pairs with nothing in the ball between them,
        in any number of dimensions, and may move the boundary slightly; "auto" takes the first
        up to six dimensions.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    rows_ : ndarray
        Kept rows of the training data, in order.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The kept rows themselves.
    codes_ : ndarray of shape (n_prototypes,)
        Class of each, as a position in `classes_`.

    Notes
    -----
    Of identical rows with one label, one is kept. See Alpaydin 8.4 (figure 8.5), Bartkowiak 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import VoronoiEditing
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> len(VoronoiEditing().fit(X, X[:, 0] > 0).rows_)
    67
    """

    n_neighbors = 1
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "graph": [StrOptions({"auto", "voronoi", "gabriel"})],
    }

    def __init__(self, *, graph: str = "auto") -> None:
        self.graph = graph

    def _select(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        graph = self.graph
        if graph == "auto":
            graph = "voronoi" if inputs.shape[1] <= MOST_DIMENSIONS else "gabriel"
        return needed_rows(inputs, codes, graph)


def needed_rows(inputs: np.ndarray, codes: np.ndarray, graph: str) -> np.ndarray:
    """Return the rows that have a neighbour of another class.

    Parameters
    ----------
    inputs
        One row per case.
    codes
        Their classes.
    graph
        "voronoi" or "gabriel".
    """
    places, first, members = np.unique(inputs, axis=0, return_index=True, return_inverse=True)
    members = members.ravel()
    place_codes = codes[first]
    mixed = np.zeros(len(places), dtype=bool)
    np.logical_or.at(mixed, members, place_codes[members] != codes)
    pairs = voronoi_pairs(places) if graph == "voronoi" else gabriel_pairs(places)
    # A place with two classes differs from everything around it, and from itself.
    differ = (place_codes[pairs[:, 0]] != place_codes[pairs[:, 1]]) | mixed[pairs].any(axis=1)
    needed = mixed.copy()
    needed[pairs[differ].ravel()] = True
    if not needed.any():
        return np.zeros(1, dtype=np.intp)
    is_first = np.zeros(len(inputs), dtype=bool)
    is_first[first] = True
    return np.flatnonzero(needed[members] & (is_first | mixed[members]))


def voronoi_pairs(points: np.ndarray) -> np.ndarray:
    """Return the pairs (n_pairs, 2) of distinct points whose Voronoi cells share a facet.

    Points that lie in a plane, or any flat of fewer dimensions, are looked at within it: cells
    extend across it unchanged.
    """
    flat = _within_their_flat(checked_rows(points, "points"))
    n_points, n_columns = flat.shape
    if n_points < 2:
        return np.empty((0, 2), dtype=np.intp)
    if n_columns == 1:
        # On a line, cells are intervals: neighbours are next to one another.
        order = np.argsort(flat[:, 0])
        return np.column_stack([order[:-1], order[1:]])
    if n_columns > MOST_DIMENSIONS:
        raise DataError(
            f"X spans {n_columns} dimensions; its Voronoi tessellation is computed up to "
            f"{MOST_DIMENSIONS}. Use graph='gabriel'."
        )
    # The corners of a simplex: every two of them are neighbours.
    if n_points == n_columns + 1:
        return np.column_stack(np.triu_indices(n_points, 1))
    starts, neighbours = Delaunay(flat).vertex_neighbor_vertices
    first = np.repeat(np.arange(n_points), np.diff(starts))
    pairs = np.column_stack([first, neighbours])
    return pairs[pairs[:, 0] < pairs[:, 1]].astype(np.intp)


def gabriel_pairs(points: np.ndarray) -> np.ndarray:
    """Return the pairs of points with no third point in the ball whose diameter they span."""
    n_points = len(points)
    if n_points > MOST_GABRIEL:
        raise DataError(f"X has {n_points} rows; graph='gabriel' takes at most {MOST_GABRIEL}.")
    unit = np.abs(points - points.mean(axis=0)).max() or 1.0
    return np.argwhere(gabriel_mask(cdist(points / unit, points / unit, "sqeuclidean")))


@njit(cache=True, nogil=True)
def gabriel_mask(squares):
    """Tell for each pair whether the ball between them is empty, from squared distances."""
    n_points = len(squares)
    mask = np.zeros((n_points, n_points), dtype=np.bool_)
    for row in range(n_points):
        for other in range(row + 1, n_points):
            limit = squares[row, other] * (1.0 - 1e-12)
            empty = True
            for third in range(n_points):
                # For the two ends themselves the sum is the whole of their square.
                if squares[row, third] + squares[other, third] < limit:
                    empty = False
                    break
            mask[row, other] = empty
    return mask


def _within_their_flat(points: np.ndarray) -> np.ndarray:
    """Return coordinates of the points in the flat that they span."""
    centred = points - points.mean(axis=0)
    scale = np.abs(centred).max()
    if scale == 0.0:
        return np.zeros((len(points), 0))
    # Cells do not depend on the unit; squares of tiny or huge numbers would leave the range.
    centred /= scale
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int((values > 1e-10 * values[0]).sum())
    return centred if rank == points.shape[1] else centred @ axes[:rank].T
