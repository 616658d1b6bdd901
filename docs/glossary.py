"""Write the table of parameters from ``glossary.csv``, the only place that holds them.

MkDocs loads this file as a hook. The table replaces a mark in ``api/parameters.md``.
"""

import csv
from pathlib import Path
from typing import Any

MARK = "<!-- glossary -->"
HEAD = "| parameter | meaning | in scikit-learn | not called |\n|---|---|---|---|"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the table where the page asks for it."""
    if MARK not in markdown:
        return markdown
    path = Path(__file__).with_suffix(".csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [_row(entry) for entry in csv.DictReader(file)]
    return markdown.replace(MARK, "\n".join([HEAD, *rows]))


def _row(entry: dict[str, str]) -> str:
    """Return one parameter as a row of the table."""
    cells = [
        f"`{entry['name']}`",
        entry["meaning"],
        ", ".join(f"`{name}`" for name in entry["scikit_learn"].split()),
        ", ".join(entry["instead_of"].split()),
    ]
    return f"| {' | '.join(cells)} |"
