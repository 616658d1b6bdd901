"""Environments: described once, and compared package by package."""

import json

import numpy as np

from verulam.experiment._store.environment import changed_packages, environment


def test_present_versions():
    assert json.loads(environment().content)["packages"]["numpy"] == np.__version__
    assert changed_packages([environment().content]) == []


def test_changed_packages_are_named_once():
    earlier = [
        json.dumps({"packages": {"numpy": number, "gone": "1"}}) for number in ("0.2", "0.1")
    ]
    words = [f"numpy 0.1 and 0.2 (now {np.__version__})"]
    assert changed_packages([*earlier, earlier[0]]) == words
