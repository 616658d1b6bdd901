"""Voronoi neighbours, and the editing that leaves the nearest-neighbour boundary unchanged."""

from typing import Any, ClassVar

import numpy as np
from scipy.spatial import Delaunay
from scipy.spatial.distance import cdist

from verulam.base import DataError, StrOptions
from verulam.nonparametric._neighbours.inputs import checked_rows
from verulam.nonparametric._prototypes.base import PrototypeClassifier
from verulam.nonparametric._prototypes.voronoi_loops import gabriel_mask

#: Beyond this many dimensions a tessellation has far too many facets to be computed.
MOST_DIMENSIONS = 6
#: Most rows for Gabriel's graph, which looks at all pairs.
MOST_GABRIEL = 6_000


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
        order = np.argsort(flat[:, 0])
        return np.column_stack([order[:-1], order[1:]])
    if n_columns > MOST_DIMENSIONS:
        raise DataError(
            f"X spans {n_columns} dimensions; its Voronoi tessellation is computed up to "
            f"{MOST_DIMENSIONS}. Use graph='gabriel'."
        )
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
    own = codes[first]
    mixed = np.zeros(len(places), dtype=bool)
    np.logical_or.at(mixed, members, own[members] != codes)
    pairs = voronoi_pairs(places) if graph == "voronoi" else gabriel_pairs(places)
    # A place with two classes differs from everything around it, and from itself.
    differ = (own[pairs[:, 0]] != own[pairs[:, 1]]) | mixed[pairs].any(axis=1)
    needed = mixed.copy()
    needed[pairs[differ].ravel()] = True
    if not needed.any():
        return np.zeros(1, dtype=np.intp)
    is_first = np.zeros(len(inputs), dtype=bool)
    is_first[first] = True
    kept = needed[members] & (is_first | mixed[members])
    return np.flatnonzero(kept)


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
