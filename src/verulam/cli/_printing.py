"""Tables on a terminal or in a pipe."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


def console() -> "Console":
    """Return a console on standard output: plain in a pipe, at most as wide as the terminal."""
    from rich.console import Console

    return Console(soft_wrap=False)


def print_table(table: "pd.DataFrame") -> None:
    """Print a DataFrame; cells wrap rather than being cut off."""
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in table.columns:
        numeric = table[name].dtype.kind in "iuf"
        drawn.add_column(str(name), justify="right" if numeric else "left", overflow="fold")
    for row in table.itertuples(index=False):
        drawn.add_row(*(cell_text(cell) for cell in row))
    console().print(drawn, highlight=False, markup=False)


def cell_text(cell: Any) -> str:
    """Return a cell as people write it: few decimals, nothing for missing."""
    if isinstance(cell, float):
        return "" if cell != cell else f"{cell:.4g}"
    return "" if cell is None else str(cell)
