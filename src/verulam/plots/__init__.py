"""Pictures: every function draws on the Matplotlib axes it is given, or on new ones."""

from verulam.plots._comparison import comparison
from verulam.plots._confusion import confusion_matrix
from verulam.plots._densities import densities_1d, density_contours
from verulam.plots._regions import decision_regions
from verulam.plots._tradeoffs import complexity_curve, error_reject_curve, roc_curves

__all__ = [
    "comparison",
    "complexity_curve",
    "confusion_matrix",
    "decision_regions",
    "densities_1d",
    "density_contours",
    "error_reject_curve",
    "roc_curves",
]
