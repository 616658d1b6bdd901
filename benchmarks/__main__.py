"""Run the benchmarks: ``python -m benchmarks`` for all, or with the names of some."""

import sys
from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks._timing import RACES, summary

PREFIX = "bench_"
#: Threads of BLAS and OpenMP, for ours and the peers alike.
THREADS = (1, 2)


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them, and return the exit code."""
    known = sorted(path.stem.removeprefix(PREFIX) for path in _folder().glob(f"{PREFIX}*.py"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No benchmark {unknown[0]!r}; there are: {', '.join(known)}.", file=sys.stderr)
        return 2
    # Both sides get the same number of threads: a race of one against many tells nothing.
    for threads in THREADS:
        print(f"\n=== {threads} thread{'s' if threads > 1 else ''} ===")
        before = len(RACES)
        for name in names or known:
            module = import_module(f"{__package__}.{PREFIX}{name}")
            with threadpool_limits(threads):
                module.run()
        print(f"\n{threads} thread{'s' if threads > 1 else ''}, {summary(RACES[before:])}")
    return 0


def _folder() -> Path:
    return Path(__file__).parent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
