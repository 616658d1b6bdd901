"""A kill at any moment of finalising leaves the old or the new, and a record that is right."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.experiment.finished import birds

from verulam.base import DataError
from verulam.experiment import finalisations, finalise, load_model, run
from verulam.experiment._final.placing import card_paths, staging_for

#: Kills itself before the n-th change to a file, in a child for each n (or every so many), until
#: none is left to kill.
#: SQLite's own files are left out: its transactions are all or nothing.
KILLER = """
import os, shutil, signal, sys
from pathlib import Path
from verulam.experiment import finalise

folder, force, stride = Path(sys.argv[1]), sys.argv[2] == "force", int(sys.argv[3])
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}
state = {"left": None}
# What is loaded and compiled once need not be in every child.
shutil.copytree(folder / "before", folder / "warm")
finalise(folder / "warm" / "birds.sqlite", "naive bayes", force=force)

def watch(event, arguments):
    if state["left"] is None:
        return
    # A file that is opened to be written, or to be kept on disk.
    opens = event == "open" and (arguments[1] is None or "w" in str(arguments[1]))
    if (event in CHANGES or opens) and str(folder) in str(arguments[0]):
        state["left"] -= 1
        if state["left"] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
number = 0
while True:
    place = folder / str(number)
    shutil.copytree(folder / "before", place)
    child = os.fork()
    if child == 0:
        state["left"] = number
        finalise(place / "birds.sqlite", "naive bayes", force=force)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        assert os.waitstatus_to_exitcode(status) == 0
        break
    number += stride
print(number)
"""


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """Return the store of a study with a locked part that nobody has used."""
    store = tmp_path_factory.mktemp("studied") / "birds.sqlite"
    run(birds(losses=None, reject_cost=None), store, engine="serial", progress=False)
    return store


def seal_of(file):
    with zipfile.ZipFile(file) as archive:
        return json.loads(archive.read("card.json"))["seal"]


def contents(file):
    """Return the model and its pages; None for what is not there."""
    return [path.read_bytes() if path.exists() else None for path in (file, *card_paths(file))]


@pytest.mark.parametrize("stride", [40, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("force", ["new", "force"])
def test_a_kill_leaves_the_old_or_the_new_state(studied, tmp_path, force, stride):
    before = tmp_path / "before"
    before.mkdir()
    shutil.copy(studied, before / "birds.sqlite")
    if force == "force":
        finalise(before / "birds.sqlite", "majority class")
    old, uses = contents(before / "birds.skops"), len(finalisations(before / "birds.sqlite"))
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path), force, str(stride)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kills = int(done.stdout)
    assert kills > 15
    outcomes = [
        check_state(tmp_path / str(number), old, uses) for number in range(0, kills, stride)
    ]
    # Once new, it stays new; both happen, though the last few changes are easily missed.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {"1 old", "2 new"} or stride > 1


def check_state(folder, old, uses):
    """Check what a kill has left, now and after the same call, and return which state it is."""
    store, file = folder / "birds.sqlite", folder / "birds.skops"
    model, *pages = contents(file)
    record = finalisations(store)
    looks = record.iloc[uses:]
    assert len(looks) <= 1
    if model == old[0]:
        # Pages are those of the model, or for a moment not there.
        assert all(page in (None, before) for page, before in zip(pages, old[1:], strict=True))
    else:
        card = load_model(file).card
        assert looks["model"].tolist() == [seal_of(file)]
        expected = [card.to_html().encode(), card.to_markdown().encode()]
        assert all(page in (None, new) for page, new in zip(pages, expected, strict=True))
    if not (folder / ".birds.skops.ready").is_dir():
        assert contents(file)[0] is not None or contents(file) == old
        assert model != old[0] or looks["model"].isna().all()
        return "1 old" if model == old[0] else "2 new"
    # All was ready: the same call gives the model, without another look.
    made = finalise(store, "naive bayes")
    assert made.card.learner == "parametric.NaiveBayes"
    assert len(finalisations(store)) == uses + 1
    assert finalisations(store)["model"].iloc[-1] == seal_of(file)
    assert None not in contents(file)
    assert contents(file)[2] == made.card.to_markdown().encode()
    assert not [path for path in folder.iterdir() if path.name.startswith(".birds")]
    return "2 new"


def test_a_learner_that_cannot_be_saved_costs_no_look(studied, tmp_path, monkeypatch):
    store = shutil.copy(studied, tmp_path / "birds.sqlite")

    def unsavable(*_, **__):
        raise TypeError("no way to save it")

    monkeypatch.setattr("skops.io.dumps", unsavable)
    with pytest.raises(DataError, match="cannot be saved: no way to save it"):
        finalise(store, "naive bayes")
    assert finalisations(store).empty
    assert [path.name for path in tmp_path.iterdir()] == ["birds.sqlite"]


def test_a_full_disk_costs_no_look(studied, tmp_path, monkeypatch):
    store = shutil.copy(studied, tmp_path / "birds.sqlite")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("verulam.experiment._final.placing.keep_on_disk", full)
    with pytest.raises(OSError, match=r"No space left on device.*birds\.skops"):
        finalise(store, "naive bayes")
    assert finalisations(store).empty
    assert [path.name for path in tmp_path.iterdir()] == ["birds.sqlite"]


def test_what_an_earlier_kill_left_unready_is_removed(tmp_path):
    (tmp_path / ".model.skops.abc.part").mkdir()
    (tmp_path / ".model.skops.abc.part" / "room").write_bytes(b"12")
    with staging_for(tmp_path / "model.skops") as staging:
        staging.make_room(b"1234")
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_files_that_were_ready_for_another_study_are_told(studied, tmp_path):
    store = shutil.copy(studied, tmp_path / "birds.sqlite")
    ready = tmp_path / ".birds.skops.ready"
    ready.mkdir()
    record = {
        "store": "/elsewhere.sqlite",
        "request": [None, None],
        "number": 1,
        "response": "",
        "seal": "",
        "pages": [],
    }
    (ready / "record.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(DataError, match=r"from /elsewhere\.sqlite when that was interrupted"):
        finalise(Path(store), "naive bayes")
