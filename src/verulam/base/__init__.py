"""Contracts that every other package builds on: the estimator protocol, seeds, records, errors."""

from typing import TYPE_CHECKING, Any

from verulam.base._errors import (
    DataError,
    DataWarning,
    UnknownNameError,
    nearest_names,
    unknown_name,
    warn_caller,
)
from verulam.base._files import draft_of, keep_on_disk, write_whole
from verulam.base._plain_text import (
    markdown_text,
    spreadsheet_table,
    spreadsheet_text,
    visible_text,
)
from verulam.base._public_paths import load_later, publish

if TYPE_CHECKING:
    from verulam.base._abilities import Abilities, abilities
    from verulam.base._additive import (
        Additive,
        EMRun,
        ManyPasses,
        OnePass,
        OnePassClassifier,
    )
    from verulam.base._chunks import (
        Chunk,
        MemorySource,
        Source,
        map_rows,
        open_source,
    )
    from verulam.base._inputs import refuse_duplicate_names, refuse_huge_numbers
    from verulam.base._protocol import (
        RANDOM_STATE,
        Classifier,
        Density,
        HasMethods,
        Interval,
        MetaEstimatorMixin,
        Options,
        OutlierDetector,
        Regressor,
        Seed,
        StrOptions,
        Transformer,
        available_if,
        check_classification_targets,
        check_is_fitted,
        check_parameters,
        check_weights,
        checked_fit,
        checked_fit_with_parts,
        clone,
        column_or_1d,
        generator,
        has_fit_parameter,
        is_classifier,
        is_regressor,
        spawn_seeds,
        validate_data,
    )
    from verulam.base._records import ByClass, Classwise, Statistics, SumRecord, spread_rows
    from verulam.base._tables import (
        EncodedTable,
        TableSchema,
        as_frame,
        check_same_kinds,
        encode_table,
        is_categorical,
        named_kinds,
        read_schema,
    )
    from verulam.base._targets import encode_classes, numeric_targets
    from verulam.base._threads import (
        iterate_in_threads,
        kept_threads,
        one_blas_thread,
        thread_count,
        thread_map,
    )

__all__ = [
    "RANDOM_STATE",
    "Abilities",
    "Additive",
    "ByClass",
    "Chunk",
    "Classifier",
    "Classwise",
    "DataError",
    "DataWarning",
    "Density",
    "EMRun",
    "EncodedTable",
    "HasMethods",
    "Interval",
    "ManyPasses",
    "MemorySource",
    "MetaEstimatorMixin",
    "OnePass",
    "OnePassClassifier",
    "Options",
    "OutlierDetector",
    "Regressor",
    "Seed",
    "Source",
    "Statistics",
    "StrOptions",
    "SumRecord",
    "TableSchema",
    "Transformer",
    "UnknownNameError",
    "abilities",
    "as_frame",
    "available_if",
    "check_classification_targets",
    "check_is_fitted",
    "check_parameters",
    "check_same_kinds",
    "check_weights",
    "checked_fit",
    "checked_fit_with_parts",
    "clone",
    "column_or_1d",
    "draft_of",
    "encode_classes",
    "encode_table",
    "generator",
    "has_fit_parameter",
    "is_categorical",
    "is_classifier",
    "is_regressor",
    "iterate_in_threads",
    "keep_on_disk",
    "kept_threads",
    "load_later",
    "map_rows",
    "markdown_text",
    "named_kinds",
    "nearest_names",
    "numeric_targets",
    "one_blas_thread",
    "open_source",
    "publish",
    "read_schema",
    "refuse_duplicate_names",
    "refuse_huge_numbers",
    "spawn_seeds",
    "spread_rows",
    "spreadsheet_table",
    "spreadsheet_text",
    "thread_count",
    "thread_map",
    "unknown_name",
    "validate_data",
    "visible_text",
    "warn_caller",
    "write_whole",
]


def __getattr__(name: str) -> Any:
    # The contracts need scikit-learn, which takes longer to import than most commands do to look
    # things up; words, files and errors do without it.
    return load_later(__name__, (), name)


publish(__name__)
