"""The progress of a study: done, failed, left, how long it will still take, and who leads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from time import monotonic
from typing import Any

from verulam.experiment._plan.outcome import Outcome
from verulam.experiment._run.leaderboard import Leaderboard

#: Seconds between two pictures in a notebook, and between two looks at who leads.
PAUSE = 0.25


@dataclass(eq=False)
class Progress:
    """Counts what has come in, and shows it where there is a display."""

    failed: int = 0
    bar: Any = None
    task: Any = None
    leaderboard: Leaderboard | None = None
    total: int = 0
    _looked: float = 0.0
    _leader: str = ""

    def advance(self, outcome: Outcome) -> None:
        """Count one more run."""
        self.failed += outcome.status != "done"
        if self.bar is None:
            return
        words = f"runs, {self.failed} failed" if self.failed else "runs"
        if self.leaderboard is not None:
            self.leaderboard.add(outcome)
            if monotonic() - self._looked > PAUSE:
                self._looked, self._leader = monotonic(), self.leaderboard.words()
        self.bar.update(self.task, advance=1, description=words, leader=self._leader)

    def expect(self, total: int) -> None:
        """Show how many runs there are in all, as far as is known by now."""
        if self.bar is not None and total != self.total:
            self.total = total
            self.bar.update(self.task, total=total)


@contextmanager
def show_progress(
    total: int, already: int, *, show: bool, leaderboard: Leaderboard | None = None
) -> Iterator[Progress]:
    """Give a `Progress` that is shown as a bar on a terminal or in a notebook, and nowhere else.

    Parameters
    ----------
    total
        Number of runs in the plan.
    already
        How many of them the store has.
    show
        Whether to show anything.
    leaderboard
        Who leads; None shows nothing of it.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if show and console.is_jupyter:
        with NotebookBar(total, already) as notebook:
            yield Progress(bar=notebook, leaderboard=leaderboard, total=total)
        return
    if not show or not console.is_terminal:
        yield Progress()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[leader]}", markup=False),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("runs", total=total, completed=already, leader="")
        yield Progress(bar=bar, task=task, leaderboard=leaderboard, total=total)


class NotebookBar:
    """A line in the output of a notebook cell that is drawn anew as runs come in.

    Parameters
    ----------
    total
        Number of runs in the plan.
    already
        How many of them the store has.
    """

    def __init__(self, total: int, already: int) -> None:
        self.total, self.already, self.done = total, already, already
        self.words, self.leader = "runs", ""
        self._begun = self._drawn = monotonic()
        self._handle: Any = None

    def __enter__(self) -> "NotebookBar":
        # By name: only a notebook has it.
        self._handle = import_module("IPython.display").display(self, display_id=True)
        return self

    def __exit__(self, *exception: object) -> None:
        self._draw()

    def update(
        self,
        task: Any,
        *,
        advance: int = 0,
        description: str | None = None,
        leader: str | None = None,
        total: int | None = None,
    ) -> None:
        """Count runs, and draw if the last picture is old enough."""
        self.done += advance
        self.words = self.words if description is None else description
        self.leader = self.leader if leader is None else leader
        self.total = self.total if total is None else total
        if monotonic() - self._drawn > PAUSE:
            self._draw()

    def _draw(self) -> None:
        self._drawn = monotonic()
        if self._handle is not None:
            self._handle.update(self)

    def __repr__(self) -> str:
        parts = [f"{self.done}/{self.total} {self.words}"]
        fresh, left = self.done - self.already, self.total - self.done
        if fresh and left:
            seconds = (self._drawn - self._begun) / fresh * left
            parts.append(f"about {seconds:.0f} s left")
        return ", ".join([*parts, *filter(None, [self.leader])])

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<progress max="{max(self.total, 1)}" value="{self.done}"></progress> '
            f"{escape(repr(self))}"
        )
