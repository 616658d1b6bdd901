"""All checks of one learner, chosen by what it says it can do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verulam.base import abilities
from verulam.testing import _ability_checks as of_ability
from verulam.testing import _documentation as of_documentation
from verulam.testing import _protocol_checks as of_protocol
from verulam.testing import _scale_checks as of_scale


@dataclass(frozen=True)
class Check:
    """One check of one learner.

    Attributes
    ----------
    name
        What is checked.
    function
        Takes the learner and raises where the check fails.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from verulam.testing import learner_checks
    >>> [check.name for check in learner_checks(GaussianNB())][:3]
    ['scikit_learn', 'constructor', 'same_seed']
    """

    name: str
    function: Callable[[Any], None]

    def __call__(self, learner: Any) -> None:
        """Run the check."""
        self.function(learner)


def learner_checks(learner: Any) -> list[Check]:
    """Return the checks that apply to a learner, by its abilities.

    Parameters
    ----------
    learner
        An unfitted instance.
    """
    able = abilities(learner)
    seeded = "random_state" in learner.get_params()
    functions = [
        of_protocol.check_scikit_learn,
        of_protocol.check_constructor,
        of_protocol.check_same_seed,
        of_protocol.check_pickling,
        of_protocol.check_model_file,
        of_documentation.check_documented_parameters,
        of_documentation.check_documented_attributes,
        of_documentation.check_doctest,
    ]
    # Where chance enters, repeated rows meet other random numbers than weighted ones.
    if able.sample_weights and not seeded:
        functions.append(of_ability.check_weights_repeat_rows)
    if able.missing:
        functions.append(of_ability.check_missing_values)
    if able.categorical:
        functions.append(of_ability.check_categories)
    if able.additive:
        functions += [of_scale.check_stream, of_scale.check_dask]
    if able.additive and able.incremental:
        functions.append(of_scale.check_two_halves)
    return [Check(function.__name__.removeprefix("check_"), function) for function in functions]


def check_learner(learner: Any) -> None:
    """Raise at the first thing that a learner of this library should do and does not.

    Parameters
    ----------
    learner
        An unfitted instance, ours or anybody's.

    Notes
    -----
    A class may name checks of scikit-learn that cannot apply to it in ``_skipped_checks``, a
    dictionary of check to reason; a named check that passes is an error, so that reasons stay
    true, unless ``_passes_by_chance`` names it. ``_example_data``, a classmethod, gives inputs and
    targets where the learner needs special ones.

    Examples
    --------
    >>> from verulam.parametric import NaiveBayes
    >>> check_learner(NaiveBayes())
    """
    for check in learner_checks(learner):
        try:
            check(learner)
        except Exception as error:
            error.add_note(f"Check {check.name!r} of {type(learner).__name__}.")
            raise
