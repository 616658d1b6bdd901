"""The work that is left of a study: what to carry out, when to stop, what to try twice."""

from collections import deque
from collections.abc import Iterator, Sequence

from verulam.experiment._plan.outcome import Outcome
from verulam.experiment._plan.plan import Plan
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._run.adaptive_repeats import AdaptiveRepeats
from verulam.experiment._run.progress import Progress
from verulam.experiment._store.store import Store
from verulam.experiment._study.budget import affordable, budget


class RunQueue:
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
    total
        Number of runs that are planned as far as is known by now.
    """

    def __init__(
        self, plan: Plan, store: Store, study: str, *, retry: Sequence[str], check: bool
    ) -> None:
        self._plan, self._store, self._study, self._check = plan, store, study, check
        self._limits = limits = budget(plan.study.budget)
        self._repeats: AdaptiveRepeats | None = None
        self._wanted: set[int] = set()
        among = None
        if resampling(plan.study.resampling).max_repeats is not None:
            self._repeats = AdaptiveRepeats(plan, store.path, study)
            self._wanted = among = self._repeats.first()
        settled = store.settled(retry)
        self._settled = set(settled)
        self.queue = deque(affordable(plan.runs, limits, settled, among))
        self._expected = len(self.queue)
        self.total = len(plan.runs) if among is None else len(among)
        self._most_seconds = None if limits is None else limits.most_seconds
        self._seconds = store.seconds(study) if self._most_seconds is not None else 0.0
        self._checks: set[str] = set()
        self._waiting: list[Outcome] = []
        self._stop_where_spent()
        if not self.queue:
            self._go_on()

    def write(self, outcomes: Iterator[Outcome | None], display: Progress) -> None:
        """Write outcomes down whenever no more are at hand, so that a sudden end loses none."""
        try:
            for outcome in outcomes:
                if outcome is None:
                    self._flush()
                    continue
                if outcome.run_id in self._checks:
                    self._store.add_check(outcome)
                    continue
                self._waiting.append(outcome)
                display.advance(outcome)
                self._count(outcome)
                display.expect(self.total)
        finally:
            self._flush()

    def _flush(self) -> None:
        self._store.add_outcomes(self._waiting)
        self._waiting = []

    def _count(self, outcome: Outcome) -> None:
        self._expected -= 1
        self._settled.add(outcome.run_id)
        seconds = outcome.fit_seconds + outcome.predict_seconds
        self._seconds += seconds if seconds == seconds else 0.0  # NaN where it was stopped
        self._stop_where_spent()
        if not self._expected:
            self._flush()
            self._go_on()

    @property
    def _spent(self) -> bool:
        return self._most_seconds is not None and self._seconds >= self._most_seconds

    @property
    def _whole(self) -> bool:
        """Whether the repeats that were begun are finished: no budget of runs has cut them off."""
        return all(self._plan.runs[place].run_id in self._settled for place in self._wanted)

    def _stop_where_spent(self) -> None:
        # A part of a repeat would tell nothing, so that one is finished.
        if self._spent and self._repeats is None:
            self._expected -= len(self.queue)
            self.queue.clear()

    def _go_on(self) -> None:
        """Queue what follows from what was seen: another repeat, or at the end the checks."""
        while self._repeats is not None and self._whole and not self._spent:
            more = self._repeats.more()
            if not more:
                self._spare()
                break
            self._wanted |= more
            self.total += len(more)
            # What an earlier study has left in the store need not be carried out again.
            self.queue.extend(affordable(self._plan.runs, self._limits, self._settled, more))
            self._expected = len(self.queue)
            if self.queue:
                return
        self._add_checks()

    def _spare(self) -> None:
        """Take the runs from the plan in the store that were not needed."""
        self._repeats = None
        self._store.spare(
            self._study,
            [place for place, run in enumerate(self._plan.runs) if run.run_id not in self._settled],
        )

    def _add_checks(self) -> None:
        """Queue the quickest run of each contestant again, unless that has been done before."""
        if self._check:
            positions = self._store.unchecked(self._study)
            # Equal learners under two labels share their runs.
            once = {self._plan.runs[position].run_id: position for position in positions}
            self._checks = set(once)
            self.queue.extend(once.values())
