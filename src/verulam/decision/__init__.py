"""Decisions under uncertainty: Bayes' rule, losses, risk, rejection and the errors they cause."""

from verulam.base import publish as _publish
from verulam.decision._bayes import posterior, sequential_posteriors
from verulam.decision._class_density import ClassDensity
from verulam.decision._discriminants import (
    ActionInterval,
    action_intervals,
    dichotomizer,
    log_odds,
    threshold_from_losses,
)
from verulam.decision._grid import DecisionGrid, decision_regions
from verulam.decision._known_densities import KnownDensities
from verulam.decision._loss import LossTable, loss_table
from verulam.decision._minimum_risk import MinimumRisk
from verulam.decision._one_versus_rest import OneVersusRestReject
from verulam.decision._outcome import Estimate, Outcome
from verulam.decision._partition import Partition
from verulam.decision._reject_curve import ErrorRejectCurve, RejectPoint, error_reject_curve

__all__ = [
    "ActionInterval",
    "ClassDensity",
    "DecisionGrid",
    "ErrorRejectCurve",
    "Estimate",
    "KnownDensities",
    "LossTable",
    "MinimumRisk",
    "OneVersusRestReject",
    "Outcome",
    "Partition",
    "RejectPoint",
    "action_intervals",
    "decision_regions",
    "dichotomizer",
    "error_reject_curve",
    "log_odds",
    "loss_table",
    "posterior",
    "sequential_posteriors",
    "threshold_from_losses",
]

_publish(__name__)
