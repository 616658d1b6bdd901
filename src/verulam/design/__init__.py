"""Designs of experiments: which settings of factors are run, and what the responses say of them."""

from verulam.base import publish as _publish
from verulam.design._blocks import (
    BlockStructure,
    block_numbers,
    block_structure,
    blocked_factorial,
    find_block_contrasts,
)
from verulam.design._factorial import (
    best_guess,
    full_factorial,
    one_at_a_time,
    randomised_order,
)
from verulam.design._factors import (
    DESIGN_CAVEATS,
    Factor,
    mean_neighbour_distance,
    normalised_levels,
    odd_levels,
)
from verulam.design._fractional import (
    AliasStructure,
    alias_structure,
    find_generators,
    fractional_factorial,
)
from verulam.design._latin_hypercube import latin_hypercube
from verulam.design._optimum_region import OptimumRegion, optimum_region
from verulam.design._response_surface import (
    NextPoint,
    ResponseSurface,
    fit_response_surface,
    next_point,
)
from verulam.design._search import SearchPath, quadratic_search, response_surface_search
from verulam.design._surface_designs import box_behnken, central_composite
from verulam.design._unreplicated import LenthAnalysis, lenth_method, two_level_effects

__all__ = [
    "DESIGN_CAVEATS",
    "AliasStructure",
    "BlockStructure",
    "Factor",
    "LenthAnalysis",
    "NextPoint",
    "OptimumRegion",
    "ResponseSurface",
    "SearchPath",
    "alias_structure",
    "best_guess",
    "block_numbers",
    "block_structure",
    "blocked_factorial",
    "box_behnken",
    "central_composite",
    "find_block_contrasts",
    "find_generators",
    "fit_response_surface",
    "fractional_factorial",
    "full_factorial",
    "latin_hypercube",
    "lenth_method",
    "mean_neighbour_distance",
    "next_point",
    "normalised_levels",
    "odd_levels",
    "one_at_a_time",
    "optimum_region",
    "quadratic_search",
    "randomised_order",
    "response_surface_search",
    "two_level_effects",
]

_publish(__name__)
