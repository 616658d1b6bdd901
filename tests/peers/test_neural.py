"""Gradients of networks beside those of PyTorch."""

from dataclasses import replace

import numpy as np
import pytest

from verulam.neural import (
    RecurrentNetwork,
    SequenceError,
    recurrent_layout,
)

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.peers

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("gradient", ["unfolding", "real-time"])
def test_gradients_through_time_are_those_of_torch(gradient):
    n_steps, n_sequences = 6, 5
    inputs = RANDOM.normal(size=(n_sequences * n_steps, 3))
    targets = RANDOM.normal(size=(n_sequences * n_steps, 2))
    network = RecurrentNetwork(recurrent_layout((3, 4, 2), "hidden"), "tanh")
    error = SequenceError(
        network, inputs, np.arange(n_sequences + 1) * n_steps, targets, gradient=gradient
    )
    layout = network.layout
    theta = layout.start(RANDOM, "glorot", "tanh", np.float64)
    value, ours = error.value_and_gradient(theta)
    recurrent = torch.nn.RNN(3, 4, batch_first=True).double()
    outputs = torch.nn.Linear(4, 2).double()
    base = layout.perceptron
    with torch.no_grad():
        recurrent.weight_ih_l0.copy_(torch.tensor(base.weights(theta, 0).T))
        recurrent.weight_hh_l0.copy_(torch.tensor(layout.feedback_weights(theta, "hidden").T))
        recurrent.bias_ih_l0.copy_(torch.tensor(base.biases(theta, 0)))
        recurrent.bias_hh_l0.zero_()
        outputs.weight.copy_(torch.tensor(base.weights(theta, 1).T))
        outputs.bias.copy_(torch.tensor(base.biases(theta, 1)))
    rows = torch.tensor(inputs.reshape(n_sequences, n_steps, 3))
    answers = outputs(recurrent(rows)[0])
    loss = 0.5 * ((answers - torch.tensor(targets.reshape(answers.shape))) ** 2).sum() / n_sequences
    loss.backward()
    assert value == pytest.approx(loss.item(), rel=1e-12)
    for slot, peer in (
        (base.weights(ours, 0), recurrent.weight_ih_l0.grad.T),
        (base.biases(ours, 0), recurrent.bias_ih_l0.grad),
        (layout.feedback_weights(ours, "hidden"), recurrent.weight_hh_l0.grad.T),
        (base.weights(ours, 1), outputs.weight.grad.T),
        (base.biases(ours, 1), outputs.bias.grad),
    ):
        np.testing.assert_allclose(slot, peer.numpy(), atol=1e-12)


def test_feedback_of_outputs_by_torch():
    """All three kinds of feedback, written out step by step."""
    network = RecurrentNetwork(
        recurrent_layout((2, 3, 3), ("hidden", "output", "output-hidden")), "logistic", "softmax"
    )
    inputs, codes = RANDOM.normal(size=(5, 2)), np.array([0, 2, 1, 1, 0])
    error = SequenceError(network, inputs, [0, 5], codes)
    theta = network.layout.start(RANDOM, "glorot", "tanh", np.float64)
    ours = error.value_and_gradient(theta)[1]
    point = torch.tensor(theta, requires_grad=True)
    layout = network.layout
    numbers = np.arange(layout.n_parameters)
    base = layout.perceptron

    def part(places):
        return point[torch.tensor(places)]

    feedback = {kind: part(layout.feedback_weights(numbers, kind)) for kind in layout.feedback}
    hidden, answer, loss = torch.zeros(3).double(), torch.zeros(3).double(), 0.0
    for row, code in zip(torch.tensor(inputs), codes, strict=True):
        sums = row @ part(base.weights(numbers, 0)) + part(base.biases(numbers, 0))
        sums = sums + hidden @ feedback["hidden"] + answer @ feedback["output-hidden"]
        hidden = torch.sigmoid(sums)
        scores = hidden @ part(base.weights(numbers, 1)) + part(base.biases(numbers, 1))
        scores = scores + answer @ feedback["output"]
        answer = torch.softmax(scores, dim=0)
        loss = loss - torch.log(answer[code])
    loss.backward()
    np.testing.assert_allclose(ours, point.grad.numpy(), atol=1e-12)
    carried = replace(error, gradient="real-time").value_and_gradient(theta)[1]
    np.testing.assert_allclose(carried, point.grad.numpy(), atol=1e-12)
