"""Rule learners beside wittgenstein's and Weka's, where they are: the same data, as accurate."""

import re
import shutil
import subprocess
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks._timing import Race, alone, best_time, print_races, race
from verulam.rule import Ripper

WEKA = Path("/usr/share/java/weka.jar")


#: Rows of the tables.
SIZES = (1_000, 5_000)


def run() -> None:
    """Print the races of Ripper on tables of 10 columns, and how its time grows."""
    races = []
    for n_rows in SIZES:
        sample = generated(n_rows)
        name = f"Ripper, {n_rows:,} rows: fit"
        if find_spec("wittgenstein") is None:
            print("  wittgenstein is not installed")
        else:
            peer = "wittgenstein"
            works = sample.fit_ours, sample.fit_wittgenstein
            races.append(race(name, works[0], peer, works[1], same=sample.as_accurate))
        timing = sample.fit_jrip()
        if timing is None:
            print("  JRip is not installed")
            continue
        seconds, accuracy = timing
        assert sample.accuracy_of_ours() > accuracy - LESS
        races.append(Race(name, best_time(sample.fit_ours), "JRip", seconds))
    print_races("Rule learners", races)
    for n_rows in (5_000, 20_000):
        print("  " + alone(f"Ripper, {n_rows:,} rows: fit", generated(n_rows).fit_ours))


#: What ours may be less accurate by on rows that were not seen: growing and pruning sets are drawn.
LESS = 0.02


class _Sample:
    """Training and test rows, and what each learner makes of them."""

    def __init__(self, X, y, n_rows):
        self.train, self.test = (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])
        self.frames = [pd.DataFrame(part) for part in (X[:n_rows], X[n_rows:])]

    def fit_ours(self, seed=0):
        return Ripper(random_state=seed).fit(*self.train)

    def accuracy_of_ours(self):
        """Return the mean accuracy of three seeds."""
        return float(np.mean([self.fit_ours(seed).score(*self.test) for seed in range(3)]))

    def fit_wittgenstein(self):
        from wittgenstein import RIPPER

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = RIPPER(random_state=0)
            learner.fit(self.frames[0], y=self.train[1], pos_class=1)
        return learner

    def as_accurate(self, _, theirs):
        right = np.array(theirs.predict(self.frames[1])) == self.test[1]
        accuracies = self.accuracy_of_ours(), right.mean()
        print(f"  accuracy {accuracies[0]:.4f}, wittgenstein {accuracies[1]:.4f}")
        return accuracies[0] > accuracies[1] - LESS

    def fit_jrip(self):
        if not WEKA.exists() or shutil.which("java") is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("train.arff", "test.arff")]
            for path, part in zip(files, (self.train, self.test), strict=True):
                path.write_text(_arff(*part))
            command = ["java", "-cp", str(WEKA), "weka.classifiers.rules.JRip"]
            command += ["-t", str(files[0]), "-T", str(files[1])]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # Weka times the building of the model alone, without reading files.
        seconds = float(re.search(r"Time taken to build model: ([\d.]+)", output)[1])
        tested = output[output.index("Error on test data") :]
        return seconds, float(re.search(r"Correctly Classified.*?([\d.]+) +%", tested)[1]) / 100


def generated(n_rows):
    """Return rows of two classes, and half as many again to test on."""
    X, y = make_classification(
        n_samples=n_rows + n_rows // 2, n_features=10, n_informative=6, random_state=0
    )
    return _Sample(X, y, n_rows)


def _arff(X, y) -> str:
    head = [f"@attribute a{place} numeric" for place in range(X.shape[1])]
    lines = ["@relation rows", *head, "@attribute class {c0,c1}", "@data"]
    lines += [
        f"{','.join(map(repr, row))},c{label}" for row, label in zip(X.tolist(), y, strict=True)
    ]
    return "\n".join(lines) + "\n"
