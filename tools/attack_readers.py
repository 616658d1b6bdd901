"""Damage files at random and see whether every reader reads them or says what is wrong.

    python tools/attack_readers.py                      # 2,000 mutants of every format
    python tools/attack_readers.py --count 20000 --first 100000 lzma.npz plain.parquet

A mutant may be read, or refused by a `DataError` that names the file. Anything else is an escape
and is printed with its seed: another exception, a warning, a crash of the interpreter. Each block
of seeds has a process of its own, so that a crash ends that block and no more.
"""

import argparse
import multiprocessing
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.data.readers.mutants import WHOLE, attack, by_kind  # noqa: E402 - the path comes first

#: Seeds for one process.
BLOCK = 500


def main() -> None:
    """Attack the formats that the command line names, and exit with 1 if anything escaped."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("formats", nargs="*", help=f"of {', '.join(WHOLE)}; all if not given")
    parser.add_argument("--count", type=int, default=2000, help="mutants of each format")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    if unknown := set(options.formats) - set(WHOLE):
        parser.error(
            f"formats: no {', '.join(sorted(unknown))}; expected some of {', '.join(WHOLE)}"
        )
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


def attack_block(name: str, seeds: range, sender) -> None:
    """Attack one format with some seeds and send what escaped."""
    with tempfile.TemporaryDirectory() as folder:
        sender.send(attack(name, seeds, Path(folder)))
    sender.close()


if __name__ == "__main__":
    main()
