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
    from verulam.plots._beliefs.curves import (
        distribution_curves,
        evidence_curve,
        evidence_over_data,
        posterior_curves,
        predictive_band,
        weight_density,
    )
    from verulam.plots._ensembles.boosting import boosting_errors, boosting_round, margin_curves
    from verulam.plots._ensembles.members import (
        cascade_coverage,
        code_map,
        eigenlearner_map,
        kappa_error,
        majority_curves,
    )
    from verulam.plots._graphs.diagram import GraphEdge, GraphNode, Plate, graph_diagram
    from verulam.plots._graphs.graphical import (
        belief_bars,
        belief_network,
        clique_tree,
        constraint_diagram,
        factor_graph_diagram,
        influence_diagram,
        separation_diagram,
    )
    from verulam.plots._graphs.local_networks import experts_diagram, radial_network_diagram
    from verulam.plots._graphs.networks_in_time import delay_diagram, recurrent_diagram
    from verulam.plots._graphs.plates import GenerativeModel, plate_diagram
    from verulam.plots._models.densities import densities_1d, density_contours, log_odds_curve
    from verulam.plots._models.discriminants import (
        discriminant_curves,
        discriminant_lines,
        discriminant_surface,
    )
    from verulam.plots._models.facets import voronoi_facets
    from verulam.plots._models.lines import error_curves, lines, trajectories, weight_trajectory
    from verulam.plots._models.local import (
        expert_lines,
        expert_trace,
        gate_map,
        unit_bells,
        unit_ellipses,
    )
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
        film_strip,
        hidden_unit_curves,
        network_diagram,
        training_curves,
        weight_templates,
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
    from verulam.plots._unsupervised.processes import (
        buffet_table,
        cluster_sweeps,
        document_topics,
        factor_plane,
        topic_words,
    )
    from verulam.plots._unsupervised.self_organisation import (
        component_plane,
        hit_map,
        map_net,
        ordering_strip,
        u_matrix,
        vigilance_circles,
    )
    from verulam.plots._worlds.beliefs import alpha_lines
    from verulam.plots._worlds.curves import eligibility_trace, learning_curves, regret_curves
    from verulam.plots._worlds.grids import episode_animation, value_map

__all__ = [
    "GenerativeModel",
    "GraphEdge",
    "GraphNode",
    "Plate",
    "against_normal",
    "alpha_lines",
    "apriori_lattice",
    "belief_bars",
    "belief_network",
    "best_probabilities",
    "bias_and_variance",
    "bias_variance_curve",
    "biplot",
    "boosting_errors",
    "boosting_round",
    "bound_and_simulation",
    "buffet_table",
    "calibration_curves",
    "cascade_coverage",
    "class_map",
    "clique_tree",
    "cluster_sweeps",
    "code_map",
    "comparison",
    "complexity_curve",
    "component_curve",
    "component_plane",
    "confusion_matrix",
    "constraint_diagram",
    "contestant_intervals",
    "cost_response",
    "coulomb_discs",
    "criterion_trace",
    "critical_difference",
    "decision_regions",
    "delay_diagram",
    "dendrogram",
    "densities_1d",
    "density_contours",
    "description_boundary",
    "difference_posterior",
    "discriminant_curves",
    "discriminant_lines",
    "discriminant_surface",
    "distribution_curves",
    "document_topics",
    "effect_half_normal",
    "effect_normal",
    "effect_pareto",
    "eigenlearner_map",
    "eligibility_trace",
    "episode_animation",
    "error_curves",
    "error_reject_curve",
    "evidence_curve",
    "evidence_over_data",
    "expert_lines",
    "expert_trace",
    "experts_diagram",
    "factor_graph_diagram",
    "factor_map",
    "factor_plane",
    "film_strip",
    "gate_map",
    "graph_diagram",
    "hidden_unit_curves",
    "hit_map",
    "influence_diagram",
    "kappa_error",
    "kept_rows",
    "labelings_grid",
    "learner_results",
    "learning_curves",
    "legend_above",
    "level_means",
    "lines",
    "loading_map",
    "log_odds_curve",
    "majority_curves",
    "manova_projections",
    "map_net",
    "margin_boundary",
    "margin_curves",
    "mean_dots",
    "mixture_criteria",
    "mixture_ellipses",
    "neighbour_circles",
    "network_diagram",
    "normal_region",
    "objective_curve",
    "ordering_strip",
    "outlier_map",
    "plate_diagram",
    "posterior_curves",
    "posterior_ribbon",
    "power_curves",
    "precision_recall_curves",
    "predictive_band",
    "radial_network_diagram",
    "recurrent_diagram",
    "regression_tube",
    "regret_curves",
    "response_surface",
    "retrieval_venn",
    "roc_curves",
    "rule_map",
    "running_mean_paths",
    "score_boxes",
    "scree",
    "selection_path",
    "separation_diagram",
    "share_matrix",
    "shepard_diagram",
    "sigmoid_trace",
    "silhouette_plot",
    "simulated_power",
    "smooth_curves",
    "state_diagram",
    "surface_contours",
    "topic_words",
    "training_curves",
    "trajectories",
    "tree_diagram",
    "trellis",
    "u_matrix",
    "unit_bells",
    "unit_ellipses",
    "value_map",
    "version_space",
    "vigilance_circles",
    "voronoi_cells",
    "voronoi_facets",
    "weight_density",
    "weight_templates",
    "weight_trace",
    "weight_trajectory",
    "window_density",
]


def __getattr__(name: str) -> Any:
    # The pictures of models import the learners that they show; those of experiments do without.
    return _load_later(
        __name__,
        ("_models", "_unsupervised", "_ensembles", "_worlds", "_graphs", "_beliefs"),
        name,
    )


_publish(__name__)
