"""The command that serves the lab."""

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
    import verulam.lab

    try:
        serve = verulam.lab.serve
    except ImportError as error:
        say(f"Error: {error}", err=True)
        raise typer.Exit(FAILED) from None
    say("Starting the lab ...")
    serve(port, host=host, open_browser=not no_browser, announce=say)
