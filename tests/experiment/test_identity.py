"""Descriptions are the same in every process, and differ where anything differs."""

import functools
import importlib.util
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.design import Factor
from verulam.experiment._identity import describe, digest, seed_of

LONG = np.zeros(5000)
LONG_CHANGED = np.where(np.arange(5000) == 2500, 1.0, LONG)


def test_estimators_are_described_by_class_and_parameters():
    first = describe(make_pipeline(StandardScaler(), LogisticRegression(C=2.0)))
    again = describe(make_pipeline(StandardScaler(), LogisticRegression(C=2.0)))
    other = describe(make_pipeline(StandardScaler(), LogisticRegression(C=3.0)))
    assert digest(first) == digest(again) != digest(other)


def test_what_moved_to_another_package_keeps_its_identity():
    """The ids and seeds of tuned runs rest on the factors of their space."""
    assert digest(describe(Factor("C", (0.1, 10.0), "log"))) == "ada68140d99745ad957816da7274a8af"


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        ({"a": 1}, {"a": 2}),
        ([1, 2], [2, 1]),
        (np.mean, np.median),
        (np.log1p, np.exp),
        (functools.partial(np.mean, axis=0), functools.partial(np.mean, axis=1)),
        (functools.partial(np.mean, 1), functools.partial(np.median, 1)),
        (pd.Series(LONG), pd.Series(LONG_CHANGED)),
        (pd.Series([1, 2], name="a"), pd.Series([1, 2], name="b")),
        (pd.Series([1, 2], index=[0, 1]), pd.Series([1, 2], index=[0, 2])),
        (pd.DataFrame({"a": LONG}), pd.DataFrame({"a": LONG_CHANGED})),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
        (pd.Categorical(["a"], ["a", "b"]), pd.Categorical(["a"], ["a", "c"])),
        (sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3)[::-1])),
        (np.array(["a", None], dtype=object), np.array(["b", None], dtype=object)),
        (np.ma.array([1, 2], mask=[0, 0]), np.ma.array([1, 2], mask=[0, 1])),
        ({"a", "b"}, {"a", "c"}),
        ({"a", "b"}, ["a", "b"]),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_different_things_differ(one, another):
    assert digest(describe(one)) != digest(describe(another))
    assert digest(describe(one)) == digest(describe(one))


def test_same_digest_in_another_process():
    code = (
        "from verulam.experiment._identity import describe, digest;"
        "from sklearn.svm import SVC; print(digest(describe(SVC(C=0.1))))"
    )
    from sklearn.svm import SVC

    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == digest(describe(SVC(C=0.1)))


def test_content_counts_and_not_how_it_is_kept():
    """Order of stored cells and addresses of objects are accidents."""
    cells = sparse.coo_array(([1.0, 2.0], ([1, 0], [0, 1])), shape=(2, 2))
    assert describe(cells) == describe(sparse.coo_array(cells.toarray()))
    one, another = (np.array(["".join(["a", "b"]), (1, 2)], dtype=object) for _ in range(2))
    assert describe(one) == describe(another)


def test_unordered_and_object_parameters_are_the_same_in_another_process():
    code = (
        "import numpy as np; from verulam.experiment._identity import describe, digest;"
        "words = ['a', 'b', 'c', 'd', 'e'];"
        "print(digest(describe([set(words), np.array(words, dtype=object)])))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


class Callable:
    """Holds a content that its repr does not tell."""

    def __call__(self, X):
        return X

    def __repr__(self):
        return "Callable()"


@pytest.mark.parametrize("value", [Callable(), Callable().__call__, np.frompyfunc(abs, 1, 1)])
def test_callables_without_a_name_of_their_own_are_refused(value):
    with pytest.raises(ValueError, match="A run cannot be identified by"):
        describe(value)


class Shortened:
    """Tells a part of its content only."""

    def __repr__(self):
        return "Shortened(1, 2, ..., 9)"


def test_shortened_texts_are_refused():
    with pytest.raises(ValueError, match="its repr should tell its content"):
        describe(Shortened())


LEARNER = """
from sklearn.base import BaseEstimator

def helper(X):
    return X

class Base(BaseEstimator):
    step = {step}

class Learner(Base):
    pass
"""


def own_module(folder, step, name):
    """Return a module of one's own, loaded as `name`."""
    path = folder / f"step_{step}.py"
    path.write_text(LEARNER.format(step=step))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_changed_code_of_ones_own_is_another_learner(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "own_learners", None)
    descriptions = []
    for step in (1, 1, 2):
        module = own_module(tmp_path, step, "own_learners")
        descriptions.append(describe(module.Learner()))
        assert set(describe(module.helper)) == {"name", "source"}
    assert descriptions[0] == descriptions[1] != descriptions[2]
    assert "source" not in describe(LogisticRegression())


def test_nameless_functions_are_refused():
    with pytest.raises(ValueError, match="give the function a name"):
        describe(lambda x: x)
    with pytest.raises(ValueError, match="its repr should tell its content"):
        describe(object())


def test_seeds_depend_on_run_and_study():
    assert seed_of("a", 0) == seed_of("a", 0)
    assert len({seed_of("a", 0), seed_of("b", 0), seed_of("a", 1)}) == 3
    assert 0 <= seed_of("a", 0) < 2**31
