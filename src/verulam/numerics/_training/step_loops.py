"""One step of a training rule over a flat vector of parameters, compiled."""

import numpy as np

from verulam.numerics._loop_cache import njit

#: Places in the numbers of a rule.
KIND, RATE, MOMENTUM, NESTEROV, BETA_1, BETA_2, EPSILON, STEPS = range(8)
#: Kinds of rule.
DESCENT, ADAM = 0.0, 1.0


@njit(error_model="numpy")
def take_step(theta, gradient, first, second, numbers):
    """Move the parameters against their gradient and remember what the rule needs.

    Parameters
    ----------
    theta, gradient
        Parameters, changed in place, and the gradient of the mean error.
    first, second
        Memory of the rule: the last change, or the moments of the gradient.
    numbers
        Numbers of the rule, by the places above; the steps are counted here.
    """
    numbers[STEPS] += 1.0
    # Numbers of the same precision as the parameters, so that the loops run in it.
    number = theta.dtype.type
    rate = number(numbers[RATE])
    if numbers[KIND] == DESCENT:
        momentum, looks_ahead = number(numbers[MOMENTUM]), numbers[NESTEROV] != 0.0
        if momentum == 0.0:
            for place in range(theta.shape[0]):
                theta[place] -= rate * gradient[place]
            return
        for place in range(theta.shape[0]):
            change = momentum * first[place] - rate * gradient[place]
            first[place] = change
            if looks_ahead:
                change = momentum * change - rate * gradient[place]
            theta[place] += change
        return
    # Both moments start at zero, which the factor makes up for.
    early = np.sqrt(1.0 - numbers[BETA_2] ** numbers[STEPS])
    rate = number(numbers[RATE] * early / (1.0 - numbers[BETA_1] ** numbers[STEPS]))
    beta_1, beta_2 = number(numbers[BETA_1]), number(numbers[BETA_2])
    rest_1, rest_2 = number(1.0 - numbers[BETA_1]), number(1.0 - numbers[BETA_2])
    epsilon = number(numbers[EPSILON])
    for place in range(theta.shape[0]):
        slope = gradient[place]
        first[place] = beta_1 * first[place] + rest_1 * slope
        second[place] = beta_2 * second[place] + rest_2 * slope * slope
        theta[place] -= rate * first[place] / (np.sqrt(second[place]) + epsilon)
