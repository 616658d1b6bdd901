"""The command that compiles the loops of learners ahead of use."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verulam.cli._shared import FAILED, say

if TYPE_CHECKING:
    from verulam.catalogue._first_calls import FirstCall

warm_app = typer.Typer()


@warm_app.command()
def warm(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Packages such as tree, or learners; all, where none is named."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Processes that work; as many as cores, if not said.", min=1)
    ] = None,
) -> None:
    """Compile the loops of learners now, so that no first call has to wait for it.

    For example: verulam warm tree kernel
    """
    from verulam.catalogue._first_calls import learners_named, warm
    from verulam.numerics import cache_folder

    learners = learners_named(names or ())
    start, n_compilations, failures = time.monotonic(), 0, 0
    for number, call in enumerate(warm(learners, processes), 1):
        n_compilations += call.n_compilations
        failures += bool(call.error)
        say(f"{number:>{len(str(len(learners)))}}/{len(learners)}  {call.name}: {_outcome(call)}")
    seconds = time.monotonic() - start
    say(f"{n_compilations or 'Nothing'} compiled in {seconds:.0f} s. {_place(cache_folder())}")
    if failures:
        say(f"{failures} of {len(learners)} learners failed.", err=True)
        raise typer.Exit(FAILED)


def _outcome(call: "FirstCall") -> str:
    if call.error:
        return f"failed ({call.error})"
    if not call.n_compilations:
        return "ready"
    return f"{call.n_compilations} compiled, {call.seconds:.1f} s"


def _place(folder: Path | None) -> str:
    if folder is None:
        return "No folder can be written to, so that nothing is kept: set NUMBA_CACHE_DIR."
    if folder.name == "__pycache__":
        return f"It is kept in the folders __pycache__ below {folder.parent.parent}."
    return f"It is kept in {folder.parent}."
