"""Importing the package costs nothing and gives the sugar."""

import os
import subprocess
import sys

import pytest

import verulam

HEAVY = (
    "numpy",
    "numba",
    "pandas",
    "matplotlib",
    "torch",
    "statsmodels",
    "dask",
    "sklearn",
    "typer",
)
SCRIPT = """
import sys, time
start = time.process_time()
import verulam
taken = time.process_time() - start
print(taken, *[name for name in sys.argv[1:] if name in sys.modules])
"""


def imported():
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    command = [sys.executable, "-c", SCRIPT, *HEAVY]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    taken, *heavy = result.stdout.split()
    return float(taken), heavy


def test_import_is_light_and_quick():
    results = [imported() for _ in range(3)]
    assert [heavy for _, heavy in results] == [[], [], []]
    assert min(taken for taken, _ in results) < 0.2


def test_names():
    assert verulam.__all__ == ["compare", "dataset", "learner"]
    assert verulam.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no attribute 'lerner'"):
        _ = verulam.lerner


def test_learner():
    assert type(verulam.learner("naive bayes", alpha=2.0)).__name__ == "NaiveBayes"


def test_dataset():
    assert verulam.dataset("iris").n_rows == 150


def test_compare():
    comparison = verulam.compare("iris", ["majority class"], resampling="5-fold", progress=False)
    assert comparison.ranking().loc["majority class", "mean"] == pytest.approx(2 / 3)


def test_packages_load_when_they_are_named():
    script = "import verulam; print(len(verulam.data.dataset_names()) > 5)"
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"
    with pytest.raises(AttributeError, match="has no attribute 'nowhere'"):
        verulam.nowhere  # noqa: B018


def test_the_command_line_is_a_module_too():
    command = [sys.executable, "-m", "verulam", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert verulam.__version__ in result.stdout
