"""Twelve bundled problems, and Weka's learners, where it is installed, on the same rows as ours."""

import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from verulam.data import dataset

WEKA = Path("/usr/share/java/weka.jar")
NAMES = (
    *("adult", "auto_mpg", "breast_cancer", "digits", "election", "german_credit"),
    *("iris", "penguins", "seattle_weather", "titanic", "travel_mode", "wine"),
)
#: Rows of the larger data sets that are used.
MOST_ROWS = 1500


@pytest.fixture(scope="session")
def twelve_problems():
    """Return inputs and classes by the name of the data set."""
    return {name: classes_of(name) for name in NAMES}


def classes_of(name):
    """Return inputs and classes of a data set; a number to predict is high or low."""
    data = dataset(name)
    X, y = data.inputs, np.asarray(data.target_values)
    if data.task == "regression":
        y = y > np.median(y)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X.iloc[rows].reset_index(drop=True), y[rows]


@pytest.fixture
def weka_accuracy(tmp_path):
    """Return a function of a learner's class, training and test rows; skip without Weka."""
    if not WEKA.exists() or shutil.which("java") is None:
        pytest.skip("Weka is not installed")
    return partial(accuracy_in_weka, tmp_path)


def accuracy_in_weka(folder, learner, X, y, X_test, y_test, options=()):
    """Return the accuracy on other rows of one of Weka's learners, by the name of its class."""
    labels = sorted(set(map(str, [*y, *y_test])))
    tested = told_by_weka(folder, learner, (X, y), (X_test, y_test), labels, options)
    return float(re.search(r"Correctly Classified.*?([\d.]+) +%", tested)[1]) / 100


@pytest.fixture
def weka_error(tmp_path):
    """Return a function as `weka_accuracy` does, for numbers: the root mean squared error."""
    if not WEKA.exists() or shutil.which("java") is None:
        pytest.skip("Weka is not installed")
    return partial(error_in_weka, tmp_path)


def error_in_weka(folder, learner, X, y, X_test, y_test):
    """Return the root mean squared error on other rows of one of Weka's learners."""
    tested = told_by_weka(folder, learner, (X, y), (X_test, y_test))
    return float(re.search(r"Root mean squared error +([\d.]+)", tested)[1])


def told_by_weka(folder, learner, training, testing, labels=None, options=()):
    """Return what Weka tells of the test rows."""
    files = [folder / "train.arff", folder / "test.arff"]
    for path, (X, y) in zip(files, (training, testing), strict=True):
        path.write_text(arff(X, y, labels))
    command = ["java", "-cp", str(WEKA), learner, "-o", *options]
    command += ["-t", str(files[0]), "-T", str(files[1])]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return told[told.index("Error on test data") :]


def arff(X, y, labels=None):
    """Return a table in Weka's format, categories by their number; numbers without `labels`."""
    lines, columns = ["@relation rows"], []
    for place, name in enumerate(X.columns):
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = [f"v{code}" for code in range(len(column.dtype.categories))]
            lines.append(f"@attribute a{place} {{{','.join(values)}}}")
            columns.append([f"v{code}" if code >= 0 else "?" for code in column.cat.codes])
        else:
            numbers = column.astype(float).tolist()
            lines.append(f"@attribute a{place} numeric")
            columns.append(["?" if number != number else repr(number) for number in numbers])
    if labels is None:
        lines.append("@attribute target numeric")
        columns.append([repr(float(number)) for number in y])
    else:
        lines.append(f"@attribute class {{{','.join(f'c{code}' for code in range(len(labels)))}}}")
        columns.append([f"c{labels.index(str(label))}" for label in y])
    rows = [",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join([*lines, "@data", *rows]) + "\n"
