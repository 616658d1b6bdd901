"""From a question to a defensible answer: study, design, plan, run, store, results."""

from verulam.base import publish as _publish
from verulam.experiment._analysis.analysis import Analysis, analyse
from verulam.experiment._analysis.error_overlap import Overlap
from verulam.experiment._compare import compare
from verulam.experiment._comparison import Comparison
from verulam.experiment._design.factorial import (
    DESIGN_CAVEATS,
    best_guess,
    full_factorial,
    one_at_a_time,
    randomised_order,
)
from verulam.experiment._design.factors import (
    Factor,
    coded_settings,
    mean_neighbour_distance,
    normalised_levels,
    odd_levels,
)
from verulam.experiment._design.fractional import (
    AliasStructure,
    alias_structure,
    fractional_factorial,
)
from verulam.experiment._design.generators import find_generators
from verulam.experiment._design.response_surface import (
    NextPoint,
    ResponseSurface,
    fit_response_surface,
    next_point,
)
from verulam.experiment._design.search import (
    SearchPath,
    quadratic_search,
    response_surface_search,
)
from verulam.experiment._design.sizes import run_count
from verulam.experiment._design.surface_designs import box_behnken, central_composite
from verulam.experiment._effects.effects import FactorEffects, factor_effects
from verulam.experiment._effects.learning_surface import learning_surface
from verulam.experiment._effects.multivariate import VectorVerdict
from verulam.experiment._effects.replication import ExperimentalError, experimental_error
from verulam.experiment._final.card import ColumnCard, ModelCard, ResponseCard
from verulam.experiment._final.choice import chosen_contestant
from verulam.experiment._final.finalise import Finalised, finalise
from verulam.experiment._final.model_file import (
    SavedModel,
    UntrustedModelError,
    load_model,
    read_card,
    save_model,
)
from verulam.experiment._final.predict import FilePredictions, predict, predict_file
from verulam.experiment._final.test_set_log import LockedPartUsedError, finalisations
from verulam.experiment._plan.plan import Plan, make_plan
from verulam.experiment._report.report import report
from verulam.experiment._resampling.advice import ResamplingAdvice, suggest_resampling
from verulam.experiment._resampling.resampling import (
    LockedPart,
    Resampling,
    UsableResampling,
    distinct_share,
    fingerprint,
    lock_test_part,
    resampling,
)
from verulam.experiment._run.forecast import Forecast, forecast
from verulam.experiment._run.run import run
from verulam.experiment._store.recovery import Recovery, recover
from verulam.experiment._store.results import Results
from verulam.experiment._store.store import Store
from verulam.experiment._study.analysis_options import AnalysisOptions
from verulam.experiment._study.budget import Budget
from verulam.experiment._study.choices import DataChoice, LearnerChoice
from verulam.experiment._study.data_source import open_data
from verulam.experiment._study.designs import Design, design_settings
from verulam.experiment._study.file import read_study
from verulam.experiment._study.study import Study
from verulam.experiment._tuning.learner import TunedLearner
from verulam.experiment._tuning.options import Tuning

__all__ = [
    "DESIGN_CAVEATS",
    "AliasStructure",
    "Analysis",
    "AnalysisOptions",
    "Budget",
    "ColumnCard",
    "Comparison",
    "DataChoice",
    "Design",
    "ExperimentalError",
    "Factor",
    "FactorEffects",
    "FilePredictions",
    "Finalised",
    "Forecast",
    "LearnerChoice",
    "LockedPart",
    "LockedPartUsedError",
    "ModelCard",
    "NextPoint",
    "Overlap",
    "Plan",
    "Recovery",
    "Resampling",
    "ResamplingAdvice",
    "ResponseCard",
    "ResponseSurface",
    "Results",
    "SavedModel",
    "SearchPath",
    "Store",
    "Study",
    "TunedLearner",
    "Tuning",
    "UntrustedModelError",
    "UsableResampling",
    "VectorVerdict",
    "alias_structure",
    "analyse",
    "best_guess",
    "box_behnken",
    "central_composite",
    "chosen_contestant",
    "coded_settings",
    "compare",
    "design_settings",
    "distinct_share",
    "experimental_error",
    "factor_effects",
    "finalisations",
    "finalise",
    "find_generators",
    "fingerprint",
    "fit_response_surface",
    "forecast",
    "fractional_factorial",
    "full_factorial",
    "learning_surface",
    "load_model",
    "lock_test_part",
    "make_plan",
    "mean_neighbour_distance",
    "next_point",
    "normalised_levels",
    "odd_levels",
    "one_at_a_time",
    "open_data",
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
    "run_count",
    "save_model",
    "suggest_resampling",
]

_publish(__name__)
