"""Rules: learned from data, read off trees, written by hand; read, explained and exported."""

from verulam.base import publish as _publish
from verulam.rule._base import Rule, RuleBase
from verulam.rule._boxes.box import BoxClassifier, ThresholdRule
from verulam.rule._boxes.box_search import Box
from verulam.rule._classifier import RuleExplanation
from verulam.rule._learning.covering import Irep, Ripper, SequentialCovering
from verulam.rule._learning.description_length import description_length
from verulam.rule._learning.foil import Clause, Literal, Program, learn_clauses
from verulam.rule._learning.measures import foil_gain, rule_value
from verulam.rule._rule_list import RuleList, RuleSet
from verulam.rule._term import Term
from verulam.rule._trees.extract import extract_rules
from verulam.rule._trees.simplify import prune_rules
from verulam.rule._trees.tree_rules import TreeRules

__all__ = [
    "Box",
    "BoxClassifier",
    "Clause",
    "Irep",
    "Literal",
    "Program",
    "Ripper",
    "Rule",
    "RuleBase",
    "RuleExplanation",
    "RuleList",
    "RuleSet",
    "SequentialCovering",
    "Term",
    "ThresholdRule",
    "TreeRules",
    "description_length",
    "extract_rules",
    "foil_gain",
    "learn_clauses",
    "prune_rules",
    "rule_value",
]

_publish(__name__)
