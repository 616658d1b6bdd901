"""Ripper beside Weka's JRip and wittgenstein, on the same rows and folds."""

import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from verulam.data import dataset
from verulam.rule import Ripper

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]

WEKA = Path("/usr/share/java/weka.jar")
needs_weka = pytest.mark.skipif(
    not WEKA.exists() or shutil.which("java") is None, reason="Weka is not installed"
)
SETS = ("breast_cancer", "election", "german_credit", "iris", "penguins", "titanic", "wine")
SEEDS = range(3)


def generated():
    """Return 5,000 rows to learn from and 2,500 to test on, of two classes."""
    X, y = make_classification(n_samples=7500, n_features=10, n_informative=6, random_state=1)
    frame = pd.DataFrame(X).add_prefix("x")
    return frame[:5000], y[:5000], frame[5000:], y[5000:]


def our_accuracy(X, y, X_test, y_test):
    return np.mean([Ripper(random_state=seed).fit(X, y).score(X_test, y_test) for seed in SEEDS])


def jrip_accuracy(folder, X, y, X_test, y_test):
    labels = sorted(set(map(str, [*y, *y_test])))
    files = [folder / "train.arff", folder / "test.arff"]
    for path, part, targets in zip(files, (X, X_test), (y, y_test), strict=True):
        path.write_text(arff(part, targets, labels))
    command = ["java", "-cp", str(WEKA), "weka.classifiers.rules.JRip", "-o"]
    command += ["-t", str(files[0]), "-T", str(files[1])]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    tested = told[told.index("Error on test data") :]
    return float(re.search(r"Correctly Classified.*?([\d.]+) +%", tested)[1]) / 100


def arff(X, y, labels):
    """Return a table in Weka's format, categories by their number."""
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
    lines.append(f"@attribute class {{{','.join(f'c{code}' for code in range(len(labels)))}}}")
    columns.append([f"c{labels.index(str(label))}" for label in y])
    rows = [",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join([*lines, "@data", *rows]) + "\n"


@needs_weka
def test_generated_data_within_half_a_point_of_jrip(tmp_path):
    data = generated()
    assert our_accuracy(*data) > jrip_accuracy(tmp_path, *data) - 0.005


@needs_weka
@pytest.mark.slow
def test_bundled_sets_within_half_a_point_of_jrip(tmp_path):
    """Mean over seven sets, five folds each, the same rows for both."""
    ours, theirs = [], []
    for name in SETS:
        data = dataset(name)
        X, y = data.inputs, np.asarray(data.target_values).astype(str)
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
        for train, test in folds:
            part = (X.iloc[train], y[train], X.iloc[test], y[test])
            ours.append(our_accuracy(*part))
            theirs.append(jrip_accuracy(tmp_path, *part))
    assert np.mean(ours) > np.mean(theirs) - 0.005


def test_well_above_wittgenstein_on_numbers():
    """It bins numbers and tests bins by equality; thresholds say more with fewer conditions."""
    wittgenstein = pytest.importorskip("wittgenstein")
    X, y, X_test, y_test = generated()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = wittgenstein.RIPPER(random_state=0)
        peer.fit(X, y=y, pos_class=1)
        theirs = np.mean(np.array(peer.predict(X_test)) == y_test)
    assert our_accuracy(X, y, X_test, y_test) > theirs + 0.02
