"""What one run left behind: the record that stores keep and engines yield."""

from dataclasses import dataclass, field

import numpy as np

from verulam.experiment._tuning.learner import TuningRecord


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
    tuning: TuningRecord | None = None
    predictions: dict[str, np.ndarray] = field(default_factory=dict)
