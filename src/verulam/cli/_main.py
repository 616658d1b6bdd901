"""Entry point: runs a command and turns whatever goes wrong into a sentence and an exit code."""

import sys
from collections.abc import Sequence

import typer

from verulam.cli._commands import app
from verulam.cli._compare_command import compare_app
from verulam.cli._lines_command import lines_app
from verulam.cli._model_commands import model_app
from verulam.cli._printing import INTERRUPTED
from verulam.cli._recover_command import recover_app
from verulam.cli._study_commands import study_app

for part in (compare_app, study_app, model_app, recover_app, lines_app):
    app.add_typer(part)

#: Wrong usage or unusable data.
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 nothing found or failed runs, 2 bad usage or data.

    Parameters
    ----------
    arguments
        Words after ``verulam``; None takes them from the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Taken out here, so that it may stand before or after the command.
    debug = "--debug" in words
    try:
        app([word for word in words if word != "--debug"], prog_name="verulam")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    # What the library raises for names, arguments, data and files; anything else is a defect.
    except (ValueError, KeyError, OSError) as error:
        if debug or _is_defect(error):
            raise
        typer.echo(f"Error: {' '.join(_words(error).split())}", err=True)
        sys.exit(USAGE)


def _words(error: Exception) -> str:
    """Return what an error says, without the numbers that systems give to theirs."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}."
    return str(error)


def _is_defect(error: Exception) -> bool:
    """Tell a lookup that went wrong inside from a name that the user got wrong."""
    # Imported here: it takes longer than all that most commands do.
    from verulam.base import UnknownNameError

    return isinstance(error, KeyError) and not isinstance(error, UnknownNameError)
