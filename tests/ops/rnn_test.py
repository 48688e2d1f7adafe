"""Recurrent modules: outputs, final states and all gradients, with and without biases."""

import pytest
import torch
import torch.nn as nn
from oracle import assert_values_and_gradients

MODULES = {
    "lstm": (lambda: nn.LSTM(6, 8, 2), (5, 3, 6)),
    "lstm_both_ways": (lambda: nn.LSTM(6, 8, bidirectional=True, bias=False), (5, 3, 6)),
    "lstm_projected": (lambda: nn.LSTM(6, 8, proj_size=4), (5, 3, 6)),
    "lstm_cell": (lambda: nn.LSTMCell(6, 8), (3, 6)),
    "gru": (lambda: nn.GRU(6, 8, 2, batch_first=True), (3, 5, 6)),
    "gru_no_bias": (lambda: nn.GRU(6, 8, bias=False), (5, 3, 6)),
    "gru_cell": (lambda: nn.GRUCell(6, 8), (3, 6)),
    "rnn": (lambda: nn.RNN(6, 8), (5, 3, 6)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", MODULES)
def test_module(name, dtype):
    torch.manual_seed(0)
    make, sizes = MODULES[name]
    reference = make().to(dtype)
    module = make().to(dtype).to("tpu")
    module.load_state_dict(reference.state_dict())
    reference.double()
    x = torch.randn(sizes).to(dtype)
    wide, here = x.double().requires_grad_(), x.to("tpu").requires_grad_()
    leaves = [here, *module.parameters()], [wide, *reference.parameters()]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-1
    assert_values_and_gradients(module(here), reference(wide), *leaves, dtype, tolerance, tolerance)
