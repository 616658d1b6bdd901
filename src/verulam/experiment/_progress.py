"""The progress of a study: done, failed, left, and how long it will still take."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from verulam.experiment._execution import Outcome


@dataclass(eq=False)
class Progress:
    """Counts what has come in, and shows it where there is a display."""

    failed: int = 0
    bar: Any = None
    task: Any = None

    def advance(self, outcome: Outcome) -> None:
        """Count one more run."""
        self.failed += outcome.status != "done"
        if self.bar is not None:
            words = f"runs, {self.failed} failed" if self.failed else "runs"
            self.bar.update(self.task, advance=1, description=words)


@contextmanager
def show_progress(total: int, already: int, *, show: bool) -> Iterator[Progress]:
    """Give a `Progress` that is shown as a bar on a terminal, and nowhere else.

    Parameters
    ----------
    total
        Number of runs in the plan.
    already
        How many of them the store has.
    show
        Whether to show anything.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not show or not console.is_terminal:
        yield Progress()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        yield Progress(bar=bar, task=bar.add_task("runs", total=total, completed=already))
