"""Repeats that are added until the choice is settled, and contestants that drop out of the race."""

from pathlib import Path

from verulam.base import DataError
from verulam.experiment._evidence.evidence import OUT_OF_THE_RACE, Evidence, evidence_of
from verulam.experiment._evidence.simplicity import complexities
from verulam.experiment._plan.plan import Plan, setting_text
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.responses import contestant_name, responses
from verulam.experiment._store.results import Results
from verulam.experiment._study.analysis_options import analysis_options
from verulam.measures import as_measure

#: Repeats end where so many of all ways to go on would leave the choice as it is.
SETTLED = 0.95


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
    unless only the scores of splits can be compared.
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
            known = evidence.get(planned.label)
            if known is None or known.selection.settled >= SETTLED:
                del self._next[number]
                continue
            self._race(number, known)
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

    def _race(self, number: int, known: Evidence) -> None:
        """Take those out of the race that cannot win any more, or that have failed."""
        chances = known.table["probability_within"]
        leaders = (known.selection.name, known.best)
        winners = {
            name
            for name in known.eligible
            # Where splits are compared, those of one repeat are of no use without the others.
            if known.losses is None or chances[name] >= OUT_OF_THE_RACE or name in leaders
        }
        self._racing[number] = {
            place for place in self._racing[number] if self._name(number, place) in winners
        }

    def _name(self, number: int, place: int) -> str:
        contestant = self._plan.contestants[number][place]
        return contestant_name(contestant.label, setting_text(contestant.setting))
