"""The work that is left of a study: what to carry out, when to stop, what to try twice."""

from collections import deque
from collections.abc import Iterator, Sequence

from verulam.experiment._budget import affordable, budget
from verulam.experiment._execution import Outcome
from verulam.experiment._plan import Plan
from verulam.experiment._progress import Progress
from verulam.experiment._store import Store


class Work:
    """Feeds an engine and writes down what it yields.

    Parameters
    ----------
    plan
        What is to be carried out.
    store
        Where it is written down.
    study
        Key of the study in the store.
    retry
        Statuses that do not count as settled.
    check
        Whether to carry out one run of each contestant twice.

    Attributes
    ----------
    queue
        Positions of the runs that an engine is still to take.
    """

    def __init__(
        self, plan: Plan, store: Store, study: str, *, retry: Sequence[str], check: bool
    ) -> None:
        self._plan, self._store, self._study, self._check = plan, store, study, check
        limits = budget(plan.study.budget)
        self.queue = deque(affordable(plan.runs, limits, store.settled(retry)))
        self._expected = len(self.queue)
        self._most_seconds = None if limits is None else limits.most_seconds
        self._seconds = store.seconds(study) if self._most_seconds is not None else 0.0
        self._repeats: set[str] = set()
        self._waiting: list[Outcome] = []
        self._stop_where_spent()
        if not self.queue:
            self._add_repeats()

    def write(self, outcomes: Iterator[Outcome | None], display: Progress) -> None:
        """Write outcomes down whenever no more are at hand, so that a sudden end loses none."""
        try:
            for outcome in outcomes:
                if outcome is None:
                    self._flush()
                    continue
                if outcome.run_id in self._repeats:
                    self._store.add_check(outcome)
                    continue
                self._waiting.append(outcome)
                display.advance(outcome)
                self._count(outcome)
        finally:
            self._flush()

    def _flush(self) -> None:
        self._store.add_outcomes(self._waiting)
        self._waiting = []

    def _count(self, outcome: Outcome) -> None:
        self._expected -= 1
        seconds = outcome.fit_seconds + outcome.predict_seconds
        self._seconds += seconds if seconds == seconds else 0.0  # NaN where it was stopped
        self._stop_where_spent()
        if not self._expected:
            self._flush()
            self._add_repeats()

    def _stop_where_spent(self) -> None:
        if self._most_seconds is not None and self._seconds >= self._most_seconds:
            self._expected -= len(self.queue)
            self.queue.clear()

    def _add_repeats(self) -> None:
        """Queue the quickest run of each contestant again, unless that has been done before."""
        if self._check:
            positions = self._store.unchecked(self._study)
            # Equal learners under two labels share their runs.
            once = {self._plan.runs[position].run_id: position for position in positions}
            self._repeats = set(once)
            self.queue.extend(once.values())
