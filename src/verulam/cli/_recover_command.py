"""The command that saves what is intact of a damaged store."""

from pathlib import Path
from typing import Annotated

import typer

recover_app = typer.Typer()


@recover_app.command()
def recover(
    store: Annotated[Path, typer.Argument(help="The damaged store.", metavar="STORE")],
    new: Annotated[Path, typer.Argument(help="The store to write.", metavar="NEW")],
) -> None:
    """Save the intact rows of a damaged store in a new one."""
    from verulam.experiment import recover as save

    typer.echo(str(save(store, new)))
    typer.echo(f"Next: verulam run STUDY --store {new}, which runs only what was lost.")
