"""Records of a plan: contestants, planned runs, the plan itself, and the outcome of a run."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.experiment._plan.text import (
    alias_tables,
    design_remarks,
    loss_notices,
    nuisance_notices,
    plan_text,
)
from verulam.experiment._study.budget import Budget, affordable, budget
from verulam.experiment._study.notebook import plan_html
from verulam.experiment._text import setting_text

if TYPE_CHECKING:
    from verulam.experiment._plan.data import PlannedData
    from verulam.experiment._resampling.rows import Split
    from verulam.experiment._study.study import Study
    from verulam.experiment._tuning.options import TuningRecord


@dataclass(frozen=True, eq=False)
class Contestant:
    """A learner with one setting of its factors, ready for one data set.

    Attributes
    ----------
    label
        Name of the learner in the results.
    setting
        Level of each factor.
    estimator
        Unfitted; a pipeline where the table has to be prepared.
    preparation
        What is done to the columns first.
    description
        Everything that identifies the estimator.
    uses_names
        Whether it may refer to columns by name; otherwise it can be given an array.
    tuned
        Parameters that are tuned within the training rows.
    share
        Part of the training rows, where that is a factor of the learner; None where the study
        says.
    block
        Number of its block, where its design has blocks.
    """

    label: str
    setting: dict[str, Any]
    estimator: Any
    preparation: str
    description: Any
    uses_names: bool
    tuned: tuple[str, ...] = ()
    share: float | None = None
    block: int | None = None


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """One row of a plan.

    Attributes
    ----------
    run_id
        Hash of what defines the run.
    data
        Position of the data set in the plan.
    contestant
        Position of the contestant among those of the data set.
    split
        Rows to learn from and to validate on.
    share
        Part of the training rows that is used.
    seed
        Seed of the learner.
    """

    run_id: str
    data: int
    contestant: int
    split: "Split"
    share: float
    seed: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Every run of a study, in the random order in which they will be carried out.

    With a budget they are carried out split by split, in that order within each.

    Attributes
    ----------
    study
        The study.
    data
        Its data sets with their splits.
    contestants
        For each data set its contestants.
    runs
        The runs.
    remarks
        What else there is to say of how it came about.
    """

    study: "Study"
    data: tuple["PlannedData", ...]
    contestants: tuple[tuple[Contestant, ...], ...]
    runs: tuple[PlannedRun, ...]
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def notices(self) -> tuple[str, ...]:
        """What had to be done otherwise than asked for, data set by data set."""
        notices = list(self.lasting_notices)
        untuned = {
            contestant.label: None
            for contestants in self.contestants
            for contestant in contestants
            if not contestant.tuned
        }
        if self.study.tuning is not None and untuned:
            notices.append(f"Nothing is tuned of {', '.join(untuned)}.")
        return (*notices, *design_remarks(json.loads(self.study.to_json())))

    @property
    def lasting_notices(self) -> tuple[str, ...]:
        """The notices that no analysis could find again: they are stored with the plan."""
        several = len(self.data) > 1
        data = [
            f"{planned.label}: {text}" if several else text
            for planned in self.data
            for text in planned.notices
        ]
        return (*self.remarks, *data, *nuisance_notices(self), *loss_notices(self))

    @property
    def aliases(self) -> dict[str, pd.DataFrame]:
        """For each learner with a fractional design, the effects that cannot be told apart."""
        return alias_tables(json.loads(self.study.to_json()))

    def table(self) -> pd.DataFrame:
        """Return the plan as a table, one row per run."""
        rows = []
        for run in self.runs:
            contestant = self.contestants[run.data][run.contestant]
            rows.append(
                {
                    "run": run.run_id,
                    "data": self.data[run.data].label,
                    "learner": contestant.label,
                    "setting": setting_text(contestant.setting),
                    "repeat": run.split.repeat,
                    "fold": run.split.fold,
                    "share": run.share,
                    "training_rows": len(training_rows(run)),
                    "validation_rows": len(run.split.test),
                    "seed": run.seed,
                }
            )
        table = pd.DataFrame(rows)
        if self.in_blocks:
            blocks = [self.contestants[run.data][run.contestant].block for run in self.runs]
            table["block"] = pd.array(blocks, dtype="Int64")
        if self._budget is not None:
            table["affordable"] = [place in self.affordable for place in range(len(table))]
        return table

    @property
    def has_limits(self) -> bool:
        """Whether runs may have to be stopped, which only another process can do."""
        return self.study.time_limit is not None or self.study.memory_limit is not None

    @property
    def in_blocks(self) -> bool:
        """Whether some settings are run in blocks."""
        return any(rival.block is not None for rivals in self.contestants for rival in rivals)

    def _repr_html_(self) -> str:
        return plan_html(self)

    def __str__(self) -> str:
        return plan_text(self)

    @cached_property
    def affordable(self) -> frozenset[int]:
        """Positions of the runs that the budget pays for, as far as it counts runs."""
        # Equal runs have one identity, and are carried out and paid for once.
        paid = {self.runs[place].run_id for place in affordable(self.runs, self._budget)}
        return frozenset(place for place, run in enumerate(self.runs) if run.run_id in paid)

    @property
    def _budget(self) -> Budget | None:
        return budget(self.study.budget)

    @property
    def budget_text(self) -> str:
        """What the budget allows and leaves out, in words; empty without one."""
        if self._budget is None:
            return ""
        left_out = len(self.runs) - len(self.affordable)
        used = len({self.runs[place].run_id for place in self.affordable})
        most = self._budget.most_runs
        unused = left_out and most is not None and used < most
        stop = f" ({used} of {most} used, since it stops at whole splits)" if unused else ""
        words = f", which leaves out {left_out} of the runs" if left_out else ""
        return f". Budget: {self._budget.title}{stop}{words}"

    @property
    def order(self) -> str:
        """In which order runs are carried out, in words."""
        if self._budget is not None:
            return "split by split, by the budget"
        return "in random order within blocks" if self.in_blocks else "in random order"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run left behind.

    Attributes
    ----------
    run_id
        Which run it was.
    status
        "done", or how it ended: "failed", "timed out", "killed".
    stage
        Where it failed: "fit" or "predict".
    error, warning
        Type and message of the error, and of the first warning.
    started
        Seconds since 1970.
    fit_seconds, predict_seconds
        Time taken; NaN where that stage was not completed.
    peak_memory
        Megabytes that the process grew by at most; NaN where it cannot be told.
    model_size
        Bytes of the fitted learner; NaN where it cannot be saved.
    tuning
        What a tuned learner chose, and how it did; None for others.
    predictions
        Arrays by name: "values" (numbers, or positions among the classes), "probabilities"
        (in the order of the classes of the data set) and "scores".
    """

    run_id: str
    status: str
    stage: str = ""
    error: str = ""
    warning: str = ""
    started: float = float("nan")
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    peak_memory: float = float("nan")
    model_size: float = float("nan")
    tuning: "TuningRecord | None" = None
    predictions: dict[str, np.ndarray] = field(default_factory=dict)


def training_rows(run: PlannedRun) -> np.ndarray:
    """Return the rows to learn from; a smaller share is a part of every larger one."""
    train = run.split.train
    if run.share >= 1.0:
        return train
    # Neither the contestant nor the share has a part in the seed: all contestants learn from the
    # same rows, and smaller shares are beginnings of the same permutation.
    seed = [run.split.repeat, run.split.fold, len(train)]
    count = max(2, round(run.share * len(train)))
    return np.sort(np.random.default_rng(seed).permutation(train)[:count])
