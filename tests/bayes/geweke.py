"""Geweke's joint-distribution test: two ways to draw parameters and data must agree.

Parameters drawn from the prior, and data given them, have a known joint distribution. So has the
chain that alternates between new data given the parameters and one step of the sampler given the
data, if the sampler leaves the posterior as it is; if one of its conditionals is wrong, moments of
the parameters drift (Geweke 2004).
"""

import numpy as np

from verulam.bayes import Chains


def geweke_scores(draw_prior, draw_data, transition, statistics, *, n=2000, thin=1, seed=0):
    """Return z-scores of the difference of every statistic between the two ways of drawing.

    Parameters
    ----------
    draw_prior : function of a generator that returns parameters
    draw_data : function of parameters and a generator that returns data
    transition : function of parameters, data and a generator that returns new parameters
    statistics : function of parameters that returns a vector of numbers
    n : draws either way
    thin : transitions (each with new data) between two draws of the chain
    """
    rng = np.random.default_rng(seed)
    independent = np.array([statistics(draw_prior(rng)) for _ in range(n)], dtype=float)
    parameters = draw_prior(rng)
    chain = []
    for _ in range(n):
        for _ in range(thin):
            parameters = transition(parameters, draw_data(parameters, rng), rng)
        chain.append(statistics(parameters))
    successive = np.array(chain, dtype=float)
    sizes = np.atleast_1d(Chains({"g": successive[None]}).effective_size("g"))
    variance = independent.var(axis=0) / n + successive.var(axis=0) / np.minimum(sizes, n)
    return (independent.mean(axis=0) - successive.mean(axis=0)) / np.sqrt(variance)
