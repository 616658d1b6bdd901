"""Damage files at random and see whether every reader reads them or says what is wrong.

    python tools/attack_readers.py                      # 2,000 mutants of every format
    python tools/attack_readers.py --count 20000 --first 100000 lzma.npz plain.parquet
    python tools/attack_readers.py --seconds 600        # led by the lines that mutants reach

A mutant may be read, or refused by a `DataError` that names the file. Anything else is an escape
and is printed with its seed: another exception, a warning, a crash of the interpreter. Each block
of seeds has a process of its own, so that a crash ends that block and no more.

With `--seconds` damage adds up: a mutant that reaches lines of the readers that none has reached
before is damaged further, as are its own mutants. Files of models are attacked in this way, too.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from sklearn.ensemble import RandomForestClassifier

ROOT = Path(__file__).resolve().parents[1]
# One of the peers installs a package that is called tests, too.
sys.modules["tests"] = ModuleType("tests")
sys.modules["tests"].__path__ = [str(ROOT / "tests")]

from tests.data.readers.mutants import (  # noqa: E402 - ours must be known first
    WHOLE,
    Escape,
    attack,
    by_kind,
    escape,
    mutant,
    run_through,
)
from tests.experiment.final.test_model_file import rewritten  # noqa: E402

from verulam.data import read  # noqa: E402
from verulam.experiment import (  # noqa: E402
    DataChoice,
    LearnerChoice,
    SavedModel,
    Study,
    finalise,
    load_model,
    run,
    save_model,
)
from verulam.nonparametric import KNeighborsClassifier  # noqa: E402
from verulam.tree import DecisionTreeClassifier  # noqa: E402

#: Seeds for one process.
BLOCK = 500
ROWS = np.random.default_rng(0).normal(size=(60, 3))
CLASSES = np.arange(60) % 3


def main() -> None:
    """Attack the formats that the command line names, and exit with 1 if anything escaped."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("formats", nargs="*", help=f"of {', '.join(WHOLE)}; all if not given")
    parser.add_argument("--count", type=int, default=2000, help="mutants of each format")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, help="be led by lines, for so long in all")
    options = parser.parse_args()
    known = [*WHOLE, *(MODELS if options.seconds else ())]
    if unknown := set(options.formats) - set(known):
        parser.error(
            f"formats: no {', '.join(sorted(unknown))}; expected some of {', '.join(known)}"
        )
    if options.seconds:
        names = options.formats or known
        share = options.seconds / len(names)
        escaped = sum(led(name, options.first, share) for name in names)
        sys.exit(bool(escaped))
    seeds = range(options.first, options.first + options.count)
    escaped = sum(attacked(name, seeds) for name in options.formats or WHOLE)
    print(f"{escaped} of {len(options.formats or WHOLE) * options.count} mutants escaped.")
    sys.exit(bool(escaped))


def attacked(name: str, seeds: range) -> int:
    """Attack one format, print what escaped and return how many did."""
    context = multiprocessing.get_context("spawn")
    escaped = 0
    for start in range(seeds.start, seeds.stop, BLOCK):
        block = range(start, min(start + BLOCK, seeds.stop))
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=attack_block, args=(name, block, sender))
        process.start()
        sender.close()
        try:
            escapes = receiver.recv()
        except EOFError:
            process.join()
            print(f"{name}: the process ended with {process.exitcode} in seeds {block}.")
            escaped += 1
            continue
        process.join()
        for words, count in by_kind(escapes).items():
            print(f"{count:5d}  {words}")
        for event in escapes[:3]:
            print(f"       seed {event.seed}: {event.error}")
        escaped += len(escapes)
    return escaped


def led(name: str, seed: int, seconds: float) -> int:
    """Attack one format for so long, print what escaped and return how many did."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lead_block, args=(name, seed, seconds, sender))
    process.start()
    sender.close()
    try:
        n_mutants, n_lines, corpus, escapes = receiver.recv()
    except EOFError:
        process.join()
        print(f"{name}: the process ended with {process.exitcode}.", flush=True)
        return 1
    process.join()
    lines = f"{n_lines} lines reached, {corpus} mutants damaged further"
    print(f"{name}: {len(escapes)} of {n_mutants} mutants escaped; {lines}", flush=True)
    for words, count in by_kind(escapes).items():
        print(f"{count:5d}  {words}")
    return len(escapes)


def lead_block(name: str, seed: int, seconds: float, sender) -> None:
    """Attack one format, led by lines, and send what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if name in MODELS:
            attacked = Attacked(path, _model(path, MODELS[name]()), (use_model,), forged)
        else:
            twice = "arff" not in name and "npz" not in name
            attacked = Attacked(path, WHOLE[name](), (read, run_through) if twice else (read,))
        sender.send(_led_by_lines(attacked, seed, seconds))
    sender.close()


@dataclass(frozen=True)
class Attacked:
    """A file, its content before it is damaged, what reads it, and how it is damaged."""

    path: Path
    whole: bytes
    readers: tuple[Callable[[Path], object], ...]
    damage: Callable[[bytes, int], bytes] = mutant


def _led_by_lines(
    attacked: Attacked, seed: int, seconds: float
) -> tuple[int, int, int, list[Escape]]:
    random = np.random.default_rng(seed)
    path, corpus = attacked.path, [attacked.whole]
    reached: set[tuple[str, int]] = set()
    escapes: list[Escape] = []
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        parent = corpus[random.integers(len(corpus))]
        content = attacked.damage(parent, int(random.integers(2**31))) if number else parent
        path.write_bytes(content)
        with _lines() as lines:
            errors = {error for reader in attacked.readers if (error := escape(path, reader))}
        escapes += [Escape(path.name, number, error) for error in sorted(errors)]
        if lines - reached and number and not errors:
            corpus.append(content)
        reached |= lines
        number += 1
    return number, len(reached), len(corpus) - 1, escapes


@contextmanager
def _lines() -> Iterator[set[tuple[str, int]]]:
    """Collect the lines of the library that run meanwhile."""
    lines: set[tuple[str, int]] = set()
    source = str(ROOT / "src")

    def line(frame, *_):
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame, *_):
        return line if frame.f_code.co_filename.startswith(source) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield lines
    finally:
        sys.settrace(before)


def _tree() -> object:
    return DecisionTreeClassifier().fit(ROWS, CLASSES)


def _forest() -> object:
    return RandomForestClassifier(n_estimators=3, random_state=0).fit(ROWS, CLASSES)


def _neighbours() -> object:
    return KNeighborsClassifier().fit(ROWS, CLASSES)


def _model(path: Path, learner: object) -> bytes:
    """Return the file of a learner, with the card of another."""
    store = path.with_suffix(".sqlite")
    study = Study(
        "iris", [DataChoice("iris")], [LearnerChoice("naive Bayes")], "choose",
        resampling="2-fold", test_share=0.2,
    )  # fmt: skip
    run(study, store, engine="serial", progress=False)
    card = finalise(store, "naive Bayes").card
    save_model(SavedModel(card, learner), path)
    return path.read_bytes()


def forged(whole: bytes, seed: int) -> bytes:
    """Return a model file with one part damaged, and a seal that fits it as a forger would."""
    random = np.random.default_rng(seed)

    def change(parts: dict[str, bytes]) -> None:
        names = [name for name in parts if name != "card.json"]
        name = names[random.integers(len(names))]
        parts[name] = mutant(parts[name], seed)

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "whole"), Path(folder, "forged")
        source.write_bytes(whole)
        return rewritten(source, target, change).read_bytes()


def use_model(path: Path) -> None:
    """Load a model and let it predict: that may fail, but must not take the process along."""
    estimator = load_model(path).estimator
    with suppress(Exception):
        estimator.predict(ROWS)


#: Name of a file to the learner in it.
MODELS: dict[str, Callable[[], object]] = {
    "tree.skops": _tree,
    "forest.skops": _forest,
    "neighbours.skops": _neighbours,
}


def attack_block(name: str, seeds: range, sender) -> None:
    """Attack one format with some seeds and send what escaped."""
    with tempfile.TemporaryDirectory() as folder:
        sender.send(attack(name, seeds, Path(folder)))
    sender.close()


if __name__ == "__main__":
    main()
