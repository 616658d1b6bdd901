"""The command line: parses, calls, prints."""

from verulam.cli._main import main

__all__ = ["main"]
