"""The page of the documentation that shows every race as it was."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks._timing import Race, duration, summary

RESULTS = Path(__file__).with_name("results.json")
REASONS = Path(__file__).with_name("reasons.json")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Ours and the quickest maintained library that gives the same answer, on the same work, by turns in
one process: one thread on both sides, the processor's time, the best of several. A ratio above 1
says that ours is quicker. Before each race both answers are compared: a race whose answers differ
is not run. Where a method draws at random, or stops elsewhere, what it is for is compared (its
loss, or its accuracy), within a tolerance that the benchmark states. Loops are compiled before the
clock starts; how long the first call of a learner takes is shown by `python -m benchmarks cold`.

Races against our own code in another form, or against a plain loop, are shown but not in the mean.

Each table is of the last run of its benchmark, which may have been of some of its sizes only. The
reasons below are what we suppose from how both sides work, but for those that begin with
"measured", which a profile showed.

How times grow with rows is printed by `python -m benchmarks growth`: the slopes of all 28 works are
within 0.15 of theory, or below it where theory knows the worst case only. The patched learners of
scikit-learn-intelex are not among the peers yet: they need its run-time parts, daal, tbb and
tcmlib, on the path of libraries.
"""


def note(name: str, races: Sequence[Race]) -> None:
    """Remember the races of one benchmark, in place of those of an earlier run."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results[name] = [asdict(entry) for entry in races]
    RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")


def write_page() -> None:
    """Write the page from what is remembered."""
    results = json.loads(RESULTS.read_text())
    reasons = json.loads(REASONS.read_text())
    races = [Race(**entry) for entries in results.values() for entry in entries]
    parts = [HEAD, f"**{summary(races)}.**\n", _not_run(results), _slower(races, reasons)]
    for title in dict.fromkeys(entry.title for entry in races):
        parts += [f"## {title}\n", _table([entry for entry in races if entry.title == title])]
    PAGE.write_text("\n".join(parts))


def _not_run(results: dict[str, object]) -> str:
    """Return which benchmarks have no results, or no peer, as the mean is without them."""
    names = sorted(path.stem.removeprefix("bench_") for path in RESULTS.parent.glob("bench_*.py"))
    missing = [name for name in names if name not in results]
    alone = [name for name in names if results.get(name) == []]
    parts = [
        ("Not in these tables, nor in the mean", missing),
        ("Without a peer to race; figures are printed", alone),
    ]
    return "\n\n".join(f"{text}: {', '.join(part)}." for text, part in parts if part) + "\n"


def _slower(races: Sequence[Race], reasons: dict[str, str]) -> str:
    """Return the races that a peer wins, each with its reason."""
    lines = ["## Where a peer is quicker\n", "| work | peer | ratio | why |", "|---|---|---|---|"]
    for entry in sorted((entry for entry in races if entry.ratio < 1), key=lambda e: e.ratio):
        name = f"{entry.title}: {entry.work}"
        why = next((text for part, text in reasons.items() if part in name), "")
        lines.append(f"| {name} | {entry.peer} | {entry.ratio:.2f} | {why} |")
    return "\n".join([*lines, ""])


def _table(races: Sequence[Race]) -> str:
    lines = ["| work | ours | peer | peer's time | ratio |", "|---|--:|---|--:|--:|"]
    for entry in races:
        times = f"{duration(entry.ours)} | {entry.peer} | {duration(entry.theirs)}"
        lines.append(f"| {entry.work} | {times} | {entry.ratio:.2f} |")
    mean = math.exp(sum(math.log(entry.ratio) for entry in races) / len(races))
    return "\n".join([*lines, f"| geometric mean | | | | {mean:.2f} |", ""])
