"""Forged arrays are refused on loading, before compiled code follows them out of its memory."""

import importlib
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as BorrowedTree
from tests.experiment.final.test_model_file import rewritten

from verulam.base import DataError
from verulam.experiment import SavedModel, load_model, read_card, save_model
from verulam.experiment._final.file_checks import _CHECKS
from verulam.nonparametric import KNeighborsClassifier as OurNeighbours
from verulam.tree import DecisionTreeClassifier

ROWS = np.random.default_rng(0).normal(size=(200, 3))
CLASSES = (ROWS.sum(axis=1) > 0).astype(int)
MIXED = pd.DataFrame(ROWS, columns=list("abc")).assign(
    d=pd.Categorical.from_codes(np.arange(200) % 5, list("vwxyz"))
)
#: Loads and uses each of the files in its arguments; what was refused is printed.
USER = """
import sys
import numpy as np
from verulam.base import DataError
from verulam.experiment import load_model

for path in sys.argv[1:]:
    try:
        learner = load_model(path).estimator
    except DataError as error:
        print(error)
    else:
        learner.predict(np.zeros((500, getattr(learner, "n_features_in_", 3))))
        print("used")
"""


def with_tree(learner, **changes):
    """Return a tree learner of ours with other arrays in its tree."""
    tree = learner.tree_
    arrays = {name: change(getattr(tree, name).copy()) for name, change in changes.items()}
    learner.tree_ = replace(tree, **arrays)
    return learner


def with_nodes(learner, tree, **changes):
    """Return a learner of scikit-learn with other nodes in one of its trees."""
    state = tree.__getstate__()
    for name, value in changes.items():
        state["nodes"][name][0] = value
    tree.__setstate__(state)
    return learner


def filled(value):
    def change(array):
        array[array >= 0] = value
        return array

    return change


def ours(**options):
    return DecisionTreeClassifier(**options).fit(ROWS, CLASSES)


def mixed():
    return DecisionTreeClassifier(random_state=0).fit(MIXED, MIXED["d"].isin(["v", "y"]))


def borrowed():
    return BorrowedTree(random_state=0).fit(ROWS, CLASSES)


def forest_of_other_columns():
    forest = RandomForestClassifier(2, random_state=0).fit(ROWS, CLASSES)
    forest.n_features_in_ = 1
    return forest


def boosted_of_other_columns():
    forest = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(ROWS, CLASSES)
    forest.n_features_in_ = 1
    return forest


def histograms(name, value):
    learner = HistGradientBoostingClassifier(max_iter=2).fit(ROWS, CLASSES)
    learner._predictors[0][0].nodes[name][0] = value
    return learner


def neighbours_of_no_class():
    learner = OurNeighbours().fit(ROWS, CLASSES)
    learner.codes_ = learner.codes_ + 10**9
    return learner


def neighbours_in_no_row():
    learner = KNeighborsClassifier(algorithm="kd_tree").fit(ROWS, CLASSES)
    state = list(learner._tree.__getstate__())
    state[1] = np.asarray(state[1]) + 10**9
    learner._tree = KDTree.__new__(KDTree)
    learner._tree.__setstate__(tuple(state))
    return learner


def machine_of_few_vectors():
    learner = SVC().fit(ROWS, CLASSES)
    learner._n_support = np.array([10**6, 10**6], dtype=np.int32)
    return learner


FORGED = {
    "children out of the tree": (
        lambda: with_tree(ours(), first_child=filled(2**30)),
        "children that are no nodes",
    ),
    "a circle": (lambda: with_tree(ours(), first_child=filled(0)), "before their parents"),
    "columns out of the rows": (
        lambda: with_tree(ours(), column=lambda array: filled(2**14)(array.astype(np.int32))),
        "columns that are not there",
    ),
    "too few nodes": (lambda: with_tree(ours(), threshold=lambda array: array[:1]), "threshold"),
    "gaps to nowhere": (
        lambda: with_tree(ours(), missing_branch=filled(100)),
        "gaps that lead to no child",
    ),
    "two parents": (
        lambda: with_tree(
            ours(), first_child=lambda array: np.where(array > 0, len(array) - 2, -1)
        ),
        "parents",
    ),
    "categories out of the words": (
        lambda: with_tree(mixed(), category_start=filled(2**30)),
        "categories that are not there",
    ),
    "more categories than the tree has": (
        lambda: with_tree(mixed(), n_categories=lambda array: np.where(array > 0, 2, 0)),
        "do not fit together",
    ),
    "links of a borrowed tree": (
        lambda: with_nodes(tree := borrowed(), tree.tree_, left_child=2**40),
        "lead in circles",
    ),
    "a circle in a borrowed tree": (
        lambda: with_nodes(tree := borrowed(), tree.tree_, right_child=0),
        "lead in circles",
    ),
    "columns of a borrowed tree": (
        lambda: with_nodes(tree := borrowed(), tree.tree_, feature=2**40),
        "tests columns that are not there",
    ),
    "columns of a forest": (forest_of_other_columns, "another number of columns"),
    "columns of boosted trees": (boosted_of_other_columns, "another number of columns"),
    "links of histograms": (lambda: histograms("left", 2**31), "lead in circles"),
    "columns of histograms": (lambda: histograms("feature_idx", 2**40), "not there"),
    "classes of neighbours": (neighbours_of_no_class, "classes that are not there"),
    "rows of neighbours": (neighbours_in_no_row, "rows that are not there"),
    "support vectors": (machine_of_few_vectors, "support vectors"),
}


def used_elsewhere(paths):
    """Return what a process of its own says to some model files."""
    done = subprocess.run(
        [sys.executable, "-c", USER, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-2000:])
    return lines


def test_forged_arrays_are_refused(finished, tmp_path):
    """In a process of their own: they took it down with them before."""
    paths = []
    for number, (make, _) in enumerate(FORGED.values()):
        paths.append(tmp_path / f"{number}.skops")
        save_model(SavedModel(finished.made.card, make()), paths[-1])
    lines = used_elsewhere(paths)
    for (name, (_, expected)), line in zip(FORGED.items(), lines, strict=True):
        assert "holds arrays that do not fit together" in line, (name, line)
        assert expected in line, (name, line)


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(missing="fractional"),
        DecisionTreeClassifier(categories="n_way"),
        DecisionTreeClassifier(min_samples_split=1000),
    ],
)
def test_trees_of_all_kinds_are_sound(learner, finished, tmp_path):
    """What is refused is never a tree that was grown."""
    table = MIXED.mask(np.random.default_rng(1).random(MIXED.shape) < 0.1)
    learner.fit(table, CLASSES)
    path = tmp_path / "model.skops"
    save_model(SavedModel(finished.made.card, learner), path)
    np.testing.assert_array_equal(load_model(path).estimator.predict(table), learner.predict(table))


def test_isolation_forests_of_some_columns_are_sound(finished, tmp_path):
    learner = IsolationForest(n_estimators=5, max_features=2, random_state=0).fit(ROWS)
    path = tmp_path / "model.skops"
    save_model(SavedModel(finished.made.card, learner), path)
    np.testing.assert_array_equal(load_model(path).estimator.predict(ROWS), learner.predict(ROWS))


def test_rows_of_another_width_are_refused_by_compiled_parts():
    with pytest.raises(DataError, match="the tree has 3 columns"):
        ours().tree_.apply(np.zeros((2, 2)))
    tree = replace(ours().tree_, fractional=True)
    with pytest.raises(DataError, match="leaf_values: 1 for"):
        tree.average(np.full((2, 3), np.nan), np.zeros((1, 1)))
    index = OurNeighbours().fit(ROWS, CLASSES)._index
    with pytest.raises(DataError, match="queries: the stored rows have 3 columns"):
        index.query(np.zeros((2, 2)), 1)


def forged_zip(path, target, change):
    """Write a model file with other parts."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in change(parts).items():
            archive.writestr(name, content)
    return target


def npy_of(header):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "header", [b"{'descr': ('<f8'\n", b"(" * 5000, b"{'shape': (" + b"9" * 5000]
)
def test_headers_of_arrays_that_cannot_be_read_are_told_with_the_file(finished, tmp_path, header):
    odd = forged_zip(
        finished.made.path,
        tmp_path / "odd.skops",
        lambda parts: {**parts, "odd.npy": npy_of(header)},
    )
    for reader in (read_card, load_model):
        with pytest.raises(DataError, match=r"odd\.skops is not a model file, or it is damaged \("):
            reader(odd)


def assert_refused_at_once(path, words, **options):
    """Check that a file is refused by a process that may take little memory."""
    script = (
        "import resource, sys\n"
        "from verulam.experiment import load_model\n"
        "from verulam.base import DataError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"try:\n    load_model(sys.argv[1], **{options})\n"
        "except DataError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    message, grown = done.stdout.splitlines()
    assert words in message
    assert int(grown) < 100_000, "kilobytes"


def test_the_parts_that_are_checked_are_there():
    """Scikit-learn may move them, and nothing would be checked any more."""
    for name in _CHECKS:
        module, _, kind = name.rpartition(".")
        assert hasattr(importlib.import_module(module), kind), name


def test_a_zip_bomb_is_refused_before_it_is_unpacked(finished, tmp_path):
    bomb = forged_zip(
        finished.made.path,
        tmp_path / "bomb.skops",
        lambda parts: {**parts, "big.npy": b"\0" * (2**30 + 1)},
    )
    assert bomb.stat().st_size < 1e7
    assert_refused_at_once(bomb, "would take 1,024 MB when it is unpacked")


def test_a_bomb_within_a_sparse_matrix_is_refused(finished, tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("data.npy", b"\0" * 2**28)
    bomb = forged_zip(
        finished.made.path,
        tmp_path / "bomb.skops",
        lambda parts: {**parts, "sparse.npz": inner.getvalue()},
    )
    assert_refused_at_once(bomb, "when it is unpacked", max_bytes=2**27)


def test_sparse_matrices_are_read(finished, tmp_path):
    learner = StandardScaler(with_mean=False).fit(ROWS)
    learner.table_ = sparse.csr_matrix(np.eye(3))
    path = tmp_path / "model.skops"
    save_model(SavedModel(finished.made.card, learner), path)
    assert (
        load_model(path, trusted=["scipy.sparse._csr.csr_matrix"]).estimator.table_
        != learner.table_
    ).nnz == 0


def test_an_array_that_claims_to_be_larger_is_refused(finished, tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    )
    forged = forged_zip(
        finished.made.path,
        tmp_path / "forged.skops",
        lambda parts: {**parts, "big.npy": header.getvalue()},
    )
    with pytest.raises(DataError, match="an array that is larger than its content"):
        load_model(forged)


def test_more_may_be_allowed(finished):
    with pytest.raises(DataError, match=r"more than the 0 MB that are allowed.*max_bytes"):
        load_model(finished.made.path, max_bytes=1000)
    assert load_model(finished.made.path, max_bytes=10**8).card.learner


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(finished, tmp_path, packing):
    path = tmp_path / "other.skops"
    with zipfile.ZipFile(finished.made.path) as archive, zipfile.ZipFile(path, "w", packing) as new:
        for name in archive.namelist():
            new.writestr(name, archive.read(name))
    with pytest.raises(DataError, match="packed in a way that Verulam does not use"):
        load_model(path)


def test_a_borrowed_tree_that_claims_too_much_is_refused(finished, tmp_path):
    """It would read beyond its arrays while it is made."""
    path = tmp_path / "model.skops"
    save_model(SavedModel(finished.made.card, borrowed()), path)
    claim = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": "100000000",
        "is_json": True,
    }

    def change(parts):
        schema = json.loads(parts["schema.json"])
        tree = schema["content"]["content"]["tree_"]
        tree["__reduce__"]["args"]["content"][2] = claim
        parts["schema.json"] = json.dumps(schema).encode()

    forged = rewritten(path, tmp_path / "bad.skops", change)
    (line,) = used_elsewhere([forged])
    assert "another number of targets than it says" in line
