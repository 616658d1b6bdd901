"""The first call of each learner in a new process with an empty cache, and scikit-learn's.

``python -m benchmarks cold`` runs all; ``python -m benchmarks.bench_cold --only kernel,tree`` some.
Seconds are processor time of the first `fit` and predictions; imports are not counted.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from verulam.catalogue._first_calls import learners_named

#: What scikit-learn has of the same kind, and what takes its rows.
PEERS = {
    "kernel.OneClassMachine": "sklearn.svm.OneClassSVM",
    "kernel.KernelPrincipalComponents": "sklearn.decomposition.KernelPCA",
    "kernel.SupportVectorClassifier": "sklearn.svm.SVC",
    "kernel.SupportVectorRegressor": "sklearn.svm.SVR",
    "linear.LogisticDiscriminant": "sklearn.linear_model.LogisticRegression",
    "linear.OneVersusRest": "sklearn.linear_model.RidgeClassifier",
    "linear.Perceptron": "sklearn.linear_model.Perceptron",
    "nonparametric.KNeighborsClassifier": "sklearn.neighbors.KNeighborsClassifier",
    "nonparametric.KNeighborsRegressor": "sklearn.neighbors.KNeighborsRegressor",
    "parametric.GaussianClassifier": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "parametric.LeastSquares": "sklearn.linear_model.LinearRegression",
    "parametric.NaiveBayes": "sklearn.naive_bayes.GaussianNB",
    "parametric.NearestMean": "sklearn.neighbors.NearestCentroid",
    "tree.DecisionTreeClassifier": "sklearn.tree.DecisionTreeClassifier",
    "tree.DecisionTreeRegressor": "sklearn.tree.DecisionTreeRegressor",
}
OURS = """
import json, sys
from verulam.catalogue._first_calls import first_call
call = first_call(sys.argv[1])
print(json.dumps([call.seconds, call.n_compilations, call.error]))
"""
THEIRS = """
import json, sys, time
from importlib import import_module
from verulam.catalogue import entry
from verulam.testing._samples import sample_for
sample = sample_for(entry(sys.argv[1]).example())
package, _, name = sys.argv[2].rpartition(".")
learner = getattr(import_module(package), name)()
start = time.process_time()
learner.fit(*sample.arguments)
(learner.predict if hasattr(learner, "predict") else learner.transform)(sample.inputs)
print(json.dumps([time.process_time() - start]))
"""


def in_new_process(script: str, *arguments: str) -> list:
    """Return what a script prints, run in a process whose cache of compiled loops is empty."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-W", "ignore", "-c", script, *arguments]
        result = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
    if result.returncode:
        return [float("nan"), 0, result.stderr.strip().rpartition("\n")[2]]
    return json.loads(result.stdout)


def run(only: Sequence[str] = ()) -> None:
    """Print a line for each learner as it is measured, and the slowest at the end."""
    print("\nFirst calls with an empty cache (processor seconds of fit and predict)")
    rows = []
    for name in sorted(learners_named(only)):
        seconds, count, error = in_new_process(OURS, name)
        peer = f"{in_new_process(THEIRS, name, PEERS[name])[0]:.2f}" if name in PEERS else ""
        rows.append((seconds, name))
        line = f"  {name:<44}{seconds:6.2f} s {count:4} compilations  {peer:>6}  {error}"
        print(line.rstrip(), flush=True)
    total = sum(seconds for seconds, _ in rows)
    slow = [f"{name} {seconds:.1f}" for seconds, name in sorted(rows, reverse=True)[:5]]
    over = sum(seconds > 3.0 for seconds, _ in rows)
    print(f"  {len(rows)} learners, {total:.0f} s in all, {over} above 3 s.")
    print(f"  The slowest: {', '.join(slow)}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="packages and learners, separated by commas")
    run([name for name in parser.parse_args().only.split(",") if name])
