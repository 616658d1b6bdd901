"""From a question to a defensible answer: study, design, plan, run, store, results."""

from verulam.base import publish as _publish
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._compare import compare
from verulam.experiment._comparison import Comparison
from verulam.experiment._design.blocks import (
    block_structure,
    blocked_factorial,
    find_block_contrasts,
)
from verulam.experiment._design.factorial import (
    best_guess,
    full_factorial,
    one_at_a_time,
    randomised_order,
)
from verulam.experiment._design.factors import Factor, normalised_levels, odd_levels
from verulam.experiment._design.fractional import (
    alias_structure,
    find_generators,
    fractional_factorial,
)
from verulam.experiment._design.latin_hypercube import latin_hypercube
from verulam.experiment._design.optimum_region import optimum_region
from verulam.experiment._design.response_surface import fit_response_surface, next_point
from verulam.experiment._design.search import quadratic_search, response_surface_search
from verulam.experiment._design.surface_designs import box_behnken, central_composite
from verulam.experiment._effects.effects import factor_effects
from verulam.experiment._effects.learning_surface import learning_surface
from verulam.experiment._effects.replication import experimental_error
from verulam.experiment._effects.unreplicated import lenth_method, two_level_effects
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
    "Factor",
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
    "alias_structure",
    "analyse",
    "best_guess",
    "block_structure",
    "blocked_factorial",
    "box_behnken",
    "central_composite",
    "compare",
    "experimental_error",
    "factor_effects",
    "finalisations",
    "finalise",
    "find_block_contrasts",
    "find_generators",
    "fingerprint",
    "fit_response_surface",
    "forecast",
    "fractional_factorial",
    "full_factorial",
    "latin_hypercube",
    "learning_surface",
    "lenth_method",
    "load_model",
    "lock_test_part",
    "make_plan",
    "next_point",
    "normalised_levels",
    "odd_levels",
    "one_at_a_time",
    "optimum_region",
    "predict",
    "predict_file",
    "quadratic_search",
    "randomised_order",
    "read_card",
    "read_study",
    "recover",
    "report",
    "resampling",
    "response_surface_search",
    "run",
    "save_model",
    "suggest_resampling",
    "two_level_effects",
]

_publish(__name__)
