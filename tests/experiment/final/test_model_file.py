"""Model files: round trips, files from strangers, files that were changed."""

import io
import json
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

from verulam.base import DataError, DataWarning
from verulam.catalogue import entry
from verulam.catalogue._entries import entries
from verulam.data import dataset
from verulam.experiment import SavedModel, UntrustedModelError, load_model, read_card, save_model
from verulam.experiment._final.model_file import (
    CARD,
    _content_hash,
    card_text,
    foreign_types,
)
from verulam.experiment._identity import digest
from verulam.experiment._preparation.preparation import prepared

#: Learners that cannot be saved, each with the reason.
NOT_SAVED = {"BIRCH": "skops does not know how to save its tree"}
ENTRIES = [pytest.param(item, id=item.name) for item in entries() if item.name not in NOT_SAVED]


def rows(task):
    """Return a few rows to learn from, without names or gaps."""
    table = dataset("diabetes" if task == "regression" else "breast_cancer")
    inputs = np.abs(table.inputs.to_numpy(dtype=np.float64))[::10, :6]
    return inputs, np.asarray(table.target_values)[::10]


def fitted_example(item):
    """Return a fitted learner and its inputs: several columns, or one where it takes no more."""
    task = item.abilities.task
    inputs, targets = rows(task)
    problem = None
    for columns in (6, 1):
        try:
            return item.example().fit(inputs[:, :columns], targets), inputs[:, :columns]
        except Exception as error:
            problem = error
    if task in ("classification", "regression"):
        raise problem
    return pytest.skip(f"{item.name} does not learn from a table: {problem}")


def rewritten(path, target, change):
    """Write a model file whose content was changed, with a seal that fits it as a forger would."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    card = json.loads(parts.pop(CARD))["card"]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
        seal = digest([card_text(card), _content_hash(archive)])
        archive.writestr(CARD, json.dumps({"card": card, "seal": seal}))
    target.write_bytes(content.getvalue())
    return target


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("item", ENTRIES)
def test_every_learner_comes_back_as_it_was(item, finished, tmp_path):
    """Saved with skops, loaded with the default trust, the same predictions bit for bit."""
    learner, inputs = fitted_example(item)
    methods = ("predict", "predict_proba", "transform", "score_samples")
    if not any(hasattr(learner, method) for method in methods):
        pytest.skip(f"{item.name} says nothing of other rows")
    path = tmp_path / "model.skops"
    save_model(SavedModel(finished.made.card, learner), path)
    loaded = load_model(path).estimator
    for method in methods:
        if hasattr(learner, method):
            before, after = getattr(learner, method)(inputs), getattr(loaded, method)(inputs)
            np.testing.assert_array_equal(np.asarray(before), np.asarray(after))


@pytest.mark.parametrize("name", ["naive bayes", "random forest", "support vector machine"])
def test_learners_of_tables_come_back_as_they_were(name, finished, tmp_path):
    birds = dataset("penguins")
    learner = prepared(entry(name).make(), birds.inputs).estimator
    learner.fit(birds.inputs, np.asarray(birds.target_values, dtype=str))
    path = tmp_path / "model.skops"
    save_model(SavedModel(finished.made.card, learner), path)
    loaded = load_model(path).estimator
    np.testing.assert_array_equal(loaded.predict(birds.inputs), learner.predict(birds.inputs))


def test_the_learner_that_cannot_be_saved_says_so(finished, tmp_path):
    learner = entry("BIRCH").make().fit(rows("clustering")[0])
    with pytest.raises(DataError, match="cannot be saved: Objects of type Birch"):
        save_model(SavedModel(finished.made.card, learner), tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def started(marker):
    """Return the schema of a model that starts a program when it is loaded."""
    command = [sys.executable, "-c", f"open({str(marker)!r}, 'w').close()"]
    arguments = skops.io.dumps((command,))
    with zipfile.ZipFile(io.BytesIO(arguments)) as archive:
        schema = json.loads(archive.read("schema.json"))
    kept = {key: schema.pop(key) for key in ("protocol", "_skops_version")}
    called = {"__class__": "Popen", "__module__": "subprocess"}
    return {**called, "__loader__": "ConstructorFromReduceNode", "content": schema, **kept}


def test_a_malicious_file_is_refused_and_nothing_runs(finished, tmp_path):
    marker = tmp_path / "started"

    def change(parts):
        parts["schema.json"] = json.dumps(started(marker)).encode()

    path = rewritten(finished.made.path, tmp_path / "bad.skops", change)
    with pytest.raises(UntrustedModelError, match=r"subprocess\.Popen.*Nothing was loaded") as told:
        load_model(path)
    assert told.value.types == ("subprocess.Popen",)
    assert not marker.exists()
    # The trap is a real one: who trusts it falls into it.
    process = load_model(path, trusted=["subprocess.Popen"]).estimator
    assert isinstance(process, subprocess.Popen)
    process.wait(60)
    assert marker.exists()


def test_a_store_is_not_opened_by_loading(finished, tmp_path):
    """Our own classes that touch files are no parts of models."""
    marker = tmp_path / "made.sqlite"

    def change(parts):
        schema = started(marker)
        schema |= {"__class__": "Store", "__module__": "verulam.experiment"}
        parts["schema.json"] = json.dumps(schema).encode()

    path = rewritten(finished.made.path, tmp_path / "bad.skops", change)
    with pytest.raises(UntrustedModelError, match=r"verulam\.experiment\.Store"):
        load_model(path)
    assert not marker.exists()


def test_functions_of_strangers_are_refused_until_they_are_named(finished, tmp_path):
    path = tmp_path / "model.skops"
    learner = FunctionTransformer(subprocess.getoutput)
    save_model(SavedModel(finished.made.card, learner), path)
    with pytest.raises(UntrustedModelError, match=r"subprocess\.getoutput"):
        load_model(path)
    assert load_model(path, trusted=["subprocess.getoutput"]).estimator.func is subprocess.getoutput


def test_a_pickle_is_no_model(tmp_path):
    marker = tmp_path / "marker"

    class Trap:
        def __reduce__(self):
            return (open, (str(marker), "w"))

    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DataError, match="is not a model file, or it is damaged"):
        load_model(path)
    assert not marker.exists()


@pytest.mark.parametrize("part", ["card", "model"])
def test_changes_are_noticed(finished, tmp_path, part):
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(finished.made.path) as archive, zipfile.ZipFile(path, "w") as changed:
        for name in archive.namelist():
            content = archive.read(name)
            if name == CARD and part == "card":
                content = content.replace(b'"test_rows": 115', b'"test_rows": 9115')
                assert b"9115" in content
            if name == "schema.json" and part == "model":
                content += b" "
            changed.writestr(name, content)
    with pytest.raises(DataError, match="changed after it was written"):
        load_model(path)
    with pytest.raises(DataError, match="changed after it was written"):
        read_card(path)


def test_other_files_are_no_models(finished, tmp_path):
    with pytest.raises(DataError, match="There is no model file"):
        load_model(tmp_path / "no.skops")
    with pytest.raises(DataError, match="is a folder"):
        load_model(tmp_path)
    path = tmp_path / "plain.skops"
    skops.io.dump(finished.made.model.estimator, path)
    with pytest.raises(DataError, match="has no card"):
        load_model(path)
    whole = finished.made.path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="damaged"):
        load_model(path)


def test_a_schema_that_makes_no_sense_is_told(finished, tmp_path):
    def change(parts):
        parts["schema.json"] = b'{"__class__": "a", "__module__": "b", "__loader__": "c"}'

    path = rewritten(finished.made.path, tmp_path / "bad.skops", change)
    with pytest.raises(DataError, match="cannot be read as a model"):
        load_model(path)


def test_other_versions_are_warned_of(finished, tmp_path):
    card = finished.made.card
    old = {**card.environment, "packages": {"scikit-learn": "0.1"}}
    path = tmp_path / "model.skops"
    save_model(SavedModel(replace(card, environment=old), finished.made.model.estimator), path)
    with pytest.warns(DataWarning, match=r"made with scikit-learn 0\.1 \(now"):
        load_model(path)


def test_a_failed_write_leaves_what_was_there(finished, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    path.write_bytes(b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        save_model(finished.made.model, path)
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["model.skops"]


@pytest.mark.parametrize(
    "name",
    [
        "verulam.parametric.NaiveBayes",
        "verulam.base.TableSchema",
        "verulam.decision.LossTable",
        "sklearn.svm._classes.SVC",
        "sklearn.tree._tree.Tree",
        "sklearn.gaussian_process.kernels.RBF",
        "numpy.dtype",
    ],
)
def test_parts_of_learners_are_known(name):
    assert foreign_types([name]) == []


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        # Ours, but they open files.
        "verulam.base.draft_of",
        "verulam.base.write_whole",
        "verulam.base._files.write_whole",
        "verulam.experiment.Store",
        "verulam.data._readers.any_format.read",
        # In a module of ours, but not its own.
        "verulam.experiment._run.execute.perf_counter",
        "verulam.experiment._store.store.sqlite3",
        # Of scikit-learn, but no part of a learner.
        "sklearn.datasets._openml.fetch_openml",
        "sklearn.utils._testing.TempMemmap",
        "sklearn.tree.tests.test_tree.pytest",
        # Names that only begin alike, or are not there at all.
        "verulamx.thing.Thing",
        "verulam.nothing.Thing",
        "sklearn.tree._tree.Nothing",
        "Nothing",
        "",
    ],
)
def test_all_else_is_foreign(name):
    assert foreign_types([name]) == [name]
