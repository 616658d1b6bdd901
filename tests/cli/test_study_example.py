"""The study file that `verulam init` writes, and those of the examples folder."""

import tomllib
from pathlib import Path

import pytest

from verulam.cli._study_example import EXAMPLE_STUDY
from verulam.experiment import make_plan, read_study
from verulam.experiment._study.file import _KEYS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def test_every_key_is_shown():
    text = EXAMPLE_STUDY.format(name="study.toml", store="study.sqlite")
    shown = [key for key in _KEYS if f"{key} = " in text or f"[[{key}]]" in text]
    assert shown == list(_KEYS)


def test_comments_can_be_taken_out():
    text = EXAMPLE_STUDY.format(name="study.toml", store="study.sqlite")
    assert tomllib.loads(text)["test_share"] == 0.33
    keys = ("time_limit", "memory_limit", "training_shares")
    for key in keys:
        text = text.replace(f"# {key} =", f"{key} =")
    assert set(keys) < set(tomllib.loads(text))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_can_be_planned(path):
    study = read_study(path)
    assert study.question
    assert len(make_plan(study)) > 0


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
