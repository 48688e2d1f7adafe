"""Recurrent modules: outputs, final states and all gradients against the CPU, over what the modules can be asked for.

nn.LSTM, nn.GRU and nn.RNN are one op per layer and direction (csrc/aten/rnn.cpp), also where torch traces; derivatives
of derivatives and transforms take torch's composition of single steps.
"""

import warnings

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from oracle import assert_same, assert_values_and_gradients

MODULES = {  # (module, sizes of the input, whether initial states are given)
    "lstm": (lambda: nn.LSTM(6, 8, 2), (5, 3, 6), False),
    "lstm_both_ways": (lambda: nn.LSTM(6, 8, 2, bidirectional=True, bias=False), (5, 3, 6), True),
    "lstm_projected": (lambda: nn.LSTM(6, 8, 2, proj_size=4, bidirectional=True), (5, 3, 6), True),
    "lstm_one_sample": (lambda: nn.LSTM(6, 8), (5, 6), False),
    "lstm_one_step": (lambda: nn.LSTM(6, 8, batch_first=True), (3, 1, 6), True),
    "lstm_no_samples": (lambda: nn.LSTM(6, 8), (5, 0, 6), False),
    "lstm_cell": (lambda: nn.LSTMCell(6, 8), (3, 6), False),
    "gru": (lambda: nn.GRU(6, 8, 2, batch_first=True), (3, 5, 6), True),
    "gru_both_ways": (lambda: nn.GRU(6, 8, bidirectional=True), (5, 3, 6), False),
    "gru_no_bias": (lambda: nn.GRU(6, 8, bias=False), (5, 3, 6), False),
    "gru_cell": (lambda: nn.GRUCell(6, 8), (3, 6), False),
    "tanh": (lambda: nn.RNN(6, 8, 2, bidirectional=True), (5, 3, 6), False),
    "relu": (lambda: nn.RNN(6, 8, nonlinearity="relu", bias=False, batch_first=True), (3, 5, 6), True),
}
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 1e-1, torch.float16: 1e-2}
LAYERS = {
    "lstm": lambda: nn.LSTM(4, 5, proj_size=3),
    "gru": lambda: nn.GRU(4, 5, bidirectional=True),
    "tanh": lambda: nn.RNN(4, 5, bias=False),
}


def states_of(module, sizes, dtype):
    """Random initial states."""
    directions = module.num_layers * (2 if module.bidirectional else 1)
    batch = sizes[0 if module.batch_first else 1]
    hidden = torch.randn(directions, batch, getattr(module, "proj_size", 0) or module.hidden_size).to(dtype)
    if not isinstance(module, nn.LSTM):
        return hidden
    return hidden, torch.randn(directions, batch, module.hidden_size).to(dtype)


def pair_of(name, dtype=torch.float32):
    """A module on the device, its twin in float64 on the CPU, and arguments for both with what to differentiate by."""
    torch.manual_seed(0)
    make, sizes, has_states = MODULES[name]
    reference = make().to(dtype)
    module = make().to(dtype).to("tpu")
    module.load_state_dict(reference.state_dict())
    reference.double()
    arguments = [torch.randn(sizes).to(dtype)]
    if has_states:
        states = states_of(module, sizes, dtype)
        arguments += states if isinstance(states, tuple) else [states]
    wide = [x.double().requires_grad_() for x in arguments]
    here = [x.to("tpu").requires_grad_() for x in arguments]
    return module, reference, here, wide


def called(module, arguments):
    x, *states = arguments
    return module(x, *([tuple(states)] if len(states) == 2 else states))


def check(name, dtype=torch.float32, wrap=lambda module: module):
    module, reference, here, wide = pair_of(name, dtype)
    leaves = [*here, *module.parameters()], [*wide, *reference.parameters()]
    tolerance = TOLERANCES[dtype]
    assert_values_and_gradients(
        called(wrap(module), here), called(reference, wide), *leaves, dtype, tolerance, tolerance
    )


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", MODULES)
def test_other_dtypes(name, dtype):
    check(name, dtype)


@pytest.mark.parametrize("name", ["lstm_projected", "gru", "tanh"])
def test_recorded(name):
    with torch.tpu.mode("fused"):
        check(name)


@pytest.mark.parametrize("name", ["lstm_both_ways", "gru", "relu"])
def test_compiled(name):
    torch._dynamo.reset()
    with torch._dynamo.config.patch(allow_rnn=True):
        check(name, wrap=lambda module: torch.compile(module, fullgraph=True))


def test_compiled_for_any_length():
    torch._dynamo.reset()
    reference = nn.LSTM(4, 5, batch_first=True)
    module = nn.LSTM(4, 5, batch_first=True).to("tpu")
    module.load_state_dict(reference.state_dict())
    with torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(module, fullgraph=True, dynamic=True)
        for sizes in [(2, 3, 4), (3, 5, 4), (4, 7, 4)]:
            x = torch.randn(sizes)
            torch.testing.assert_close(compiled(x.to("tpu"))[0].cpu(), reference(x)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["lstm", "gru", "tanh"])
def test_without_gradients(name):
    """What the backward would need is not kept."""
    module, reference, here, wide = pair_of(name)
    with torch.no_grad():
        expected = reference(wide[0])
        got = module(here[0])
    torch.testing.assert_close(got[0].cpu().double(), expected[0], rtol=1e-5, atol=1e-5)
    with torch.inference_mode():
        torch.testing.assert_close(module(here[0])[0].cpu(), got[0].cpu(), rtol=0, atol=0)


@pytest.mark.parametrize("name", LAYERS)
def test_second_derivatives(name):
    torch.manual_seed(0)
    reference = LAYERS[name]().double()
    module = LAYERS[name]().double().to("tpu")
    module.load_state_dict(reference.state_dict())
    x = torch.randn(3, 2, 4, dtype=torch.float64)

    def penalty(network, x):
        (grad,) = torch.autograd.grad(network(x)[0].sin().sum(), x, create_graph=True)
        return torch.autograd.grad(grad.square().sum(), [x, *network.parameters()])

    expected = penalty(reference, x.requires_grad_())
    got = penalty(module, x.detach().to("tpu").requires_grad_())
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g.cpu(), e, rtol=1e-10, atol=1e-12)


def test_one_state_given_twice():
    """Its gradient is the sum of both, also where it is differentiated again."""

    def gradients(module, x, state):
        out = module(x, (state, state))[0].square().sum()
        (first,) = torch.autograd.grad(out, state, create_graph=True)
        return first, *torch.autograd.grad(first.sin().sum(), state)

    torch.manual_seed(0)
    reference = nn.LSTM(4, 5).double()
    module = nn.LSTM(4, 5).double().to("tpu")
    module.load_state_dict(reference.state_dict())
    x, state = torch.randn(3, 2, 4).double(), torch.randn(1, 2, 5).double()
    expected = gradients(reference, x, state.requires_grad_())
    got = gradients(module, x.to("tpu"), state.detach().to("tpu").requires_grad_())
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g.detach().cpu(), e.detach(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", LAYERS)
def test_transforms(name):
    """torch.func.grad, and forward derivatives where the CPU's cells have them, too."""
    torch.manual_seed(0)
    reference = LAYERS[name]()
    module = LAYERS[name]().to("tpu")
    module.load_state_dict(reference.state_dict())
    x = torch.randn(3, 2, 4)

    def derivatives(network, x):
        loss = lambda x: network(x)[0].square().sum()  # noqa: E731
        grad = torch.func.grad(loss)(x)
        return (grad, torch.func.jvp(loss, (x,), (torch.ones_like(x),))[1]) if name == "tanh" else (grad,)

    for g, e in zip(derivatives(module, x.to("tpu")), derivatives(reference, x), strict=True):
        torch.testing.assert_close(g.detach().cpu(), e.detach(), rtol=1e-4, atol=1e-5)


def test_a_part_of_the_gradients():
    """Only some leaves, and only one of the outputs."""
    module, reference, here, wide = pair_of("lstm_projected")
    for arguments in (here, wide):
        arguments[2].requires_grad_(False)
    (expected,) = torch.autograd.grad(called(reference, wide)[1][1].sum(), reference.weight_hh_l0)
    (got,) = torch.autograd.grad(called(module, here)[1][1].sum(), module.weight_hh_l0)
    torch.testing.assert_close(got.cpu().double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["strict", "fused", "auto"], indirect=True)
def test_dropout_between_layers_is_that_of_dropout(mode):
    module = nn.GRU(4, 5, 2, dropout=0.5).to("tpu")
    layers = [nn.GRU(size, 5).to("tpu") for size in (4, 5)]
    for number, layer in enumerate(layers):
        layer.load_state_dict(
            {f"{key[:-1]}0": value for key, value in module.state_dict().items() if key[-1] == str(number)}
        )
    x = torch.randn(6, 3, 4).to("tpu")
    torch.manual_seed(7)
    got = module(x)[0]
    torch.manual_seed(7)
    expected = layers[1](F.dropout(layers[0](x)[0], 0.5))[0]
    assert torch.equal(got.cpu(), expected.cpu())
    assert not torch.equal(got.cpu(), module.eval()(x)[0].cpu())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast(dtype):
    torch.manual_seed(0)
    module = nn.LSTM(4, 5, 2, batch_first=True).to("tpu")
    x = torch.randn(2, 3, 4).to("tpu").requires_grad_()
    with torch.autocast("tpu", dtype):
        out, (hy, cy) = module(x)
    assert out.dtype == hy.dtype == cy.dtype == dtype
    torch.testing.assert_close(out.float(), module(x)[0], rtol=5e-2, atol=2e-2)
    out.float().square().sum().backward()
    assert all(leaf.grad.dtype == torch.float32 for leaf in [x, *module.parameters()])


def test_strides_are_torchs():
    for name in ("lstm", "gru", "gru_both_ways", "relu"):
        module, reference, here, wide = pair_of(name)
        assert called(module, here)[0].stride() == called(reference, wide)[0].stride()


W, B = torch.randn(20, 4), torch.randn(20)
X, H = torch.randn(3, 2, 4), torch.zeros(1, 2, 5)
PARAMS = (W, torch.randn(20, 5), B, B)


def lstm(x, hx, params, layers=1, dropout=0.0):
    return torch.lstm(x, hx, params, True, layers, dropout, True, False, False)[0]


@pytest.mark.parametrize(
    ("x", "hx", "params"),
    [
        (X, (H,), PARAMS),
        (X, (H, H, H), PARAMS),
        (X, (H, H), PARAMS[:3]),
        (X[:0], (H, H), PARAMS),
        (X, (H, H[:, :, :4]), PARAMS),
        (X.long(), (H, H), PARAMS),
    ],
)
def test_errors_are_torchs(x, hx, params):
    assert_same(lstm, x, hx, params, message=False)


@pytest.mark.parametrize(
    ("hx", "params", "message"),
    [
        ((H, H), (torch.randn(20, 3), *PARAMS[1:]), "multiplied"),
        ((torch.zeros(2, 2, 5), torch.zeros(2, 2, 5)), PARAMS, "more hidden states"),
    ],
)
def test_what_onednn_does_not_check(hx, params, message):
    with pytest.raises(RuntimeError, match=message):
        lstm(X.to("tpu"), [state.to("tpu") for state in hx], [param.to("tpu") for param in params])


def test_other_devices_are_errors():
    with pytest.raises(RuntimeError, match="same device"):
        lstm(X.to("tpu"), (H.to("tpu"), H.to("tpu")), PARAMS)


def test_packed_sequences_are_composed():
    lengths = torch.tensor([3, 1])
    reference = nn.LSTM(4, 5)
    module = nn.LSTM(4, 5).to("tpu")
    module.load_state_dict(reference.state_dict())
    pack, unpack = nn.utils.rnn.pack_padded_sequence, nn.utils.rnn.pad_packed_sequence
    expected = unpack(reference(pack(X, lengths))[0])[0]
    torch.testing.assert_close(unpack(module(pack(X.to("tpu"), lengths))[0])[0].cpu(), expected, rtol=1e-5, atol=1e-6)


def test_stand_ins_have_the_shapes():
    """What torch traces with, and meta tensors, beside what the ops give."""
    for mode, gates, has_cells in (("lstm", 4, True), ("gru", 3, False), ("tanh", 1, False)):
        x, hx = torch.randn(3, 2, 4), torch.randn(2, 5)
        arguments = [x, hx, hx if has_cells else None, torch.randn(5 * gates, 4), torch.randn(5 * gates, 5), None, None]
        for train in (False, True):
            on = [[a if a is None else a.to(device) for a in arguments] for device in ("tpu", "meta")]
            here, meta = (torch.ops.torch_tpu.rnn_layer(mode, *all, None, False, train) for all in on)
            assert [a.shape for a in here] == [a.shape for a in meta]
            assert [a.stride() for a in here] == [a.stride() for a in meta]
        grads = []
        for (x, hx, cx, wih, whh, _, _), (out, _, _, gates_, cells) in zip(on, (here, meta), strict=True):
            mask = [True, True, has_cells, True, True, True, True, False]
            grads.append(
                torch.ops.torch_tpu.rnn_layer_backward(
                    mode, out, None, None, x, hx, cx, wih, whh, None, out, gates_, cells, False, mask
                )
            )
        assert [a if a is None else a.shape for a in grads[0]] == [a if a is None else a.shape for a in grads[1]]


def test_a_long_layer_is_few_programs(strict):
    """Compositions have an op per step and gate."""
    module = nn.LSTM(7, 9, batch_first=True).to("tpu")
    x = torch.randn(2, 64, 7).to("tpu")
    torch.tpu.clear_cache()
    before = torch.tpu.cache_stats()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module(x)[0].sum().backward()
    torch.tpu.synchronize()
    after = torch.tpu.cache_stats()
    assert after["compiles"] - before["compiles"] <= 12
