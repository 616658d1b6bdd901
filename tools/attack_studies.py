"""Run studies while clocks jump and workers die, and studies far larger than usual.

    python tools/attack_studies.py                     # all parts, some of them for long
    python tools/attack_studies.py clock columns       # these alone

A part prints what it did, its CPU seconds and its largest memory; one that raises has failed. Each
has a process of its own. Kills in the midst of a study and of a finalisation are tests of the
suite (tests/experiment/run, tests/experiment/final/test_placing.py), and damaged files have
`attack_readers.py`.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    Results,
    Store,
    Study,
    analyse,
    compare,
    make_plan,
    report,
    run,
)

ROOT = Path(__file__).resolve().parents[1]
QUERY = "SELECT run, status, predicted, probabilities FROM runs ORDER BY run"
#: Lets the clock of the wall leap to and fro by up to a year, in every process that is started.
LEAPING_CLOCK = """
import random, time
_true, _random = time.time, random.Random()
time.time = lambda: _true() + _random.uniform(-3e7, 3e7)
"""
#: Runs the study of `_study` in the store that the command line names.
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from attack_studies import _study
from verulam.experiment import run
print("begun", flush=True)
run(_study(), sys.argv[2], engine=sys.argv[3], workers=2, progress=False)
"""


def main() -> None:
    """Run the parts that the command line names, and exit with 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--here", action="store_true", help="without a process for each")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"parts: no {', '.join(sorted(unknown))}; expected some of {', '.join(PARTS)}")
    names = options.parts or list(PARTS)
    if options.here:
        for name in names:
            _measured(name)
        return
    command = [sys.executable, __file__, "--here"]
    failed = [
        name
        for name in names
        if subprocess.run([*command, name], check=False).returncode  # noqa: S603 - this very file
    ]
    print(f"{len(failed)} of {len(names)} parts failed{': ' if failed else ''}{', '.join(failed)}.")
    sys.exit(bool(failed))


def _measured(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = PARTS[name](Path(folder))
    seconds, memory = 0.0, 0.0
    for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(whose)
        seconds += usage.ru_utime + usage.ru_stime
        memory = max(memory, usage.ru_maxrss / 1024)
    print(f"{name}: {words}; {seconds:.1f} s of CPU, at most {memory:.0f} MB", flush=True)


# Clocks and workers ----------------------------------------------------------------------------


def _study() -> Study:
    forest = LearnerChoice("random forest", parameters={"n_estimators": 20})
    learners = [LearnerChoice("majority class"), LearnerChoice("naive Bayes"), forest]
    return Study("attacked", [DataChoice("iris")], learners, resampling="4x10-fold")


def _rows(path: Path) -> pd.DataFrame:
    with Store(path) as store:
        return store.read(QUERY)


def _check_same(path: Path, folder: Path) -> int:
    """Raise if a store differs from that of a quiet study, and return its number of runs."""
    quiet = run(_study(), folder / "quiet.sqlite", engine="serial", progress=False)
    rows = _rows(path)
    if not rows.equals(_rows(Path(quiet.path))):
        raise AssertionError(f"{path.name} differs from what a quiet study stores")
    return len(rows)


def clock(folder: Path) -> str:
    """Kill a study whose clock leaps, three times, and let it go on each time."""
    (folder / "sitecustomize.py").write_text(LEAPING_CLOCK, encoding="utf-8")
    path = folder / "leaping.sqlite"
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "tools"), str(path), "processes"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    kept = []
    for part in (0.25, 0.5, 0.75):
        process = subprocess.Popen(  # noqa: S603 - the program above
            command, env=environment, stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        while process.poll() is None and _settled(path) < part * len(make_plan(_study())):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        kept.append(_settled(path))
    subprocess.run(command, env=environment, check=True, capture_output=True)  # noqa: S603 - as above
    count = _check_same(path, folder)
    analyse(path)
    return f"{count} runs, killed after {kept}, are those of a quiet study to the last bit"


def _settled(path: Path) -> int:
    if not path.exists():
        return 0
    with Store(path) as store:
        return len(store.settled())


def workers(folder: Path) -> str:
    """Kill a worker of a cluster of three after every tenth run."""
    import distributed

    from verulam.experiment._run.queue import RunQueue

    path = folder / "cluster.sqlite"
    counted, killed, count = [0], [], RunQueue._count
    options = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster:

        def counting(queue, outcome) -> None:
            counted[0] += 1
            alive = [
                nanny for nanny in cluster.workers.values() if nanny.process and nanny.process.pid
            ]
            if counted[0] % 10 == 0 and alive:
                killed.append(alive[len(killed) % len(alive)].process.pid)
                os.kill(killed[-1], signal.SIGKILL)
            count(queue, outcome)

        RunQueue._count = counting
        engine = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        results = run(_study(), path, engine=engine, progress=False)
        RunQueue._count = count
    if set(results.status()) != {"done"}:
        raise AssertionError(f"not all runs are done: {results.status()}")
    return f"{_check_same(path, folder)} runs are the same though {len(killed)} workers were killed"


# Sizes -----------------------------------------------------------------------------------------


def columns(folder: Path) -> str:
    """Read and compare a table of 10,000 columns."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(200, 10_000))).add_prefix("column ")
    table["kind"] = np.where(table["column 7"] + table["column 70"] > 0, "yes", "no")
    path = folder / "wide.csv"
    table.to_csv(path, index=False)
    learners = ["majority class", "naive Bayes", "logistic regression", "decision tree"]
    answer = compare(
        path, learners, target="kind", resampling="5-fold", store=folder / "wide.sqlite",
        progress=False,
    )  # fmt: skip
    return f"{path.stat().st_size / 1e6:.0f} MB read; {str(answer).splitlines()[0]}"


def classes(folder: Path) -> str:
    """Compare learners on 1,000 classes of ten rows, and write the report."""
    random = np.random.default_rng(0)
    centres = random.normal(scale=10.0, size=(1000, 5))
    rows = np.repeat(centres, 10, axis=0) + random.normal(size=(10_000, 5))
    table = pd.DataFrame(rows).add_prefix("x").assign(kind=np.repeat(np.arange(1000), 10))
    table["kind"] = "kind " + table["kind"].astype(str)
    learners = ["majority class", "naive Bayes", "nearest mean", "decision tree"]
    answer = compare(
        table, learners, target="kind", resampling="5-fold", store=folder / "many.sqlite",
        progress=False,
    )  # fmt: skip
    page = Path(report(folder / "many.sqlite", folder / "many.html"))
    return f"{str(answer).splitlines()[0]} Report of {page.stat().st_size / 1e6:.1f} MB"


def data_sets(folder: Path) -> str:
    """Run, analyse and report a study of 200 data sets."""
    random = np.random.default_rng(0)
    choices = []
    for number in range(200):
        rows = random.normal(size=(60, 3))
        table = pd.DataFrame(rows).add_prefix("x")
        table["kind"] = np.where(rows[:, 0] + random.normal(size=60) > 0, "yes", "no")
        choices.append(DataChoice(table, target="kind", label=f"set {number}"))
    learners = ["majority class", "naive Bayes", "decision tree"]
    study = Study(
        "many sets", choices, [LearnerChoice(name) for name in learners], resampling="5-fold"
    )
    path = folder / "sets.sqlite"
    results = run(study, path, engine="serial", progress=False)
    analyse(path)
    page = Path(report(path, folder / "sets.html"))
    return f"{results.status()}, report of {page.stat().st_size / 1e6:.1f} MB"


def runs(folder: Path) -> str:
    """Analyse and report 100,000 stored runs."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.bench_analysis import _make_store

    path = folder / "runs.sqlite"
    count = _make_store(path)
    start = time.process_time()
    analyse(Results(path))
    seconds = time.process_time() - start
    page = Path(report(path, folder / "runs.html"))
    return f"{count:,} runs analysed in {seconds:.1f} s, {page.stat().st_size / 1e6:.1f} MB report"


def rows(folder: Path) -> str:
    """Fit a learner to a file of 5 million rows, piece by piece."""
    from verulam.data import stream
    from verulam.parametric import NaiveBayes

    path = folder / "long.csv"
    random = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for piece in range(50):
            values = random.normal(size=(100_000, 4))
            table = pd.DataFrame(values).add_prefix("x").round(4)
            table["kind"] = np.where(values[:, 0] + values[:, 1] > 0, "yes", "no")
            table.to_csv(file, index=False, header=piece == 0)
    learner, count = NaiveBayes(), 0
    for inputs, target in stream(path, target="kind", chunk_rows=100_000):
        learner.partial_fit(inputs, target)
        count += len(target)
    if count != 5_000_000:
        raise AssertionError(f"{count:,} rows were read")
    return f"{count:,} rows of {path.stat().st_size / 1e6:.0f} MB"


PARTS: dict[str, Callable[[Path], str]] = {
    "clock": clock,
    "workers": workers,
    "columns": columns,
    "classes": classes,
    "data_sets": data_sets,
    "runs": runs,
    "rows": rows,
}

if __name__ == "__main__":
    main()
