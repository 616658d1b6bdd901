"""First calls of learners, and all of them ahead of use."""

import json
import os
import subprocess
import sys

import pytest

from verulam.base import UnknownNameError
from verulam.catalogue import _first_calls as module
from verulam.catalogue import our_entries
from verulam.catalogue._first_calls import FirstCall, first_call, learners_named, warm

#: Most compilations of a first call. A learner above is one that grew a loop too many, or one that
#: calls something inside a loop that Numba has to compile first.
MOST_COMPILATIONS = 40
SCRIPT = """
import json, sys
from verulam.catalogue._first_calls import first_call
for name in sys.argv[1:]:
    call = first_call(name)
    print(json.dumps([name, call.n_compilations, call.error]))
"""


def test_all_learners_or_those_of_packages_and_names():
    assert sorted(learners_named(())) == sorted(item.name for item in our_entries())
    names = learners_named(["parametric", "linear.Perceptron", "parametric.NaiveBayes"])
    assert names[:3] == [
        "parametric.BernoulliDensity",
        "linear.Perceptron",
        "parametric.NaiveBayes",
    ]
    assert len(names) == len(set(names))
    assert {name.partition(".")[0] for name in names} == {"parametric", "linear"}


@pytest.mark.parametrize("name", ["parametrics", "decision tree regression"])
def test_unknown_names(name):
    with pytest.raises(UnknownNameError, match=name):
        learners_named([name])


def test_borrowed_learners_have_nothing_to_compile():
    with pytest.raises(UnknownNameError, match="of ours 'isolation forest'"):
        learners_named(["isolation forest"])


@pytest.mark.parametrize(
    "name", ["parametric.BernoulliDensity", "linear.LogisticDiscriminant", "decision.MinimumRisk"]
)
def test_a_first_call_fits_and_predicts(name, capsys):
    call = first_call(name)
    assert call.name == name
    assert call.error == ""
    assert call.seconds > 0
    assert capsys.readouterr().err == ""


def test_a_failure_is_told(monkeypatch):
    def fail(item, example, sample):
        raise ZeroDivisionError("nothing to divide by")

    monkeypatch.setattr(module, "_call_plainly", fail)
    assert first_call("linear.Perceptron").error == "ZeroDivisionError: nothing to divide by"


def test_compilations_are_counted():
    assert FirstCall("a", 1.0, (("f", 2), ("g", 1))).n_compilations == 3


@pytest.mark.slow
def test_warm_compiles_once(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (cold,) = warm(["linear.Perceptron"], processes=1)
    assert cold.n_compilations == 1
    assert cold.error == ""
    (ready,) = warm(["linear.Perceptron"], processes=1)
    assert ready.n_compilations == 0
    assert ready.seconds < cold.seconds


@pytest.mark.slow
@pytest.mark.parametrize("package", sorted({item.name.partition(".")[0] for item in our_entries()}))
def test_no_first_call_compiles_much(package, tmp_path):
    """Each learner in a process of its own, with an empty cache."""
    for name in learners_named([package]):
        folder = tmp_path / name
        folder.mkdir()
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT, name],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        _, count, error = json.loads(result.stdout)
        assert error == "", name
        assert count <= MOST_COMPILATIONS, f"{name}: {count} compilations"
