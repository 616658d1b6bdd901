"""From a question to a defensible answer: learners compared on shared splits."""

from verulam.experiment._compare import compare
from verulam.experiment._comparison import Comparison
from verulam.experiment._sources import open_data

__all__ = ["Comparison", "compare", "open_data"]
