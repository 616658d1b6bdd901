"""Pictures: every function draws on the Matplotlib axes it is given, or on new ones."""

from typing import TYPE_CHECKING, Any

from verulam.base import load_later as _load_later
from verulam.base import publish as _publish
from verulam.plots._experiments.agreement import calibration_curves, share_matrix
from verulam.plots._experiments.comparison import comparison
from verulam.plots._experiments.critical_difference import critical_difference
from verulam.plots._experiments.effects import (
    effect_half_normal,
    effect_normal,
    effect_pareto,
    surface_contours,
)
from verulam.plots._experiments.evidence import (
    best_probabilities,
    contestant_intervals,
    difference_posterior,
)
from verulam.plots._experiments.factor_grid import factor_map
from verulam.plots._experiments.statistics import (
    against_normal,
    learner_results,
    manova_projections,
    normal_region,
    power_curves,
    running_mean_paths,
    simulated_power,
)
from verulam.plots._experiments.study import (
    cost_response,
    legend_above,
    level_means,
    mean_dots,
    score_boxes,
)
from verulam.plots._experiments.tradeoffs import (
    complexity_curve,
    error_reject_curve,
    response_surface,
)
from verulam.plots._predictions.confusion import confusion_matrix
from verulam.plots._predictions.regions import decision_regions
from verulam.plots._predictions.thresholds import (
    precision_recall_curves,
    retrieval_venn,
    roc_curves,
)

if TYPE_CHECKING:
    from verulam.plots._ensembles.boosting import boosting_errors, boosting_round, margin_curves
    from verulam.plots._ensembles.members import (
        cascade_coverage,
        code_map,
        eigenlearner_map,
        kappa_error,
        majority_curves,
    )
    from verulam.plots._models.densities import densities_1d, density_contours, log_odds_curve
    from verulam.plots._models.discriminants import (
        discriminant_curves,
        discriminant_lines,
        discriminant_surface,
    )
    from verulam.plots._models.facets import voronoi_facets
    from verulam.plots._models.lines import error_curves, lines, trajectories, weight_trajectory
    from verulam.plots._models.machines import (
        description_boundary,
        margin_boundary,
        regression_tube,
    )
    from verulam.plots._models.neighbours import (
        coulomb_discs,
        kept_rows,
        voronoi_cells,
        window_density,
    )
    from verulam.plots._models.networks import (
        hidden_unit_curves,
        network_diagram,
        training_curves,
    )
    from verulam.plots._models.outliers import neighbour_circles, outlier_map
    from verulam.plots._models.sequences import (
        objective_curve,
        posterior_ribbon,
        state_diagram,
        trellis,
    )
    from verulam.plots._models.smoothers import bias_variance_curve, component_curve, smooth_curves
    from verulam.plots._models.theory import (
        bias_and_variance,
        bound_and_simulation,
        labelings_grid,
        version_space,
    )
    from verulam.plots._models.traces import criterion_trace, sigmoid_trace, weight_trace
    from verulam.plots._models.tree import tree_diagram
    from verulam.plots._unsupervised.association import apriori_lattice, rule_map
    from verulam.plots._unsupervised.clusters import (
        dendrogram,
        mixture_criteria,
        mixture_ellipses,
        silhouette_plot,
    )
    from verulam.plots._unsupervised.components import biplot, loading_map, scree
    from verulam.plots._unsupervised.maps import class_map, selection_path, shepard_diagram

__all__ = [
    "against_normal",
    "apriori_lattice",
    "best_probabilities",
    "bias_and_variance",
    "bias_variance_curve",
    "biplot",
    "boosting_errors",
    "boosting_round",
    "bound_and_simulation",
    "calibration_curves",
    "cascade_coverage",
    "class_map",
    "code_map",
    "comparison",
    "complexity_curve",
    "component_curve",
    "confusion_matrix",
    "contestant_intervals",
    "cost_response",
    "coulomb_discs",
    "criterion_trace",
    "critical_difference",
    "decision_regions",
    "dendrogram",
    "densities_1d",
    "density_contours",
    "description_boundary",
    "difference_posterior",
    "discriminant_curves",
    "discriminant_lines",
    "discriminant_surface",
    "effect_half_normal",
    "effect_normal",
    "effect_pareto",
    "eigenlearner_map",
    "error_curves",
    "error_reject_curve",
    "factor_map",
    "hidden_unit_curves",
    "kappa_error",
    "kept_rows",
    "labelings_grid",
    "learner_results",
    "legend_above",
    "level_means",
    "lines",
    "loading_map",
    "log_odds_curve",
    "majority_curves",
    "manova_projections",
    "margin_boundary",
    "margin_curves",
    "mean_dots",
    "mixture_criteria",
    "mixture_ellipses",
    "neighbour_circles",
    "network_diagram",
    "normal_region",
    "objective_curve",
    "outlier_map",
    "posterior_ribbon",
    "power_curves",
    "precision_recall_curves",
    "regression_tube",
    "response_surface",
    "retrieval_venn",
    "roc_curves",
    "rule_map",
    "running_mean_paths",
    "score_boxes",
    "scree",
    "selection_path",
    "share_matrix",
    "shepard_diagram",
    "sigmoid_trace",
    "silhouette_plot",
    "simulated_power",
    "smooth_curves",
    "state_diagram",
    "surface_contours",
    "training_curves",
    "trajectories",
    "tree_diagram",
    "trellis",
    "version_space",
    "voronoi_cells",
    "voronoi_facets",
    "weight_trace",
    "weight_trajectory",
    "window_density",
]


def __getattr__(name: str) -> Any:
    # The pictures of models import the learners that they show; those of experiments do without.
    return _load_later(__name__, ("_models", "_unsupervised", "_ensembles"), name)


_publish(__name__)
