"""Break the code behind each row of the map on purpose, and see whether the row's tests notice.

    python tools/break_rows.py                  # one mutant for every filled row
    python tools/break_rows.py 13.a 13.b --count 5
    python tools/break_rows.py --package tree --seed 1 --out survivors.jsonl

A mutant is a copy of the source with one expression changed: a sign, a comparison, an index that
is off by one, a term that is dropped, a condition that is ignored, arguments that are swapped. It
is put into the packages that the row names, where its tests run and those of few other rows do,
because that is where the capability lives. A mutant that no test of the row notices is a survivor:
either the tests are too weak, or the change makes no difference, which somebody has to read.
Nothing in the working tree is touched, and a run that was stopped goes on where it ended.

A row costs little more than its tests: they run in children of a process that has already loaded
the heavy libraries, first those that call the broken function, the quickest before the others;
loops come from Numba's cache unless they are broken or call what is.
"""

import argparse
import csv
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd  # noqa: F401 - children find it loaded
import pytest
import scipy.stats  # noqa: F401
import sklearn.model_selection  # noqa: F401
from mutants import Mutant, mutants_of
from numba.core import caching
from source_graph import Place, outside, stale_files, with_compiled

ROOT = Path(__file__).resolve().parents[1]
#: What a mutant's tests may take, and how many times what they took unbroken (at least a minute):
#: an endless loop is a failure.
LIMIT, PATIENCE = 300.0, 10.0
#: Of the functions that a row's tests run, so many of the least shared ones are broken.
SPECIFIC = 12

Row = dict[str, str]


@dataclass
class TestRun:
    """What one test did before anything was broken."""

    seconds: float = 0.0
    passed: bool = False
    places: set[Place] = field(default_factory=set)


def main() -> None:
    """Break rows as the command line asks, and print the share that was noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="ids of rows; all filled ones if none is named")
    parser.add_argument("--package", help="only rows whose first name is in this package")
    parser.add_argument("--count", type=int, default=1, help="mutants for each row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true", help="change nothing: all must survive")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "mutants.jsonl"))
    options = parser.parse_args()
    rows = _filled_rows(set(options.rows), options.package)
    done = {(record["row"], record["seed"], record["number"]) for record in _read(options.out)}
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(Path(folder).resolve())
        runs = _followed_tests(copy, rows)
        places = _places_of_rows(copy, rows, runs)
        with options.out.open("a", encoding="utf-8") as lines:
            for row in rows:
                for number in range(options.count):
                    if (row["id"], options.seed, number) in done:
                        continue
                    draw = np.random.default_rng([options.seed, crc32(row["id"].encode()), number])
                    record = _broken_row(copy, row, runs, places[row["id"]], draw, options.control)
                    record = {"row": row["id"], "seed": options.seed, "number": number, **record}
                    print(json.dumps(record), file=lines, flush=True)
                    print(_told(record), flush=True)
    _print_summary(_read(options.out))


def _filled_rows(ids: set[str], package: str | None) -> list[Row]:
    with (ROOT / "src" / "verulam" / "map.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["where"] and row["verified_by"]]
    unknown = ids - {row["id"] for row in rows}
    if unknown:
        sys.exit(f"No filled row is called {', '.join(sorted(unknown))}.")
    return [
        row
        for row in rows
        if (not ids or row["id"] in ids) and (not package or row["where"].split(".")[1] == package)
    ]


def _copy(folder: Path) -> Path:
    """Copy what tests read, with the times of files: compiled loops are known by them."""
    for name in ("src", "tests", "benchmarks", "docs", "tools", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    for path in (*ROOT.glob("*.*"), ROOT / "Makefile"):
        if path.is_file():
            shutil.copy2(path, folder / path.name)
    return folder


# Tests in children -----------------------------------------------------------------------------


class Follower:
    """A plugin of pytest that notes the seconds, the outcome and the functions of each test."""

    def __init__(self, source: Path) -> None:
        self.source = f"{source}{os.sep}"
        self.codes: set = set()
        self.runs: dict[str, TestRun] = defaultdict(TestRun)

    def _note(self, frame, event, argument) -> None:
        self.codes.add(frame.f_code)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Follow the calls from here on, those of fixtures included."""
        self.codes.clear()
        threading.settrace(self._note)
        sys.settrace(self._note)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the three parts of a test."""
        run = self.runs[report.nodeid]
        run.seconds += report.duration
        run.passed |= report.when == "call" and report.passed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell functions of the source from all others."""
        sys.settrace(None)
        threading.settrace(None)
        self.runs[nodeid].places = {
            (code.co_filename.removeprefix(self.source), code.co_qualname)
            for code in self.codes
            if code.co_filename.startswith(self.source) and code.co_filename.endswith(".py")
        }

    def save(self, path: Path) -> None:
        """Write what was noted to a file."""
        runs = {name: [r.seconds, r.passed, sorted(r.places)] for name, r in self.runs.items()}
        path.write_text(json.dumps(runs), encoding="utf-8")


def _exit_status(
    copy: Path,
    tests: list[str],
    limit: float,
    mutant: Mutant | None = None,
    seen: Path | None = None,
) -> int | None:
    """Return pytest's exit status for tests of the copy in a child, None if that took too long."""
    stale = stale_files(copy / "src", (mutant.file, mutant.function)) if mutant else set()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            _run_tests(copy, tests, mutant, stale, seen)
        finally:
            os._exit(99)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run_tests(
    copy: Path, tests: list[str], mutant: Mutant | None, stale: set[str], seen: Path | None
) -> None:
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.chdir(copy)
    sys.path[:0] = [str(copy / "src"), str(copy)]
    os.environ["PYTHONPATH"] = f"{copy / 'src'}{os.pathsep}{copy}"
    if mutant is not None:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        _refuse_stale_loops(copy, mutant, stale)
    command = ["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]
    follower = Follower(copy / "src")
    if seen is None:
        status = pytest.main([*command, "-x", *tests])
    else:
        status = pytest.main([*command, *tests], plugins=[follower])
        follower.save(seen)
    os._exit(int(status))


def _refuse_stale_loops(copy: Path, mutant: Mutant, stale: set[str]) -> None:
    """Take loops from Numba's cache but for those of stale files."""
    broken = str(copy / "src" / mutant.file)
    stamp, load, save = (
        caching._SourceFileBackedLocatorMixin.get_source_stamp,
        caching.FunctionCache.load_overload,
        caching.FunctionCache.save_overload,
    )
    before = os.stat(copy / "before.py")

    def get_source_stamp(locator):
        same = locator._py_file == broken
        return (before.st_mtime, before.st_size) if same else stamp(locator)

    def load_overload(cache, *arguments):
        return None if cache._impl.locator._py_file in stale else load(cache, *arguments)

    def save_overload(cache, *arguments):
        return None if cache._impl.locator._py_file in stale else save(cache, *arguments)

    caching._SourceFileBackedLocatorMixin.get_source_stamp = get_source_stamp
    caching.FunctionCache.load_overload = load_overload
    caching.FunctionCache.save_overload = save_overload


# The code behind a row -------------------------------------------------------------------------


def _followed_tests(copy: Path, rows: list[Row]) -> dict[str, TestRun]:
    """Run the tests of all rows unbroken, and return what each did."""
    names = sorted({name for row in rows for name in row["verified_by"].split(";")})
    files: dict[str, list[str]] = defaultdict(list)
    for name in names:
        files[name.split("::")[0]].append(name)
    runs: dict[str, TestRun] = {}
    for number, (file, tests) in enumerate(files.items(), 1):
        seen = copy / "seen.json"
        seen.write_text("{}", encoding="utf-8")
        if _exit_status(copy, tests, 10 * LIMIT, seen=seen) != 0:
            print(f"{file}: tests fail before anything is broken", flush=True)
        for name, (seconds, passed, places) in json.loads(seen.read_text()).items():
            called = with_compiled(copy / "src", {tuple(place) for place in places})
            runs[name] = TestRun(seconds, passed, called)
        if number % 10 == 0 or number == len(files):
            print(f"followed the tests of {number} of {len(files)} files", flush=True)
    return runs


def _tests_of(row: Row, runs: dict[str, TestRun]) -> list[str]:
    """Return the tests of a row with all their parameters, the quickest first."""
    names = row["verified_by"].split(";")
    tests = [test for test in runs if test in names or test.partition("[")[0] in names]
    return sorted(tests, key=lambda test: runs[test].seconds)


def _places_of_rows(
    copy: Path, rows: list[Row], runs: dict[str, TestRun]
) -> dict[str, list[Place]]:
    """Return the functions that the tests of each row run, the least shared ones first.

    Those outside the row come last: they count where it has none of its own.
    """
    seen = {
        row["id"]: {place for test in _tests_of(row, runs) for place in runs[test].places}
        for row in rows
    }
    shared = Counter(place for places in seen.values() for place in places)
    return {
        row["id"]: sorted(
            seen[row["id"]],
            key=lambda place: (outside(copy / "src", row["where"], place), shared[place], place),
        )
        for row in rows
    }


# Rows broken ---------------------------------------------------------------------------------


def _broken_row(
    copy: Path,
    row: Row,
    runs: dict[str, TestRun],
    places: list[Place],
    draw: np.random.Generator,
    control: bool,
) -> dict[str, object]:
    """Return a mutant of the code behind a row, and whether the row's tests noticed it."""
    tests = _tests_of(row, runs)
    failing = [test for test in tests if not runs[test].passed]
    tests = [test for test in tests if runs[test].passed]
    if not tests:
        return {"outcome": "no test passes unbroken", "tests": failing}
    mutants: dict[str, list[Mutant]] = defaultdict(list)
    for file, function in places:
        if len(mutants) >= SPECIFIC or (
            mutants and outside(copy / "src", row["where"], (file, function))
        ):
            break
        source = (copy / "src" / file).read_text(encoding="utf-8")
        for mutant in mutants_of(source, file, function):
            mutants[f"{file}:{function}"].append(mutant)
    if not mutants:
        return {"outcome": "nothing to break"}
    candidates = mutants[sorted(mutants)[draw.integers(len(mutants))]]
    mutant = candidates[draw.integers(len(candidates))]
    if control:
        mutant = replace(mutant, after=f"({mutant.before})")
    start = time.perf_counter()
    outcome, how = _outcome(copy, mutant, tests, runs)
    return {
        "outcome": outcome,
        "how": how,
        "where": f"{mutant.file}:{mutant.line} {mutant.function}",
        "kind": mutant.kind,
        "before": mutant.before,
        "after": mutant.after,
        "start": mutant.start,
        "seconds": round(time.perf_counter() - start, 1),
    }


def _outcome(
    copy: Path, mutant: Mutant, tests: list[str], runs: dict[str, TestRun]
) -> tuple[str, str]:
    """Put a mutant in its place, run first the tests that call it, then the others."""
    place = (mutant.file, mutant.function)
    callers = [test for test in tests if place in runs[test].places]
    others = [test for test in tests if place not in runs[test].places]
    path = copy / "src" / mutant.file
    shutil.copy2(path, copy / "before.py")
    source = path.read_bytes()
    path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.stop :])
    try:
        for part in (callers, others):
            limit = min(LIMIT, 60.0 + PATIENCE * sum(runs[test].seconds for test in part))
            status = _exit_status(copy, part, limit, mutant) if part else 0
            if status != 0:
                return "noticed", "took too long" if status is None else f"status {status}"
    finally:
        shutil.copy2(copy / "before.py", path)
    return "survived", ""


def _read(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _told(record: dict) -> str:
    if "where" not in record:
        return f"{record['row']}: {record['outcome']}"
    change = f"{record['before']}  ->  {record['after']}"
    return f"{record['row']}: {record['outcome']}: {record['kind']} at {record['where']}: {change}"


def _print_summary(records: list[dict]) -> None:
    outcomes = Counter(record["outcome"] for record in records)
    broken = outcomes["noticed"] + outcomes["survived"]
    if broken:
        share = outcomes["noticed"] / broken
        print(f"\n{outcomes['noticed']} of {broken} mutants noticed ({share:.1%}). Survivors:")
        for record in records:
            if record["outcome"] == "survived":
                print(_told(record))


if __name__ == "__main__":
    main()
