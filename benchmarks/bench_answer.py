"""Is the answer of `compare` a good one? Simulated sets whose truth is known, of many kinds.

``python -m benchmarks answer`` runs a small version of a few minutes. The long one is

    python -m benchmarks.bench_answer --sizes 100,200,500,2000 --sets 1000,1000,500,200 \
        --ties 400 --power 400 --out answer.jsonl

Every set that is done is a line of the file: the same command goes on where it stopped, and
``--summary`` prints the tables of what there is. ``--first`` numbers the sets from elsewhere, for
sets that nothing was tuned on.
"""

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TextIO
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.answer_problems import (
    BASELINE,
    KINDS,
    TARGET,
    as_frame,
    learners,
    make_problem,
    true_risks,
)
from benchmarks.answer_summary import print_summary
from benchmarks.answer_ties import known_difference, tie_counts, tie_record
from verulam import compare

#: First number of every seed, so that these sets are nobody else's.
SEED = 16
SIZES = (100, 200, 500, 2000)
#: Fresh rows behind the truth; fewer where predicting them takes longer than comparing.
FRESH, FRESH_OF_LARGE = 20_000, 10_000
#: One set in so many is compared again with other splits, and by the lowest mean.
AGAIN = 6
POWER_ROWS = 200

Task = tuple[str, str, int, int]
"""Part, kind, size and number of a set; the size of a tie is followed by its contestants."""


def run() -> None:
    """Print the small version: a few minutes on two cores."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer.jsonl")
        simulate(tasks((100, 200), (48, 48), ties=20, power=40), path)
        print_summary(read(path))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulation that the command line asks for, and print its summary."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_answer", description=__doc__)
    parser.add_argument("--sizes", type=_numbers, default=SIZES, help="rows, such as 100,200")
    parser.add_argument("--sets", type=_numbers, default=(48,), help="sets of each size, or of all")
    parser.add_argument("--ties", type=int, default=0, help="sets of level learners")
    parser.add_argument("--power", type=int, default=0, help="sets with a known difference")
    parser.add_argument("--first", type=int, default=0, help="number of the first set")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=None, help="file of JSON lines")
    parser.add_argument("--summary", action="store_true", help="print the tables, run nothing")
    options = parser.parse_args(arguments)
    path = options.out or Path(tempfile.gettempdir(), "verulam-answer.jsonl")
    if not options.summary:
        sets = options.sets * len(options.sizes) if len(options.sets) == 1 else options.sets
        work = tasks(
            options.sizes, sets, ties=options.ties, power=options.power, first=options.first
        )
        simulate(work, path, jobs=options.jobs)
    print_summary(read(path))
    print(f"\nRecords: {path}")


def tasks(
    sizes: Sequence[int], sets: Sequence[int], *, ties: int = 0, power: int = 0, first: int = 0
) -> list[Task]:
    """Return the sets of a simulation, mixed so that every part is served if it is cut off."""
    kinds = list(KINDS)
    streams = [
        [("set", kinds[index % len(kinds)], n_rows, index) for index in range(first, first + count)]
        for n_rows, count in zip(sizes, sets, strict=True)
    ]
    streams += [
        [("tie", f"{kind} {contestants}", n_rows, index) for index in range(first, first + count)]
        for kind, n_rows, contestants, count in (tie_counts(ties) if ties else [])
    ]
    streams.append(
        [("power", "nearest means", POWER_ROWS, first + index) for index in range(power)]
    )
    placed = [
        ((place + 0.5) / len(stream), task)
        for stream in streams
        for place, task in enumerate(stream)
    ]
    return [task for _, task in sorted(placed, key=lambda pair: pair[0])]


def simulate(work: Sequence[Task], path: Path, *, jobs: int = 2) -> None:
    """Append the records of the sets that the file does not have yet."""
    done = {tuple(record["task"]) for record in read(path)}
    missing = [task for task in work if task not in done]
    runs = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
        delayed(record_of)(task) for task in missing
    )
    start = time.perf_counter()
    with path.open("a+") as lines:
        _end_line(lines)
        for count, record in enumerate(runs, 1):
            print(json.dumps(record), file=lines, flush=True)
            if count % 100 == 0 or count == len(missing):
                minutes = (time.perf_counter() - start) / 60
                print(f"{count} of {len(missing)} sets in {minutes:.1f} min", flush=True)


def _end_line(lines: TextIO) -> None:
    """End a last line that was cut off, lest the next record be lost with it."""
    lines.seek(0)
    text = lines.read()
    if text and not text.endswith("\n"):
        lines.write("\n")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; a line that was cut off is left out."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records


def record_of(task: Task) -> dict[str, Any]:
    """Return the record of one set, whatever its part."""
    part, kind, n_rows, index = task
    seeds = np.random.SeedSequence([SEED, crc32(f"{part} {kind}".encode()), n_rows, index])
    start = time.perf_counter()
    # Warnings of learners on small sets are no news, and one core is one core.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        if part == "set":
            record = _set_record(kind, n_rows, index, seeds)
        elif part == "power":
            record = _power_record(n_rows, seeds)
        else:
            word, contestants = kind.rsplit(maxsplit=1)
            record = tie_record(word, n_rows, int(contestants), np.random.default_rng(seeds))
    return {"task": list(task), **record, "seconds": round(time.perf_counter() - start, 3)}


def _set_record(
    kind: str, n_rows: int, index: int, seeds: np.random.SeedSequence
) -> dict[str, Any]:
    """Return what `compare` answers for a set, and the truth."""
    streams = [np.random.default_rng(seed) for seed in seeds.spawn(4)]
    problem = make_problem(kind, streams[0])
    X, y = problem.draw(n_rows, streams[1])
    contestants = learners(problem.task, streams[2])
    seed, other_seed = (int(number) for number in seeds.generate_state(2) // 2)
    fresh = FRESH if n_rows < SIZES[-1] else FRESH_OF_LARGE
    truth = true_risks(problem, contestants, X, y, n_fresh=fresh, random=streams[3])
    frame = as_frame(X, y)
    again = (index // len(KINDS) + index % len(KINDS)) % AGAIN == 0
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"target": TARGET, "progress": False}
        store = Path(folder, "set.sqlite") if again else None
        start = time.perf_counter()
        comparison = compare(frame, contestants, random_state=seed, store=store, **options)
        answer = _answer(comparison, truth)
        answer["compare_seconds"] = round(time.perf_counter() - start, 3)
        if again:
            # In the same store the rule of the lowest mean runs only what it asks for beyond.
            by_mean = compare(
                frame, contestants, random_state=seed, store=store, rule="best mean", **options
            )
            other = compare(frame, contestants, random_state=other_seed, **options)
            answer["lowest_mean_alone"] = by_mean.recommended
            answer["other_choice"] = other.recommended
    unit = 1.0 if problem.task == "classification" else truth[BASELINE[problem.task]]
    return {"learning": problem.task, "baseline": BASELINE[problem.task], "unit": unit, **answer}


def _answer(comparison: Any, truth: dict[str, float]) -> dict[str, Any]:
    """Return the choice and the evidence of a comparison, beside the truth, as plain numbers."""
    evidence = comparison.evidence
    posterior, table = evidence.posterior, evidence.table
    names = list(posterior.names)
    covered = [
        _covers(posterior.difference(first, second), truth[first] - truth[second])
        for first, second in combinations(names, 2)
    ]
    claims = evidence.claims
    claims = claims[claims["claimed"]]
    return {
        "truth": {name: round(risk, 6) for name, risk in truth.items()},
        "choice": comparison.recommended,
        "lowest_mean": evidence.best,
        "margin": float(evidence.margin),
        "agreement": float(evidence.selection.agreement),
        "settled": float(evidence.selection.settled),
        "names": names,
        "covered": covered,
        "complexity": _column(table, "complexity", names),
        "probability_best": _column(table, "probability_best", names),
        "probability_within": _column(table, "probability_within", names),
        "stated_regret": _column(table, "regret", names),
        "repeats": [int(count) for count in posterior.repeats],
        "claims": claims[["better", "worse"]].to_numpy().tolist(),
        "means": _rounded(posterior.means),
        "rows": _rounded(posterior.rows),
        "splits": _rounded(posterior.splits),
    }


def _power_record(n_rows: int, seeds: np.random.SeedSequence) -> dict[str, Any]:
    """Return whether the better of two learners is recommended, and claimed to be better."""
    frame, contestants = known_difference(n_rows, np.random.default_rng(seeds))
    seed = int(seeds.generate_state(1)[0] // 2)
    comparison = compare(frame, contestants, target=TARGET, random_state=seed, progress=False)
    claims = comparison.evidence.claims
    claims = claims[claims["claimed"]]
    return {
        "choice": comparison.recommended,
        "claims": claims[["better", "worse"]].to_numpy().tolist(),
        "repeats": [int(count) for count in comparison.evidence.posterior.repeats],
    }


def _covers(difference: tuple[float, float, float], truth: float) -> bool:
    _, low, high = difference
    return bool(low - 1e-12 <= truth <= high + 1e-12)


def _column(table: Any, name: str, labels: list[str]) -> list[float]:
    return [round(float(value), 6) for value in table.loc[labels, name]]


def _rounded(values: Any) -> list:
    # Six figures are enough to repeat every rule on the records.
    return np.vectorize(lambda value: float(f"{value:.6g}"))(np.asarray(values)).tolist()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


if __name__ == "__main__":
    main()
