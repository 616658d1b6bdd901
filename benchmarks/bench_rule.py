"""Rule learners beside wittgenstein's and Weka's: the same data, accuracy and time, in one run."""

import re
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks._timing import Race, print_races
from verulam.rule import Ripper

WEKA = Path("/usr/share/java/weka.jar")


def run() -> None:
    """Print accuracy and time of Ripper at 5,000 and 20,000 rows of 10 columns."""
    generated(500).fit_ours()
    races = []
    for n_rows in (5_000, 20_000):
        sample = generated(n_rows)
        ours, accuracy = sample.fit_ours()
        print(f"\n{n_rows:,} rows x 10: accuracy of ours {accuracy:.4f}")
        for peer, fit in (("wittgenstein", sample.fit_wittgenstein), ("JRip", sample.fit_jrip)):
            timing = fit()
            if timing is None:
                print(f"  {peer} is not installed")
                continue
            seconds, accuracy = timing
            print(f"  accuracy of {peer} {accuracy:.4f}")
            races.append(Race(f"Ripper, {n_rows:,} rows: fit", ours, peer, seconds))
    print_races("Rule learners", races)


class _Sample:
    """Training and test rows, and what each learner makes of them: seconds and accuracy."""

    def __init__(self, X, y, n_rows):
        self.train, self.test = (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])

    def fit_ours(self):
        seconds = []
        scores = []
        for seed in range(3):
            start = time.perf_counter()
            learner = Ripper(random_state=seed).fit(*self.train)
            seconds.append(time.perf_counter() - start)
            scores.append(learner.score(*self.test))
        return min(seconds), float(np.mean(scores))

    def fit_wittgenstein(self):
        try:
            from wittgenstein import RIPPER
        except ImportError:
            return None
        train, test = (pd.DataFrame(X) for X in (self.train[0], self.test[0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            learner = RIPPER(random_state=0)
            learner.fit(train, y=self.train[1], pos_class=1)
            seconds = time.perf_counter() - start
            return seconds, float(np.mean(np.array(learner.predict(test)) == self.test[1]))

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
