"""Networks of the literature, small enough to be followed by hand."""

from verulam.graphical._network.conditionals import Table, tabulate
from verulam.graphical._network.network import BayesianNetwork

_TWO = ("no", "yes")


def sprinkler() -> BayesianNetwork:
    """Return the network of clouds, sprinkler, rain and wet grass.

    Notes
    -----
    Alpaydin 14.2, figure 14.5: the tables of figure 14.3 with the grass of figure 14.4, which
    are recovered from the probabilities that the text prints.

    Examples
    --------
    >>> from verulam.graphical import sprinkler
    >>> network = sprinkler()
    >>> network.n_parameters, round(network.probability({"wet": "yes"}), 5)
    (9, 0.65125)
    """
    return BayesianNetwork(
        {
            "cloudy": Table(_TWO, [0.5, 0.5]),
            "sprinkler": Table(_TWO, [[0.5, 0.5], [0.9, 0.1]], ("cloudy",)),
            "rain": Table(_TWO, [[0.9, 0.1], [0.2, 0.8]], ("cloudy",)),
            "wet": Table(
                _TWO,
                [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]]],
                ("sprinkler", "rain"),
            ),
        }
    )


def asia() -> BayesianNetwork:
    """Return the network of a visit to a chest clinic.

    Notes
    -----
    Lauritzen and Spiegelhalter (1988), Local computations with probabilities on graphical
    structures and their application to expert systems, section 2.

    Examples
    --------
    >>> from verulam.graphical import asia
    >>> round(asia().probability({"dyspnoea": "yes"}), 4)
    0.436
    """
    return BayesianNetwork(
        {
            "asia": Table(_TWO, [0.99, 0.01]),
            "tuberculosis": Table(_TWO, [[0.99, 0.01], [0.95, 0.05]], ("asia",)),
            "smoking": Table(_TWO, [0.5, 0.5]),
            "cancer": Table(_TWO, [[0.99, 0.01], [0.9, 0.1]], ("smoking",)),
            "bronchitis": Table(_TWO, [[0.7, 0.3], [0.4, 0.6]], ("smoking",)),
            "either": tabulate(
                lambda first, second: "yes" if "yes" in (first, second) else "no",
                _TWO,
                {"tuberculosis": _TWO, "cancer": _TWO},
            ),
            "x-ray": Table(_TWO, [[0.95, 0.05], [0.02, 0.98]], ("either",)),
            "dyspnoea": Table(
                _TWO,
                [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]],
                ("either", "bronchitis"),
            ),
        }
    )
