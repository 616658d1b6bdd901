"""Sequential designs in a study: settings are added where a fitted quadratic is best."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verulam.catalogue import entry
from verulam.design import Factor, quadratic_search, response_surface_search
from verulam.experiment._store.results import Results
from verulam.experiment._study.choices import LearnerChoice
from verulam.experiment._study.designs import design_ranges, readable_setting
from verulam.experiment._study.study import Study, learner_design, sequential_learners
from verulam.experiment._text import setting_text
from verulam.experiment._tuning.space import Setting, setting_key

#: Settings of a sequential design in all, where it does not say.
MOST_SETTINGS = 20


class SearchStoppedError(Exception):
    """Ends a search whose next setting gave no response."""


def search_settings(
    study: Study, results: Results, carry_out: Callable[[Study], Results]
) -> Results:
    """Carry out a study whose designs go on from their responses, and return its last results.

    Parameters
    ----------
    study
        The study, of which the start has been carried out.
    results
        What that gave.
    carry_out
        Carries out a larger study and returns its results; what is there is not repeated.

    Notes
    -----
    Alpaydin 19.3: fit a parabola (or, for several factors, a quadratic surface) to the mean
    responses, run where it is best, add that to the fit, and stop without improvement.
    """
    # One learner after the other: each search starts from the study that the last one has grown.
    for place in sequential_learners(study):
        search = _Search(study, place, results, carry_out)
        search.run()
        study, results = search.study, search.results
    return results


class _Search:
    """The search of one learner: knows its responses, and has new settings carried out."""

    def __init__(
        self, study: Study, place: int, results: Results, carry_out: Callable[[Study], Results]
    ) -> None:
        self.study, self.results = study, results
        self._place, self._carry_out = place, carry_out
        self._added: list[Setting] = []
        design = learner_design(study, self._choice)
        self._factors = design_ranges(design, self._choice.factors, f"learners[{place}].factors")
        self._most = design.settings or MOST_SETTINGS

    @property
    def _choice(self) -> LearnerChoice:
        return self.study.learners[self._place]

    def run(self) -> None:
        """Search until nothing improves; the study and its results grow meanwhile."""
        maximise = self.results.measures[0].greater_is_better
        options: dict[str, Any] = {"maximise": maximise, "max_runs": self._most}
        try:
            if len(self._factors) == 1:
                factor = self._factors[0]
                quadratic_search(
                    lambda code: self._response({factor.name: factor.decoded([code])[0]}),
                    (-1.0, 0.0, 1.0),
                    (-1.0, 1.0),
                    tolerance=_tolerance(factor),
                    **options,
                )
            else:
                response_surface_search(self._response, self._factors, **options)
        except SearchStoppedError:
            return

    def _response(self, setting: Mapping[str, Any]) -> float:
        """Return the mean response of a setting, which is carried out where it is new."""
        readable = readable_setting(setting, self._factors)
        mean = self._mean_response(readable)
        if mean is None:
            self._add(readable)
            mean = self._mean_response(readable)
        # A quadratic cannot be fitted to what failed: the search ends with what it has.
        if mean is None or not np.isfinite(mean):
            raise SearchStoppedError
        return mean

    def _mean_response(self, setting: Setting) -> float | None:
        scores = self.results.scores(self.results.measures[:1])
        label = self._label
        runs = scores[(scores["learner"] == label) & (scores["setting"] == setting_text(setting))]
        return float(runs[self.results.measures[0].name].mean()) if len(runs) else None

    @property
    def _label(self) -> str:
        choice = self._choice
        if choice.label:
            return choice.label
        in_catalogue = isinstance(choice.learner, str)
        return entry(choice.learner).name if in_catalogue else type(choice.learner).__name__

    def _add(self, setting: Setting) -> None:
        known = {setting_key(added) for added in self._added}
        if setting_key(setting) not in known:
            self._added.append(setting)
        learners: Sequence[LearnerChoice] = [
            replace(choice, design=self._grown(choice)) if place == self._place else choice
            for place, choice in enumerate(self.study.learners)
        ]
        self.study = replace(self.study, learners=learners)
        self.results = self._carry_out(self.study)

    def _grown(self, choice: LearnerChoice) -> Any:
        return replace(learner_design(self.study, choice), added_settings=tuple(self._added))


def _tolerance(factor: Factor) -> float:
    """Return how close two codes are the same level: whole numbers are not told apart below one."""
    if not factor.whole:
        return 1e-2
    return max(1e-2, 0.5 / max(float(factor.high - factor.low), 1.0))
