"""The check suite for learners: ours pass it, and so should those of others."""

from verulam.base import publish as _publish
from verulam.testing._documentation import documented_names, quoted_defaults
from verulam.testing._suite import Check, check_learner, learner_checks

__all__ = [
    "Check",
    "check_learner",
    "documented_names",
    "learner_checks",
    "quoted_defaults",
]

_publish(__name__)
