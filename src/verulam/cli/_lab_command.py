"""The command that serves the lab."""

from multiprocessing import forkserver, get_all_start_methods
from typing import Annotated

import typer

from verulam.cli._shared import FAILED, say

lab_app = typer.Typer()


@lab_app.command()
def lab(
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = 0,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; others than the default open it to a network."),
    ] = "127.0.0.1",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
) -> None:
    """Draw points, train learners and watch them, in the browser.

    For example: verulam lab --port 8000
    """
    say("Starting the lab ...")
    _begin_to_load()
    import verulam.lab

    try:
        serve = verulam.lab.serve
    except ImportError as error:
        say(f"Error: {error}", err=True)
        raise typer.Exit(FAILED) from None
    serve(port, host=host, open_browser=not no_browser, announce=say)


def _begin_to_load() -> None:
    """Let the process that the others are copies of load the library while this one does, too."""
    if "forkserver" in get_all_start_methods():
        forkserver.set_forkserver_preload(["verulam.lab._warm"])
        forkserver.ensure_running()
