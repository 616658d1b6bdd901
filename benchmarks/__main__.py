"""Run the benchmarks: ``python -m benchmarks`` for all, or with the names of some.

Each runs in a process of its own, with one thread and then with two, and has a time limit. What
one thread took is noted in ``results.json``, and ``docs/benchmarks.md`` is written from it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks._page import note, write_page
from benchmarks._timing import RACES, Race, summary

PREFIX = "bench_"
#: Threads of BLAS, OpenMP and readers of files, for ours and the peers alike.
THREADS = (1, 2)
THREAD_VARIABLES = (
    "VERULAM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
#: Most seconds of one benchmark; what it has not finished by then is not noted.
LIMIT = 3600
#: What takes long and races nothing: simulations of `compare`, first calls, a browser.
ONLY_BY_NAME = ("answer", "cold", "lab")
#: Says to a process which benchmark is its own, and where to write the races.
CHILD = "--write-races"


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all of them, and return the exit code."""
    if arguments[:1] == [CHILD]:
        return _run_here(*arguments[1:])
    known = sorted(path.stem.removeprefix(PREFIX) for path in _folder().glob(f"{PREFIX}*.py"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--threads", type=int, choices=THREADS, help="only with so many threads")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no benchmark {unknown[0]!r}; there are: {', '.join(known)}.")
    names = options.names or [name for name in known if name not in ONLY_BY_NAME]
    failed = []
    # Both sides get the same number of threads: a race of one against many tells nothing.
    for threads in [options.threads] if options.threads else THREADS:
        title = f"{threads} thread{'s' if threads > 1 else ''}"
        print(f"\n=== {title} ===", flush=True)
        every: list[Race] = []
        for name in names:
            races = _run_alone(name, threads)
            if races is None:
                failed.append(f"{name} ({title})")
                continue
            every += races
            if threads == 1:
                note(name, races)
                write_page()
        print(f"\n{title}, {summary(every)}")
    if failed:
        print(f"Not finished: {', '.join(failed)}.", file=sys.stderr)
    return int(bool(failed))


def _run_alone(name: str, threads: int) -> list[Race] | None:
    """Return the races of a benchmark run in a new process, or None where it failed."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "races.json")
        command = [sys.executable, "-m", "benchmarks", CHILD, name, str(threads), str(path)]
        try:
            limit = None if name in ONLY_BY_NAME else LIMIT
            code = subprocess.run(command, env=environment, timeout=limit, check=False).returncode
        except subprocess.TimeoutExpired:
            print(f"  {name}: not finished after {LIMIT} seconds", file=sys.stderr)
            return None
        return None if code else [Race(**entry) for entry in json.loads(path.read_text())]


def _run_here(name: str, threads: str, path: str) -> int:
    with threadpool_limits(int(threads)):
        import_module(f"{__package__}.{PREFIX}{name}").run()
    Path(path).write_text(json.dumps([asdict(entry) for entry in RACES]))
    return 0


def _folder() -> Path:
    return Path(__file__).parent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
