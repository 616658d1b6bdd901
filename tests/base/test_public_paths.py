"""Public paths: ids, seeds and model files do not depend on the modules that things stand in."""

import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import verulam
from verulam.base import load_later, publish
from verulam.catalogue import entries
from verulam.experiment._identity import describe

SOURCE = Path(verulam.__file__).parent
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
PRIVATE = re.compile(r"verulam\.[a-z]+\._")

#: Plans a study, prints what identifies its runs, and saves a model or loads it.
SCRIPT = """
import json, sys
from sklearn.datasets import load_iris
from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
from verulam.parametric import NearestMean
import skops.io
study = Study("s", [DataChoice("iris")], [LearnerChoice(NearestMean())], resampling="2-fold")
runs = [(run.run_id, run.seed) for run in make_plan(study).runs]
X, y = load_iris(return_X_y=True)
if sys.argv[1] == "save":
    skops.io.dump(NearestMean().fit(X, y), sys.argv[2])
unknown = skops.io.get_untrusted_types(file=sys.argv[2])
model = skops.io.load(sys.argv[2], trusted=unknown)
print(json.dumps([runs, model.predict(X).tolist()]))
"""


def printed(source, action, model):
    """Run the script with the library at some place and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, action, str(model)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_ids_seeds_and_a_saved_model_survive_a_moved_module(tmp_path):
    model = tmp_path / "model.skops"
    before = printed(SOURCE.parent, "save", model)
    moved = tmp_path / "moved"
    shutil.copytree(SOURCE, moved / "verulam", ignore=shutil.ignore_patterns("__pycache__"))
    place = next((moved / "verulam" / "parametric").rglob("*nearest_mean.py"))
    place.rename(place.with_name("_somewhere_else.py"))
    old = ".".join(place.relative_to(moved).with_suffix("").parts)
    new = f"{old.rpartition('.')[0]}._somewhere_else"
    for path in moved.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if old in text:
            path.write_text(text.replace(old, new), encoding="utf-8")
    after = printed(moved, "load", model)
    assert not place.exists()
    assert before == after


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "cli"])
def test_what_is_public_lives_in_its_package(package):
    module = import_module(f"verulam.{package}")
    for name in module.__all__:
        thing = getattr(module, name)
        if str(getattr(thing, "__module__", "")).startswith("verulam.") and callable(thing):
            assert not PRIVATE.match(f"{thing.__module__}."), name


def test_no_learner_is_identified_by_a_private_module():
    for entry in entries():
        text = json.dumps(describe(entry.example()))
        assert not PRIVATE.search(text), entry.name


def held_types(thing, seen):
    """Yield the types of ours in a fitted learner."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    kind = type(thing)
    if kind.__module__.startswith("verulam"):
        yield kind
        parts = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
        parts += [getattr(thing, name, None) for name in getattr(kind, "__slots__", ())]
    elif isinstance(thing, dict):
        parts = list(thing.values())
    elif isinstance(thing, list | tuple | set):
        parts = list(thing)
    else:
        return
    for part in parts:
        yield from held_types(part, seen)


QUICK = ("decision.", "linear.", "parametric.", "nonparametric.Histogram", "rule.Box")


@pytest.mark.parametrize("entry", [e for e in entries() if e.name.startswith(QUICK)], ids=str)
def test_what_fitted_learners_hold_is_found_again(entry):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    learner = entry.example()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner.fit(X, X[:, 0] if entry.abilities.task == "regression" else y == 1)
        except ValueError:
            pytest.skip("takes data of another kind")
    for kind in set(held_types(learner, {})):
        assert not PRIVATE.match(f"{kind.__module__}."), kind
        assert getattr(import_module(kind.__module__), kind.__qualname__) is kind
    again = pickle.loads(pickle.dumps(learner))
    assert type(again) is type(learner)


def test_two_classes_of_one_name_are_refused(monkeypatch):
    first, second = (type(np)(f"package_of_tests.{name}") for name in ("one", "other"))
    package = type(np)("package_of_tests")
    for module in (package, first, second):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for module in (first, second):
        module.Twin = type("Twin", (), {"__module__": module.__name__})
    with pytest.raises(ImportError, match="two classes 'Twin'"):
        publish("package_of_tests")


def test_contracts_are_loaded_when_they_are_asked_for():
    script = (
        "import sys, verulam.base as base; base.unknown_name('a', 'b', []); "
        "light = 'sklearn' not in sys.modules and 'pandas' not in sys.modules; "
        "print(light, base.Classifier.__module__, base.DataError.__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "verulam.base", "verulam.base"]


def test_all_names_of_the_base_are_those_of_its_modules():
    base = import_module("verulam.base")
    tree = ast.parse(Path(base.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("verulam."):
            for alias in node.names:
                assert getattr(base, alias.name) is getattr(import_module(node.module), alias.name)
    with pytest.raises(AttributeError, match="no attribute 'Clasifier'"):
        _ = base.Clasifier


def test_names_of_any_module_load_nothing():
    with pytest.raises(AttributeError, match="no attribute '__wrapped__'"):
        load_later("verulam.base", ("_nowhere",), "__wrapped__")
