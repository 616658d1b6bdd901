"""Options that all commands share which read a table."""

from typing import Annotated

import typer

DropMissing = Annotated[
    bool, typer.Option("--drop-missing-target", help="Leave out rows without a target value.")
]
LeaveOut = Annotated[
    str | None,
    typer.Option(help="Columns that are no inputs, with commas between.", metavar="COLUMNS"),
]
