"""Associations: items that occur together, rules between them, and what to recommend."""

from verulam.association._apriori import AprioriLevel, AprioriTrace, apriori
from verulam.association._item_sets import ItemSets, frequent_itemsets
from verulam.association._recommender import RuleRecommender, conditional_probability
from verulam.association._rules import RuleSet, association_rules
from verulam.association._transactions import Transactions
from verulam.base import publish as _publish

__all__ = [
    "AprioriLevel",
    "AprioriTrace",
    "ItemSets",
    "RuleRecommender",
    "RuleSet",
    "Transactions",
    "apriori",
    "association_rules",
    "conditional_probability",
    "frequent_itemsets",
]

_publish(__name__)
