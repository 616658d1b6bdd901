"""Draw the pictures of the documentation into ``docs/figures``.

Every module ``figures_<name>.py`` in this folder has a function ``draw_<name>(folder)``. Name
some on the command line to draw only those: ``python docs/draw_figures.py parametric``.
"""

import sys
import time
from importlib import import_module
from pathlib import Path

import matplotlib as mpl

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
PREFIX = "figures_"


def main(names: list[str]) -> int:
    """Draw the pictures of the named pages, or of all, and return the exit code."""
    mpl.use("Agg")
    known = sorted(path.stem.removeprefix(PREFIX) for path in DOCS.glob(f"{PREFIX}*.py"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No figures {unknown[0]!r}; there are: {', '.join(known)}.", file=sys.stderr)
        return 2
    FIGURES.mkdir(exist_ok=True)
    for name in names or known:
        start = time.perf_counter()
        getattr(import_module(f"{PREFIX}{name}"), f"draw_{name}")(FIGURES)
        print(f"{name}: {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
