"""Run the benchmarks: ``python -m benchmarks`` for all, or with the names of some."""

import sys
from importlib import import_module
from pathlib import Path

PREFIX = "bench_"


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them, and return the exit code."""
    known = sorted(path.stem.removeprefix(PREFIX) for path in _folder().glob(f"{PREFIX}*.py"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No benchmark {unknown[0]!r}; there are: {', '.join(known)}.", file=sys.stderr)
        return 2
    for name in names or known:
        import_module(f"{__package__}.{PREFIX}{name}").run()
    return 0


def _folder() -> Path:
    return Path(__file__).parent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
