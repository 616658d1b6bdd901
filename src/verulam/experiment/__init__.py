"""From a question to a defensible answer: study, plan, run, store, analysis, report, model in use.

- All at once: `compare`, which returns a `Comparison`.
- The study: `Study`, or `read_study`; made of `DataChoice`, `EnvironmentChoice`, `LearnerChoice`,
  `Design`, `Tuning`, `TunedLearner`, `Budget` and `AnalysisOptions`.
- Its splits: `resampling` and `suggest_resampling` give a `Resampling`; `lock_test_part`,
  `fingerprint`.
- The plan: `make_plan`, and `forecast` of what it costs.
- The runs: `run` fills a `Store`; `recover` saves what a damaged one holds.
- The results: `Results`, of which `analyse` makes an `Analysis` and `report` a page;
  `factor_effects`, `experimental_error`, `learning_surface`.
- The model in use: `finalise` and `finalisations`, `save_model`, `load_model` and `read_card`,
  `predict` and `predict_file`; `SavedModel`, `ModelCard`, `LockedPartUsedError`,
  `UntrustedModelError`.

Tables of settings, response surfaces and the effects of single runs are in `verulam.design`.
"""

from verulam.base import publish as _publish
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._compare import compare
from verulam.experiment._comparison import Comparison
from verulam.experiment._effects.effects import factor_effects
from verulam.experiment._effects.learning_surface import learning_surface
from verulam.experiment._effects.replication import experimental_error
from verulam.experiment._final.card import ModelCard
from verulam.experiment._final.finalise import finalise
from verulam.experiment._final.model_file import (
    SavedModel,
    UntrustedModelError,
    load_model,
    read_card,
    save_model,
)
from verulam.experiment._final.predict import predict, predict_file
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._report.report import report
from verulam.experiment._resampling.advice import suggest_resampling
from verulam.experiment._resampling.resampling import Resampling, resampling
from verulam.experiment._resampling.rows import fingerprint, lock_test_part
from verulam.experiment._run.forecast import forecast
from verulam.experiment._run.run import run
from verulam.experiment._store.recovery import recover
from verulam.experiment._store.results import Results
from verulam.experiment._store.store import Store
from verulam.experiment._store.test_set_log import LockedPartUsedError, finalisations
from verulam.experiment._study.analysis_options import AnalysisOptions
from verulam.experiment._study.budget import Budget
from verulam.experiment._study.choices import DataChoice, LearnerChoice
from verulam.experiment._study.designs import Design
from verulam.experiment._study.study import Study
from verulam.experiment._study.toml import read_study
from verulam.experiment._tasks.environments import EnvironmentChoice
from verulam.experiment._tuning.learner import TunedLearner
from verulam.experiment._tuning.options import Tuning

__all__ = [
    "Analysis",
    "AnalysisOptions",
    "Budget",
    "Comparison",
    "DataChoice",
    "Design",
    "EnvironmentChoice",
    "LearnerChoice",
    "LockedPartUsedError",
    "ModelCard",
    "Resampling",
    "Results",
    "SavedModel",
    "Store",
    "Study",
    "TunedLearner",
    "Tuning",
    "UntrustedModelError",
    "analyse",
    "compare",
    "experimental_error",
    "factor_effects",
    "finalisations",
    "finalise",
    "fingerprint",
    "forecast",
    "learning_surface",
    "load_model",
    "lock_test_part",
    "make_plan",
    "predict",
    "predict_file",
    "read_card",
    "read_study",
    "recover",
    "report",
    "resampling",
    "run",
    "save_model",
    "suggest_resampling",
]

_publish(__name__)
