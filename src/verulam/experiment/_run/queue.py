"""The queue of a study's runs: what is next, when to stop, adaptive repeats and racing."""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from verulam.base import DataError
from verulam.experiment._evidence.estimate import evidence_of
from verulam.experiment._evidence.evidence import OUT_OF_THE_RACE, Evidence
from verulam.experiment._evidence.simplicity import complexities
from verulam.experiment._plan.records import Outcome, Plan
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._run.progress import Progress
from verulam.experiment._store.responses import contestant_name, responses
from verulam.experiment._store.results import Results
from verulam.experiment._store.store import Store
from verulam.experiment._study.analysis_options import analysis_options
from verulam.experiment._study.budget import affordable, budget
from verulam.experiment._text import setting_text
from verulam.measures import as_measure

#: No more repeats are run where further ones would lead to the same choice so probably.
SETTLED = 0.95


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
        self._repeats: AdaptiveRepeats | None = None
        self._begun: set[int] = set()
        among = None
        if resampling(plan.study.resampling).max_repeats is not None:
            self._repeats = AdaptiveRepeats(plan, store.path, study)
            self._begun = among = self._repeats.first()
        settled = store.settled(retry)
        self._settled = set(settled)
        self._limits = limits = budget(plan.study.budget)
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
                # The second of two equal runs: it is compared, and never stored as a result.
                if outcome.run_id in self._checks:
                    self._store.add_check(outcome)
                    continue
                self._waiting.append(outcome)
                # Shown at once, written in batches: a transaction takes longer than many a run.
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
        return all(self._plan.runs[place].run_id in self._settled for place in self._begun)

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
            self._begun |= more
            self.total += len(more)
            # What an earlier study has left in the store need not be carried out again.
            self.queue.extend(affordable(self._plan.runs, self._limits, self._settled, more))
            self._expected = len(self.queue)
            if self.queue:
                return
        self._add_checks()

    def _spare(self) -> None:
        """Delete the runs that were not needed from the plan in the store."""
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


class AdaptiveRepeats:
    """Says repeat by repeat which runs of a plan are still worth carrying out.

    Parameters
    ----------
    plan
        The plan, with all repeats that are allowed.
    store
        Where the outcomes are.
    study
        Key of the study in the store.

    Notes
    -----
    After the first repeats the means are moved by what is left of the noise of the splits; where
    at least 95 % of such draws give the same choice, no more repeats are needed. A contestant
    whose probability of being within the margin of the best is below 1 % gets no more of them,
    unless only the scores of splits can be compared. A repeat of seeds is as many further seeds;
    they end as well where all that might be chosen are equal but for what does not matter.
    """

    def __init__(self, plan: Plan, store: Path, study: str) -> None:
        self._plan, self._path, self._study = plan, store, study
        self._how = resampling(plan.study.resampling)
        self._next = dict.fromkeys(range(len(plan.data)), self._how.repeats)
        self._racing = {
            number: set(range(len(contestants)))
            for number, contestants in enumerate(plan.contestants)
        }

    def first(self) -> set[int]:
        """Return the positions of the runs of the first repeats."""
        return {
            place
            for place, run in enumerate(self._plan.runs)
            if run.split.repeat < self._how.repeats
        }

    def more(self) -> set[int]:
        """Return the positions of the runs of the next repeat; none where all is settled."""
        if not self._next:
            return set()
        # Of what a killed study has left of later repeats, nothing must be known yet, or it would
        # go on otherwise than one that nobody disturbs.
        evidence = self._evidence(max(self._next.values()))
        positions: set[int] = set()
        for number, planned in enumerate(self._plan.data):
            repeat = self._next.get(number)
            if repeat is None:
                continue
            on_data = evidence.get(planned.label)
            if on_data is None or self._is_settled(on_data):
                del self._next[number]
                continue
            self._race(number, on_data)
            positions |= {
                place
                for place, run in enumerate(self._plan.runs)
                if run.data == number
                and run.split.repeat == repeat
                and run.contestant in self._racing[number]
            }
            self._next[number] = repeat + 1
            if repeat + 1 >= self._how.most_repeats:
                del self._next[number]
        return positions

    def _is_settled(self, evidence: Evidence) -> bool:
        """Return whether further repeats would change nothing that matters."""
        if evidence.selection.settled >= SETTLED or self._how.kind != "seeds":
            return evidence.selection.settled >= SETTLED
        # Agents that solve a world are equal: further seeds would toss a coin between them.
        shares = evidence.selection.shares
        rivals = [name for name, share in shares.items() if share >= 1.0 - SETTLED]
        within = evidence.table["probability_within"]
        return all(within[name] >= SETTLED for name in rivals)

    def _evidence(self, repeats: int) -> dict[str, Evidence]:
        """Return what so many repeats tell."""
        measures = [as_measure(response) for response in self._plan.study.measures or ()]
        results = Results(self._path, self._study, measures=measures)
        try:
            scores = responses(results).first_repeats(repeats)
        except DataError:
            return {}  # no score at all, of which the analysis will speak
        options = analysis_options(results.description.get("analysis"))
        simplicity = complexities(scores, results.description["learners"], options.simplicity)
        return evidence_of(
            results,
            scores,
            simplicity.values,
            alpha=options.alpha,
            matters=options.matters,
            rule=options.rule,
        )

    def _race(self, number: int, evidence: Evidence) -> None:
        """Take those out of the race that cannot win any more, or that have failed."""
        chances = evidence.table["probability_within"]
        # Whoever would be chosen, or leads, stays whatever the probabilities are.
        leaders = (evidence.selection.name, evidence.best)
        winners = {
            name
            for name in evidence.eligible
            # Where splits are compared, those of one repeat are of no use without the others.
            if evidence.losses is None or chances[name] >= OUT_OF_THE_RACE or name in leaders
        }
        self._racing[number] = {
            place for place in self._racing[number] if self._name(number, place) in winners
        }

    def _name(self, number: int, place: int) -> str:
        contestant = self._plan.contestants[number][place]
        return contestant_name(contestant.label, setting_text(contestant.setting))
