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
"""

import argparse
import ast
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
#: What a mutant's tests may take before it counts as noticed: an endless loop is a failure.
LIMIT = 300.0
#: Of the functions that a row's tests run, so many of the least shared ones are broken.
SPECIFIC = 12

Place = tuple[str, str]
"""A file below src, and the qualified name of a function in it."""


@dataclass(frozen=True)
class Mutant:
    """One changed expression."""

    file: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    stop: int


def main() -> None:
    """Break rows as the command line asks, and print the share that was noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="ids of rows; all filled ones if none is named")
    parser.add_argument("--package", help="only rows whose first name is in this package")
    parser.add_argument("--count", type=int, default=1, help="mutants for each row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "mutants.jsonl"))
    options = parser.parse_args()
    rows = _filled_rows(set(options.rows), options.package)
    done = {(record["row"], record["number"]) for record in _read(options.out)}
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(Path(folder))
        places = _places_of_rows(copy, rows)
        with options.out.open("a", encoding="utf-8") as lines:
            for row in rows:
                for number in range(options.count):
                    if (row["id"], number) in done:
                        continue
                    seed = [options.seed, crc32(row["id"].encode()), number]
                    record = _broken_row(copy, row, places, np.random.default_rng(seed))
                    record = {"row": row["id"], "number": number, **record}
                    print(json.dumps(record), file=lines, flush=True)
                    print(_told(record), flush=True)
    _print_summary(_read(options.out))


def _filled_rows(ids: set[str], package: str | None) -> list[dict[str, str]]:
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
    for name in ("src", "tests", "benchmarks", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.nb?"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def _run_tests(copy: Path, names: str, *options: str, cache: Path | None = None) -> bool:
    """Return whether the tests of a row pass in the copy."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(cache or copy / "numba"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", "-p", "no:cacheprovider"]
    command += ["-p", "no:randomly", *options, *names.split(";")]
    try:
        finished = subprocess.run(  # noqa: S603 - our own tests, by our own interpreter
            command, cwd=copy, env=environment, capture_output=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return finished.returncode == 0


# The code behind a row -------------------------------------------------------------------------

TRACER = """
import json, os, sys

SEEN = set()
SOURCE = os.environ["MUTANT_SOURCE"]


def note(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
        SEEN.add((frame.f_code.co_filename[len(SOURCE) + 1 :], frame.f_code.co_qualname))


def pytest_runtest_call(item):
    sys.setprofile(note)


def pytest_runtest_teardown(item):
    sys.setprofile(None)


def pytest_sessionfinish(session):
    with open(os.environ["MUTANT_SEEN"], "w") as file:
        json.dump(sorted(SEEN), file)
"""


def _places_of_rows(copy: Path, rows: list[dict[str, str]]) -> dict[str, list[Place]]:
    """Return the functions that the tests of each row run, the least shared ones first."""
    (copy / "mutant_tracer.py").write_text(TRACER, encoding="utf-8")
    os.environ["MUTANT_SOURCE"] = str(copy / "src")
    os.environ["MUTANT_SEEN"] = str(copy / "seen.json")
    seen: dict[str, set[Place]] = {}
    for number, row in enumerate(rows, 1):
        passed = _run_tests(copy, row["verified_by"], "-p", "mutant_tracer")
        if not passed:
            print(f"{row['id']}: its tests fail before anything is broken", flush=True)
        called = {tuple(place) for place in json.loads((copy / "seen.json").read_text())}
        seen[row["id"]] = _with_compiled(copy, called) if passed else set()
        print(f"\rfollowed {number} of {len(rows)} rows", end="", flush=True)
    print()
    shared = Counter(place for places in seen.values() for place in places)
    packages = {row["id"]: {name.split(".")[1] for name in row["where"].split(";")} for row in rows}
    return {
        row: sorted(
            (place for place in places if place[0].split("/")[1] in packages[row]),
            key=lambda place: (shared[place], place),
        )
        for row, places in seen.items()
    }


def _with_compiled(copy: Path, called: set[Place]) -> set[Place]:
    """Add the compiled functions that the called ones name, which no profiler sees."""
    places = set(called)
    pending = list(called)
    while pending:
        file, function = pending.pop()
        names = _names_in(copy, file, function)
        for place in _compiled_places(copy, file):
            if place not in places and place[1] in names:
                places.add(place)
                pending.append(place)
    return places


_TREES: dict[str, ast.Module] = {}


def _tree(copy: Path, file: str) -> ast.Module:
    if file not in _TREES:
        _TREES[file] = ast.parse((copy / "src" / file).read_text(encoding="utf-8"))
    return _TREES[file]


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                yield prefix + child.name, child
                pending.append((f"{prefix}{child.name}.<locals>.", child))
            elif isinstance(child, ast.ClassDef):
                pending.append((f"{prefix}{child.name}.", child))
            elif isinstance(child, ast.If | ast.With | ast.Try | ast.For):
                pending.append((prefix, child))


def _names_in(copy: Path, file: str, function: str) -> set[str]:
    for name, node in _functions(_tree(copy, file)):
        if name == function:
            return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return set()


def _compiled_places(copy: Path, file: str) -> Iterator[Place]:
    """Yield the decorated functions of a file and of those it imports from the package."""
    files = [file]
    for node in ast.walk(_tree(copy, file)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verulam."):
            imported = node.module.replace(".", "/") + ".py"
            if (copy / "src" / imported).exists():
                files.append(imported)
    for path in files:
        for name, function in _functions(_tree(copy, path)):
            if any(
                "compile" in ast.unparse(d) or "jit" in ast.unparse(d)
                for d in function.decorator_list
            ):
                yield path, name


# Mutants ---------------------------------------------------------------------------------------

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.GtE, ast.LtE: ast.Lt, ast.Gt: ast.LtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
OPPOSITES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "sum": "mean"}


def mutants_of(source: str, file: str, function: str) -> list[Mutant]:
    """Return every mutant of one function of a source."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    nodes = dict(_functions(ast.parse(source)))
    if function not in nodes:
        return []
    results = []
    for node in _breakable(nodes[function]):
        for kind, changed in _changes(node):
            start = lines[node.lineno - 1] + node.col_offset
            stop = lines[node.end_lineno - 1] + node.end_col_offset
            before, after = ast.unparse(node), ast.unparse(changed)
            if before != after:
                after = f"({after})"
                results.append(
                    Mutant(file, function, node.lineno, kind, before, after, start, stop)
                )
    return results


def _breakable(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the expressions of a function, without errors, warnings, words and annotations."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.FunctionDef):
            continue
        if isinstance(node, ast.If) and all(_is_complaint(part) for part in node.body):
            pending += node.orelse
            continue
        if isinstance(node, ast.Expr) and _is_complaint(node):
            continue
        if isinstance(node, ast.expr):
            yield node
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            parts = value if isinstance(value, list) else [value]
            pending += [part for part in parts if isinstance(part, ast.AST)]


def _is_complaint(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return True
    return isinstance(node, ast.Expr) and (
        isinstance(node.value, ast.Constant) or "warn" in ast.unparse(node.value)
    )


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what an expression may be broken into."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        swapped = ARITHMETIC[type(node.op)]()
        yield (
            "sign" if isinstance(node.op, ast.Add | ast.Sub) else "operator",
            ast.BinOp(node.left, swapped, node.right),
        )
        yield "dropped term", node.left
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign", node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        changed = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        yield "comparison", ast.Compare(node.left, changed, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "ignored condition", node.values[0]
    elif isinstance(node, ast.IfExp):
        yield "ignored variant", node.body
        yield "ignored variant", node.orelse
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value <= 3:
        yield "off by one", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "ignored variant", ast.Constant(not node.value)
    elif isinstance(node, ast.Call):
        yield from _changed_calls(node)


def _changed_calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    plain = [isinstance(part, ast.Name | ast.Attribute) for part in node.args[:2]]
    if len(plain) == 2 and all(plain):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield "swapped arguments", ast.Call(node.func, swapped, node.keywords)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name in OPPOSITES:
        function = ast.Attribute(node.func.value, OPPOSITES[name], ast.Load())
        yield "opposite", ast.Call(function, node.args, node.keywords)


def _broken_row(
    copy: Path, row: dict[str, str], places: dict[str, list[Place]], draw: np.random.Generator
) -> dict[str, object]:
    """Return a mutant of the code behind a row, and whether the row's tests noticed it."""
    sources: dict[str, bytes] = {}
    mutants: dict[str, list[Mutant]] = defaultdict(list)
    for file, function in places[row["id"]]:
        sources[file] = (copy / "src" / file).read_bytes()
        for mutant in mutants_of(sources[file].decode(), file, function):
            mutants[f"{file}:{function}"].append(mutant)
        if len(mutants) >= SPECIFIC:
            break
    if not mutants:
        return {"outcome": "nothing to break"}
    candidates = mutants[sorted(mutants)[draw.integers(len(mutants))]]
    mutant = candidates[draw.integers(len(candidates))]
    path = copy / "src" / mutant.file
    source = sources[mutant.file]
    start = time.perf_counter()
    path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.stop :])
    try:
        # Compiled callers keep what they have inlined unless they are compiled anew.
        with tempfile.TemporaryDirectory() as fresh:
            passed = _run_tests(copy, row["verified_by"], cache=Path(fresh))
    finally:
        path.write_bytes(source)
    return {
        "outcome": "survived" if passed else "noticed",
        "where": f"{mutant.file}:{mutant.line} {mutant.function}",
        "kind": mutant.kind,
        "before": mutant.before,
        "after": mutant.after,
        "seconds": round(time.perf_counter() - start, 1),
    }


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
