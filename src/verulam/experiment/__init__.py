"""From a question to a defensible answer: study, plan, run, store, results."""

from verulam.experiment._analysis import Analysis, analyse
from verulam.experiment._compare import compare
from verulam.experiment._comparison import Comparison
from verulam.experiment._engines import run
from verulam.experiment._plan import Plan, make_plan
from verulam.experiment._results import Results
from verulam.experiment._sources import open_data
from verulam.experiment._store import Store
from verulam.experiment._study import DataChoice, LearnerChoice, Study, read_study

__all__ = [
    "Analysis",
    "Comparison",
    "DataChoice",
    "LearnerChoice",
    "Plan",
    "Results",
    "Store",
    "Study",
    "analyse",
    "compare",
    "make_plan",
    "open_data",
    "read_study",
    "run",
]
