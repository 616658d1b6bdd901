"""Checks of a model file, which anyone may have made: before it is unpacked, and of what it gave.

Its types are known to be harmless, but it may unpack to any size, and compiled code follows the
numbers in it without looking. Our learners say of themselves what must hold, by a method
`_check_loaded`; the parts of scikit-learn that walk along links are looked at here.
"""

import io
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import DistanceMetric

from verulam.base import DataError

#: Bytes that a model may take when it is unpacked, unless more are allowed.
MOST_BYTES = 2**30
#: Files within a model file.
MOST_PARTS = 100_000
#: Ways of packing that can be unpacked piece by piece, up to a limit.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: What a missing child is in a tree of scikit-learn.
_NO_CHILD = -1
#: Words of 32 bits for the 256 bins of a category in a tree of histograms.
_BITSET_WORDS = 8
_HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting"


def checked_sizes(path: Path, archive: zipfile.ZipFile, max_bytes: int) -> dict[str, int]:
    """Return the sizes of the arrays in an archive; refuse one that unpacks to too much.

    What an archive says of its sizes is what is read of it at most, whatever it holds.

    Parameters
    ----------
    path
        The file, for the message.
    archive
        The archive.
    max_bytes
        Bytes that are allowed in all.

    Raises
    ------
    DataError
        If it is larger, or packed in a way that has no limit.
    """
    total = _size_of(path, archive)
    nested = []
    for info in archive.infolist():
        # Sparse matrices are archives in the archive.
        if info.filename.endswith(".npz") and total <= max_bytes:
            nested.append(zipfile.ZipFile(io.BytesIO(archive.read(info))))
            total += _size_of(path, nested[-1])
    if total > max_bytes:
        raise DataError(
            f"{path} would take {total / 2**20:,.0f} MB when it is unpacked, more than the "
            f"{max_bytes / 2**20:,.0f} MB that are allowed; nothing was unpacked. If you know its "
            "maker, allow more (max_bytes of load_model)."
        )
    for inner in nested:
        _check_arrays(path, inner)
    return _check_arrays(path, archive)


def _size_of(path: Path, archive: zipfile.ZipFile) -> int:
    infos = archive.infolist()
    if len(infos) > MOST_PARTS:
        raise DataError(f"{path} has {len(infos)} parts, more than the {MOST_PARTS} of any model.")
    names = [info.filename for info in infos]
    if len(set(names)) < len(names):
        raise DataError(f"{path} has several parts of the same name.")
    if any(info.compress_type not in _BOUNDED for info in infos):
        raise DataError(f"{path} is packed in a way that Verulam does not use.")
    return sum(info.file_size for info in infos)


def _check_arrays(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    """Return the number of entries of each array; refuse one that claims more than is there."""
    sizes = {}
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            with archive.open(info) as file:
                count, item_bytes = _claimed(file)
            if count * item_bytes > info.file_size:
                raise DataError(f"{path} has an array that is larger than its content.")
            sizes[info.filename] = count
    return sizes


def _claimed(file: IO[bytes]) -> tuple[int, int]:
    """Return how many entries the header of an array claims, and the bytes of each."""
    version = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(file)
    return math.prod(shape), 0 if dtype.hasobject else dtype.itemsize


def check_loaded(model: Any) -> None:
    """Refuse a model whose numbers could lead compiled code astray.

    Parameters
    ----------
    model
        What a model file gave.

    Raises
    ------
    DataError
        If an array does not fit what follows it.
    """
    for part in _parts(model):
        if type(part).__module__.partition(".")[0] == "verulam" and hasattr(part, "_check_loaded"):
            part._check_loaded()
        for base in type(part).__mro__:
            check = _CHECKS.get(f"{base.__module__}.{base.__name__}")
            if check is not None:
                check(part)


def check_schema(schema: Any, sizes: Mapping[str, int]) -> None:
    """Refuse trees of scikit-learn that would read beyond their arguments while they are made.

    Parameters
    ----------
    schema
        What skops wrote down of the model.
    sizes
        Number of entries of each array, by its file.
    """
    nodes = list(_schema_nodes(schema))
    known = {node["__id__"]: node for node in nodes if "__id__" in node and "content" in node}
    files = {node["__id__"]: node["file"] for node in nodes if "__id__" in node and "file" in node}
    for node in nodes:
        if (node.get("__module__"), node.get("__class__")) != ("sklearn.tree._tree", "Tree"):
            continue
        arguments = node["__reduce__"]["args"]
        arguments = known.get(arguments.get("__id__"), arguments)
        _, classes, outputs = arguments["content"]
        n_outputs = int(known.get(outputs.get("__id__"), outputs)["content"])
        size = sizes.get(files.get(classes.get("__id__"), classes.get("file", "")), 0)
        # One is read of an empty array, too, and is harmless.
        if not 0 < n_outputs <= max(size, 1):
            raise DataError("A tree has another number of targets than it says")


def _schema_nodes(schema: Any) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and everything in it, once."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | type):
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
            continue
        yield part
        if isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend(part)
        elif isinstance(part, partial):
            waiting.extend([part.func, part.args, part.keywords])
        elif not callable(part) or isinstance(part, BaseEstimator):
            waiting.extend(getattr(part, "__dict__", {}).values())


def _check_codes(learner: BaseEstimator) -> None:
    """Refuse positions of classes, which are used as indices, that are none."""
    if not type(learner).__module__.startswith("verulam.nonparametric"):
        return
    codes, classes = getattr(learner, "codes_", None), getattr(learner, "classes_", None)
    if codes is None or classes is None or not np.size(codes):
        return
    codes = np.asarray(codes)
    inside = codes.dtype.kind in "iu" and codes.min() >= 0 and codes.max() < len(classes)
    _require(inside, learner, "has rows of classes that are not there")


def _check_tree(tree: Any) -> None:
    # First of all: whoever asks for the nodes gets as many as the tree says that there are.
    counted = 0 < tree.node_count <= tree.capacity
    _require(counted, tree, "has another number of nodes than it says")
    nodes: Any = tree.__getstate__()["nodes"]
    numbers = np.arange(len(nodes))
    left, right = nodes["left_child"], nodes["right_child"]
    leaf = left == _NO_CHILD
    _require((right[leaf] == _NO_CHILD).all(), tree, "has nodes with one child")
    for child in (left[~leaf], right[~leaf]):
        # Children come after their parents, so that no way leads back.
        inside = (child > numbers[~leaf]) & (child < len(nodes))
        _require(inside.all(), tree, "has children that are no nodes, or lead in circles")
    feature = nodes["feature"][~leaf]
    inside = (feature >= 0) & (feature < tree.n_features)
    _require(inside.all(), tree, "tests columns that are not there")
    _require(
        tree.max_depth >= 0 and tree.max_depth <= len(nodes), tree, "is deeper than it has nodes"
    )


def _check_tree_learner(learner: Any) -> None:
    tree = getattr(learner, "tree_", None)
    if tree is not None:
        fits = getattr(learner, "n_features_in_", None) == tree.n_features
        _require(fits, learner, "has another number of columns than its tree")


def _check_trees(learner: Any) -> None:
    """Refuse trees of other columns: an ensemble hands rows on without a look at them."""
    n_columns = getattr(learner, "n_features_in_", None)
    for member in np.ravel(getattr(learner, "estimators_", [])):
        tree = getattr(member, "tree_", None)
        fits = tree is not None and tree.n_features == n_columns
        _require(fits, learner, "has another number of columns than its trees")


def _check_isolation(learner: Any) -> None:
    subsets = getattr(learner, "estimators_features_", [])
    members = getattr(learner, "estimators_", [])
    _require(len(subsets) == len(members), learner, "has trees without columns")
    whole = getattr(learner, "_max_features", None) == getattr(learner, "n_features_in_", None)
    for member, columns in zip(members, subsets, strict=True):
        expected = learner.n_features_in_ if whole else len(columns)
        fits = member.tree_.n_features == expected
        _require(fits, learner, "has another number of columns than its trees")


def _check_histogram_learner(learner: Any) -> None:
    n_columns = getattr(learner, "n_features_in_", 0)
    for stage in getattr(learner, "_predictors", []):
        for predictor in stage:
            inner = predictor.nodes[predictor.nodes["is_leaf"] == 0]
            inside = (inner["feature_idx"] >= 0) & (inner["feature_idx"] < n_columns)
            _require(inside.all(), learner, "tests columns that are not there")


def _check_histogram_tree(tree: Any) -> None:
    nodes = tree.nodes
    _require(len(nodes) > 0, tree, "has no nodes")
    numbers = np.arange(len(nodes))
    inner = nodes["is_leaf"] == 0
    for name in ("left", "right"):
        child = nodes[name][inner].astype(np.int64)
        inside = (child > numbers[inner]) & (child < len(nodes))
        _require(inside.all(), tree, "has children that are no nodes, or lead in circles")
    for bits in (tree.binned_left_cat_bitsets, tree.raw_left_cat_bitsets):
        fits = bits.ndim == 2 and bits.shape[1] == _BITSET_WORDS
        _require(fits, tree, "has categories of another form")
        places = nodes["bitset_idx"][inner & (nodes["is_categorical"] == 1)]
        _require((places < len(bits)).all(), tree, "tests categories that are not there")


def _check_ball(tree: Any) -> None:
    """Refuse a tree of points whose nodes begin or end at rows that are not there."""
    data, order, nodes, bounds, _, n_levels, n_nodes, *rest = tree.__getstate__()
    n_points = len(data)
    _require(sorted(order.tolist()) == list(range(n_points)), tree, "has rows that are not there")
    fits = n_nodes == len(nodes) == 2**n_levels - 1 and bounds.shape[1:] == (n_nodes, data.shape[1])
    _require(fits, tree, "has another number of nodes than it says")
    first, last = nodes["idx_start"], nodes["idx_end"]
    inside = (first >= 0) & (first <= last) & (last <= n_points)
    _require(inside.all(), tree, "has nodes of rows that are not there")
    # The children of node m are 2m + 1 and 2m + 2.
    deepest = 2 * np.flatnonzero(nodes["is_leaf"] == 0) + 2
    _require((deepest < n_nodes).all(), tree, "has children that are no nodes")
    (metric,) = (part for part in rest if isinstance(part, DistanceMetric))
    _, vector, matrix = metric.__getstate__()[:3]
    n_columns = data.shape[1]
    name = type(metric).__name__
    needs_vector, needs_matrix = name.startswith("SEuclidean"), name.startswith("Mahalanobis")
    fits = len(vector) == n_columns or (len(vector) <= 1 and not needs_vector)
    fits = fits and (matrix.shape == (n_columns, n_columns) or not needs_matrix)
    _require(fits, tree, "measures distances of other columns")


def _check_machine(learner: Any) -> None:
    vectors = getattr(learner, "support_vectors_", None)
    if vectors is None:
        return
    n_vectors = vectors.shape[0]
    coefficients, counts = learner._dual_coef_, learner._n_support
    n_classes = len(learner.classes_) if hasattr(learner, "classes_") else 2
    fits = (
        learner.support_.shape == (n_vectors,)
        and coefficients.shape == (max(n_classes - 1, 1), n_vectors)
        and (counts >= 0).all()
        and len(learner._intercept_) == max(n_classes * (n_classes - 1) // 2, 1)
        and vectors.shape[1] in (learner.n_features_in_, 0, learner.shape_fit_[0])
    )
    _require(fits, learner, "has support vectors that do not fit together")
    if hasattr(learner, "classes_"):
        fits = len(counts) == n_classes and counts.sum() == n_vectors
        _require(fits, learner, "has another number of support vectors than it says")


def _require(holds: Any, part: Any, complaint: str) -> None:
    if not holds:
        raise DataError(f"{type(part).__name__} {complaint}")


#: By name, since many of these types are private to scikit-learn.
_CHECKS: dict[str, Callable[[Any], None]] = {
    "sklearn.base.BaseEstimator": _check_codes,
    "sklearn.tree._tree.Tree": _check_tree,
    "sklearn.tree._classes.BaseDecisionTree": _check_tree_learner,
    "sklearn.ensemble._forest.BaseForest": _check_trees,
    "sklearn.ensemble._gb.BaseGradientBoosting": _check_trees,
    "sklearn.ensemble._iforest.IsolationForest": _check_isolation,
    f"{_HISTOGRAMS}.gradient_boosting.BaseHistGradientBoosting": _check_histogram_learner,
    f"{_HISTOGRAMS}.predictor.TreePredictor": _check_histogram_tree,
    "sklearn.neighbors._kd_tree.BinaryTree64": _check_ball,
    "sklearn.neighbors._ball_tree.BinaryTree64": _check_ball,
    "sklearn.neighbors._kd_tree.BinaryTree32": _check_ball,
    "sklearn.neighbors._ball_tree.BinaryTree32": _check_ball,
    "sklearn.svm._base.BaseLibSVM": _check_machine,
}
