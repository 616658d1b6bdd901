"""Break the code behind each row of the map on purpose, and see whether the row's tests notice.

    python tools/break_rows.py                  # one mutant for every filled row
    python tools/break_rows.py 13.a 13.b --count 5
    python tools/break_rows.py --package tree rule --seed 1 --out mutants.jsonl
    python tools/break_rows.py --again --out mutants.jsonl   # what survived, on the tests of today

A mutant is a copy of the source with one expression changed: a sign, a comparison, an index that
is off by one, a term that is dropped, a condition that is ignored, arguments that are swapped. It
is put into the packages that the row names, where its tests run and those of few other rows do,
because that is where the capability lives. A mutant that no test of the row notices is a survivor:
either the tests are too weak, or the change makes no difference, which somebody has to read.
Those that were read and make none are listed, with the reason, in `equivalent_mutants.csv`.
Nothing in the working tree is touched, and a run that was stopped goes on where it ended.

A row costs little more than its tests: they run in children of a process that has already loaded
the heavy libraries, first those that call the broken function, the quickest before the others;
loops come from the cache unless they are broken or call what is, and broken ones are not saved.
"""

import argparse
import csv
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd  # noqa: F401 - children find it loaded
import pytest
import scipy.stats  # noqa: F401
import sklearn.model_selection  # noqa: F401
from mutants import Mutant, mutants_of
from numba.core.caching import FunctionCache
from source_graph import Place, outside, with_compiled

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.csv")
#: What a mutant's tests may take, and how many times what they took unbroken (at least a minute):
#: an endless loop is a failure.
LIMIT, PATIENCE = 300.0, 10.0
#: Libraries that are loaded once, before children begin, if tests load them.
HEAVY = ("sklearn.", "scipy.", "statsmodels.", "matplotlib.", "networkx.", "pandas.")
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
    parser.add_argument(
        "--package", nargs="+", default=[], help="rows whose first name is in these packages"
    )
    parser.add_argument("--count", type=int, default=1, help="mutants for each row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="repeat the survivors in --out")
    parser.add_argument("--control", action="store_true", help="change nothing: all must survive")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "mutants.jsonl"))
    options = parser.parse_args()
    earlier = _last(_read(options.out))
    if options.again:
        options.rows = [record["row"] for record in earlier if record["outcome"] == "survived"]
        if not options.rows:
            sys.exit(f"No mutant in {options.out} survived.")
    by_package: dict[str, list[Row]] = {name: [] for name in options.package}
    for row in _filled_rows(set(options.rows), set(options.package)):
        by_package.setdefault(_package(row), []).append(row)
    with tempfile.TemporaryDirectory() as folder, options.out.open("a", encoding="utf-8") as lines:
        copy = _copy(Path(folder).resolve())
        for name, rows in by_package.items():
            print(f"{name}: {len(rows)} rows", flush=True)
            for record in _broken_rows(copy, rows, options, earlier):
                print(json.dumps(record), file=lines, flush=True)
                print(_told(record), flush=True)
    _print_summary(_read(options.out))


def _broken_rows(
    copy: Path, rows: list[Row], options: argparse.Namespace, earlier: list[dict]
) -> Iterator[dict]:
    """Yield the records of a package's rows that are not done yet, or survived if again."""
    done = {(record["row"], record["seed"], record["number"]): record for record in earlier}
    keys = [(row["id"], options.seed, number) for row in rows for number in range(options.count)]
    if options.again:
        keys = [key for key, record in done.items() if record["outcome"] == "survived"]
    pending = [key for key in keys if options.again or key not in done]
    by_id = {row["id"]: row for row in rows}
    pending = [key for key in pending if key[0] in by_id]
    if not pending:
        return
    rows = [row for row in rows if any(key[0] == row["id"] for key in pending)]
    runs = _followed_tests(copy, rows)
    places = _places_of_rows(copy, rows, runs)
    for name, seed, number in pending:
        row = by_id[name]
        if options.again:
            mutant = _same_mutant(copy, done[name, seed, number])
        else:
            draw = np.random.default_rng([seed, crc32(name.encode()), number])
            mutant = _drawn_mutant(copy, row, places[name], draw)
        if mutant and options.control:
            mutant = replace(mutant, after=f"({mutant.before})")
        record = _broken_row(copy, row, runs, mutant)
        yield {"row": name, "seed": seed, "number": number, **record}


def _package(row: Row) -> str:
    return row["where"].split(".")[1]


def _filled_rows(ids: set[str], packages: set[str]) -> list[Row]:
    with (ROOT / "src" / "verulam" / "map.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["where"] and row["verified_by"]]
    unknown = ids - {row["id"] for row in rows}
    if unknown:
        sys.exit(f"No filled row is called {', '.join(sorted(unknown))}.")
    return [
        row
        for row in rows
        if (not ids or row["id"] in ids) and (not packages or _package(row) in packages)
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
        record = {"runs": runs, "modules": [name for name in sys.modules if name.startswith(HEAVY)]}
        path.write_text(json.dumps(record), encoding="utf-8")


def _exit_status(
    copy: Path, tests: list[str], limit: float, seen: Path | None = None
) -> int | None:
    """Return pytest's exit status for tests of the copy in a child, None if that took too long.

    What the tests do is noted in the file `seen`; without one, the copy counts as broken.
    """
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            _run_tests(copy, tests, seen)
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


def _run_tests(copy: Path, tests: list[str], seen: Path | None) -> None:
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.chdir(copy)
    sys.path[:0] = [str(copy / "src"), str(copy)]
    os.environ["PYTHONPATH"] = f"{copy / 'src'}{os.pathsep}{copy}"
    command = ["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]
    if seen is None:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        # Loops are known by a hash of all they reach: saved, a broken one would push out the whole.
        FunctionCache.save_overload = lambda *_: None
        status = pytest.main([*command, "-x", *tests])
    else:
        follower = Follower(copy / "src")
        status = pytest.main([*command, *tests], plugins=[follower])
        follower.save(seen)
    os._exit(int(status))


# The code behind a row -------------------------------------------------------------------------


def _followed_tests(copy: Path, rows: list[Row]) -> dict[str, TestRun]:
    """Run the tests of all rows unbroken, and return what each did."""
    names = sorted({name for row in rows for name in row["verified_by"].split(";")})
    files: dict[str, list[str]] = defaultdict(list)
    for name in names:
        files[name.split("::")[0]].append(name)
    runs: dict[str, TestRun] = {}
    modules: set[str] = set()
    for number, (file, tests) in enumerate(files.items(), 1):
        seen = copy / "seen.json"
        seen.write_text('{"runs": {}, "modules": []}', encoding="utf-8")
        if _exit_status(copy, tests, 10 * LIMIT, seen=seen) != 0:
            print(f"{file}: tests fail before anything is broken", flush=True)
        record = json.loads(seen.read_text())
        modules.update(record["modules"])
        for name, (seconds, passed, places) in record["runs"].items():
            called = with_compiled(copy / "src", {tuple(place) for place in places})
            runs[name] = TestRun(seconds, passed, called)
        if number % 10 == 0 or number == len(files):
            print(f"followed the tests of {number} of {len(files)} files", flush=True)
    for name in sorted(modules):
        with suppress(ImportError):
            import_module(name)
    # Children collect what they make themselves, and share the rest.
    gc.freeze()
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


def _drawn_mutant(
    copy: Path, row: Row, places: list[Place], draw: np.random.Generator
) -> Mutant | None:
    """Return a mutant of one of the functions that few other rows run, None if none has any."""
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
        return None
    candidates = mutants[sorted(mutants)[draw.integers(len(mutants))]]
    return candidates[draw.integers(len(candidates))]


def _same_mutant(copy: Path, record: dict) -> Mutant | None:
    """Return the mutant of a record in the source as it is now, None if its place is gone."""
    place, function = record["where"].split(" ")
    file, line = place.rsplit(":", 1)
    source = (copy / "src" / file).read_text(encoding="utf-8")
    same = [
        mutant
        for mutant in mutants_of(source, file, function)
        if (mutant.kind, mutant.before, mutant.after)
        == (record["kind"], record["before"], record["after"])
    ]
    # Lines above may have come or gone since.
    return min(same, key=lambda mutant: abs(mutant.line - int(line)), default=None)


def _broken_row(
    copy: Path, row: Row, runs: dict[str, TestRun], mutant: Mutant | None
) -> dict[str, object]:
    """Return a mutant of the code behind a row, and whether the row's tests noticed it."""
    tests = _tests_of(row, runs)
    failing = [test for test in tests if not runs[test].passed]
    tests = [test for test in tests if runs[test].passed]
    if not tests:
        return {"outcome": "no test passes unbroken", "tests": failing}
    if mutant is None:
        return {"outcome": "nothing to break"}
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
            status = _exit_status(copy, part, limit) if part else 0
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


def _last(records: list[dict]) -> list[dict]:
    """Return what is known of each mutant by now: tests may have been mended since the first."""
    latest = {(record["row"], record["seed"], record["number"]): record for record in records}
    return list(latest.values())


def _print_summary(records: list[dict]) -> None:
    latest = _last(records)
    reasons = _reasons()
    for when, part in (("at first", _last(records[::-1])), ("by now", latest)):
        outcomes = Counter(record["outcome"] for record in part)
        broken = outcomes["noticed"] + outcomes["survived"]
        if broken:
            share = outcomes["noticed"] / broken
            print(f"{outcomes['noticed']} of {broken} mutants noticed {when} ({share:.1%}).")
    survivors = [record for record in latest if record["outcome"] == "survived"]
    print("Survivors:")
    for record in survivors:
        if _identity(record) not in reasons:
            print(_told(record))
    print("Survivors that make no difference:")
    for record in survivors:
        if reason := reasons.get(_identity(record)):
            print(f"{_told(record)}: {reason}")


def _reasons() -> dict[tuple[str, ...], str]:
    """Return why mutants that were read make no difference."""
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        return {_identity(line): line["reason"] for line in csv.DictReader(file)}


def _identity(record: dict) -> tuple[str, ...]:
    """Return what tells a mutant from others of its function, wherever that stands by now."""
    place, function = record["where"].split(" ")
    kind, before, after = record["kind"], record["before"], record["after"]
    return place.rsplit(":", 1)[0], function, kind, before, after


if __name__ == "__main__":
    main()
