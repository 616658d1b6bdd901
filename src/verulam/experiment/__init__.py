"""From a question to a defensible answer: study, design, plan, run, store, results."""

from verulam.base import publish as _publish
from verulam.experiment._analysis import Analysis, analyse
from verulam.experiment._budget import Budget
from verulam.experiment._choices import DataChoice, LearnerChoice
from verulam.experiment._compare import compare
from verulam.experiment._comparison import Comparison
from verulam.experiment._design_sizes import run_count
from verulam.experiment._designs import (
    DESIGN_CAVEATS,
    best_guess,
    full_factorial,
    one_at_a_time,
    randomised_order,
)
from verulam.experiment._effects import FactorEffects, factor_effects
from verulam.experiment._engines import run
from verulam.experiment._factors import (
    Factor,
    coded_settings,
    mean_neighbour_distance,
    normalised_levels,
    odd_levels,
)
from verulam.experiment._finalise import Finalised, finalise
from verulam.experiment._finalise_choice import chosen_contestant
from verulam.experiment._finalise_record import LockedPartUsedError, finalisations
from verulam.experiment._fractional import (
    AliasStructure,
    alias_structure,
    fractional_factorial,
)
from verulam.experiment._generators import find_generators
from verulam.experiment._learning_surface import learning_surface
from verulam.experiment._model_card import ColumnCard, ModelCard, ResponseCard
from verulam.experiment._model_file import (
    SavedModel,
    UntrustedModelError,
    load_model,
    read_card,
    save_model,
)
from verulam.experiment._overlap import Overlap
from verulam.experiment._pilot import Forecast, forecast
from verulam.experiment._plan import Plan, make_plan
from verulam.experiment._predict import FilePredictions, predict, predict_file
from verulam.experiment._recovery import Recovery, recover
from verulam.experiment._replication import ExperimentalError, experimental_error
from verulam.experiment._report import report
from verulam.experiment._resampling import (
    LockedPart,
    Resampling,
    UsableResampling,
    distinct_share,
    fingerprint,
    lock_test_part,
    resampling,
)
from verulam.experiment._resampling_advice import ResamplingAdvice, suggest_resampling
from verulam.experiment._response_surface import (
    NextPoint,
    ResponseSurface,
    fit_response_surface,
    next_point,
)
from verulam.experiment._results import Results
from verulam.experiment._sequential import (
    SearchPath,
    quadratic_search,
    response_surface_search,
)
from verulam.experiment._sources import open_data
from verulam.experiment._store import Store
from verulam.experiment._study import Study
from verulam.experiment._study_designs import Design, design_settings
from verulam.experiment._study_file import read_study
from verulam.experiment._surface_designs import box_behnken, central_composite
from verulam.experiment._tuned_learner import TunedLearner
from verulam.experiment._tuning import Tuning
from verulam.experiment._vector_responses import VectorVerdict
from verulam.experiment._wishes import Wishes

__all__ = [
    "DESIGN_CAVEATS",
    "AliasStructure",
    "Analysis",
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
    "Wishes",
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
