"""The notebooks of the chapters run from their first cell to the last."""

import importlib.util
import json
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
TOOL = FOLDER.parent / "tools" / "build_notebooks.py"
NOTEBOOKS = sorted(FOLDER.glob("chapter-*.ipynb"))
#: Those that take a second or two.
QUICK = {"10", "14", "15", "19"}


def cells(path, kind):
    content = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == kind]


def test_there_is_one_for_each_chapter():
    numbers = [int(path.name.split("-")[1]) for path in NOTEBOOKS]
    assert numbers == list(range(8, 20))
    for path, number in zip(NOTEBOOKS, numbers, strict=True):
        content = json.loads(path.read_text(encoding="utf-8"))
        assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
        assert cells(path, "markdown")[0].startswith(f"# Chapter {number}: ")
        assert 2 <= len(cells(path, "code")) <= 40


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build_notebooks", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_what_the_guide_says(builder, path):
    built = builder.notebook(int(path.name.split("-")[1]))
    assert json.loads(path.read_text(encoding="utf-8")) == built, "run tools/build_notebooks.py"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.name.split("-")[1] in QUICK else pytest.mark.slow)
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_every_cell_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    for place, source in enumerate(cells(path, "code")):
        exec(compile(source, f"{path.name}, cell {place}", "exec"), names)
    assert os.listdir(tmp_path) == [] or path.name.startswith("chapter-19")
