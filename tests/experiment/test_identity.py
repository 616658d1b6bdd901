"""Descriptions are the same in every process, and differ where anything differs."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.experiment._identity import describe, digest, seed_of


def test_estimators_are_described_by_class_and_parameters():
    first = describe(make_pipeline(StandardScaler(), LogisticRegression(C=2.0)))
    again = describe(make_pipeline(StandardScaler(), LogisticRegression(C=2.0)))
    other = describe(make_pipeline(StandardScaler(), LogisticRegression(C=3.0)))
    assert digest(first) == digest(again) != digest(other)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        ({"a": 1}, {"a": 2}),
        ([1, 2], [2, 1]),
        (np.mean, np.median),
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


def test_nameless_functions_are_refused():
    with pytest.raises(ValueError, match="give the function a name"):
        describe(lambda x: x)
    with pytest.raises(ValueError, match="its repr should tell its content"):
        describe(object())


def test_seeds_depend_on_run_and_study():
    assert seed_of("a", 0) == seed_of("a", 0)
    assert len({seed_of("a", 0), seed_of("b", 0), seed_of("a", 1)}) == 3
    assert 0 <= seed_of("a", 0) < 2**31
