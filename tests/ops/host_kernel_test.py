"""Host kernels: what programs of a CPU plugin call PyTorch's CPU kernels for, with the switch on and off, by mode."""

import json
import math

import pytest
import torch
from sweep.comparison import check_sample
from sweep.gradients import check_gradient
from sweep.samples import samples_of
from torch.nn import functional as F
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

NAN, INF = float("nan"), float("inf")
aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("host_kernels", "no_host_ops")


@pytest.fixture
def host_kernels():
    before = torch.tpu.set_host_kernels(True)
    yield
    torch.tpu.set_host_kernels(before)


def special(*sizes):
    """Equals, NaN and infinities among the numbers."""
    torch.manual_seed(0)
    x = torch.randint(-3, 4, sizes).float()
    for value in (NAN, INF, -INF):
        x[torch.rand(sizes) < 0.03] = value
    return x


def pooled():
    x = special(2, 3, 9, 9)
    window = ([3, 3], [2, 2], [1, 1], [1, 1], False)
    y, indices = aten.max_pool2d_with_indices(x, *window)
    return lambda g, x, i: aten.max_pool2d_with_indices_backward(g, x, *window, i), (torch.randn_like(y), x, indices)


def convolution(dtype=torch.float32, groups=1, memory_format=torch.contiguous_format, **options):
    torch.manual_seed(0)
    x = torch.randn(8, 32, 24, 24).to(dtype).to(memory_format=memory_format)
    weight, bias = torch.randn(32, 32 // groups, 3, 3).to(dtype), torch.randn(32).to(dtype)
    return lambda x, w, b: torch.conv2d(x, w, b, padding=1, groups=groups, **options), (x, weight, bias)


def convolution_backward(mask, dtype=torch.float32, memory_format=torch.contiguous_format):
    torch.manual_seed(0)
    x = torch.randn(16, 32, 24, 24).to(dtype).to(memory_format=memory_format)
    grad, weight = torch.randn(16, 32, 12, 12).to(dtype), torch.randn(32, 32, 3, 3).to(dtype)
    lists = ([2, 2], [1, 1], [1, 1], False, [0, 0], 1)

    def run(g, x, w):
        # On the CPU the overload has the sizes of the bias as well.
        return [y for y in aten.convolution_backward(g, x, w, [32], *lists, mask) if y is not None]

    return run, (grad, x, weight)


def layer_norm():
    torch.manual_seed(0)
    args = torch.randn(600, 500), torch.randn(500), torch.randn(500)
    return lambda x, w, b: aten.native_layer_norm(x, [500], w, b, 1e-5), args


def layer_norm_backward():
    run, (x, weight, bias) = layer_norm()
    _, mean, rstd = run(x, weight, bias)

    def backward(*args):
        return aten.native_layer_norm_backward(*args[:2], [500], *args[2:], [True, True, True])

    return backward, (torch.randn_like(x), x, mean, rstd, weight, bias)


def batch_norm_backward(memory_format=torch.contiguous_format):
    torch.manual_seed(0)
    x = torch.randn(8, 32, 40, 40).to(memory_format=memory_format)
    weight, mean, var = torch.randn(32), torch.zeros(32), torch.ones(32)
    _, batch_mean, batch_rstd = aten.native_batch_norm(x, weight, None, mean, var, True, 0.1, 1e-5)
    grad = torch.randn(8, 32, 40, 40).to(memory_format=memory_format) / 16
    args = grad, x, weight, mean, var, batch_mean, batch_rstd
    return lambda *args: aten.native_batch_norm_backward(*args, True, 1e-5, [True, True, True]), args


def batch_norm(is_tracking=True):
    torch.manual_seed(0)

    def run(x, weight, bias, *statistics):
        mean, var = (x.clone() for x in statistics)  # they are written
        if not is_tracking:
            return aten.native_batch_norm(x, weight, bias, None, None, True, 0.1, 1e-5)
        return *aten.native_batch_norm(x, weight, bias, mean, var, True, 0.1, 1e-5), mean, var

    return run, (torch.randn(8, 32, 40, 40), torch.randn(32), torch.randn(32), torch.zeros(32), torch.ones(32))


def log_softmax_backward():
    torch.manual_seed(0)
    args = torch.randn(300, 1000), torch.randn(300, 1000).log_softmax(1)
    return lambda grad, y: aten._log_softmax_backward_data(grad, y, 1, torch.float32), args


def rows(dtype=torch.float32):
    """Different numbers, in any order."""
    torch.manual_seed(0)
    return (torch.randperm(1 << 18).reshape(512, 512).to(dtype) / 1000,)


def places():
    torch.manual_seed(0)
    return torch.randn(512, 512), torch.randint(512, (512, 512))


def attention(dtype=torch.float32, **options):
    torch.manual_seed(0)
    args = torch.randn(2, 8, 300, 32), torch.randn(2, 8, 260, 32), torch.randn(2, 8, 260, 32)
    return lambda *args: F.scaled_dot_product_attention(*args, **options), tuple(x.to(dtype) for x in args)


def attention_backward(**options):
    run, args = attention(**options)

    def backward(grad, *args):
        args = [x.detach().requires_grad_() for x in args]
        return torch.autograd.grad(run(*args), args, grad)

    return backward, (torch.randn(2, 8, 300, 32), *args)


def bf16(*sizes):
    torch.manual_seed(0)
    return tuple(torch.randn(size).bfloat16() for size in sizes)


LAST = torch.channels_last
ATTENTION = "_scaled_dot_product_fused_attention_overrideable"
# name: (overload of the row, function and arguments)
KERNELS = {
    "max_pool_backward": ("max_pool2d_with_indices_backward.grad_input", *pooled()),
    "convolution": ("convolution_overrideable", *convolution()),
    "convolution_bf16": ("convolution_overrideable", *convolution(torch.bfloat16)),
    "convolution_depthwise": ("convolution_overrideable", *convolution(torch.bfloat16, groups=16)),
    "convolution_channels_last": ("convolution_overrideable", *convolution(memory_format=LAST)),
    "convolution_backward": ("convolution_backward_overrideable", *convolution_backward([True, True, True])),
    "convolution_backward_weight": ("convolution_backward_overrideable", *convolution_backward([False, True, False])),
    "convolution_backward_channels_last": (
        "convolution_backward_overrideable",
        *convolution_backward([True, True, False], memory_format=LAST),
    ),
    "mm": ("mm.out", lambda a, b: a @ b.t(), bf16((512, 512), (512, 512))),
    "addmm": ("addmm.out", lambda a, b, c: torch.addmm(a, b, c), bf16((512,), (512, 512), (512, 512))),
    "bmm": ("bmm.out", torch.bmm, bf16((4, 300, 300), (4, 300, 300))),
    "baddbmm": ("baddbmm.out", lambda a, b, c: torch.baddbmm(a, b, c), bf16((300,), (4, 300, 300), (4, 300, 300))),
    "softmax": ("_softmax.out", lambda x: x.softmax(0), (torch.cat([special(64, 64), torch.randn(4096, 64)]),)),
    "layer_norm": ("native_layer_norm", *layer_norm()),
    "layer_norm_backward": ("native_layer_norm_backward", *layer_norm_backward()),
    "batch_norm_backward": ("native_batch_norm_backward", *batch_norm_backward()),
    "batch_norm_backward_channels_last": ("native_batch_norm_backward", *batch_norm_backward(LAST)),
    "attention": (ATTENTION, *attention()),
    "attention_causal": (ATTENTION, *attention(torch.bfloat16, is_causal=True)),
    "attention_backward": (f"{ATTENTION}_backward", *attention_backward(is_causal=True)),
    "attention_scale": (ATTENTION, *attention(scale=32**-0.5)),  # the default one
    "attention_scale_backward": (f"{ATTENTION}_backward", *attention_backward(scale=32**-0.5)),
    "batch_norm": ("native_batch_norm", *batch_norm()),
    "batch_norm_without_statistics": ("native_batch_norm", *batch_norm(is_tracking=False)),
    "log_softmax": ("_log_softmax.out", lambda x: x.log_softmax(1), (special(600, 500),)),
    "log_softmax_backward": ("_log_softmax_backward_data.out", *log_softmax_backward()),
    "sort": ("sort.values_stable", lambda x: x.sort(stable=True, dim=1), (special(512, 512),)),
    "topk": ("topk.values", lambda x: x.topk(10), rows()),
    "rfft": ("_fft_r2c", torch.fft.rfft, (torch.randn(512, 512),)),
    "cumsum": ("cumsum.out", lambda x: x.cumsum(1), (special(5, 40),)),
    "cumsum_of_integers": ("cumsum.out", lambda x: x.cumsum(0), (torch.arange(100, dtype=torch.uint8),)),
}
# Called where the program is nothing else.
ALONE = {
    "sin": ("sin.out", torch.sin, rows()),
    "cos": ("cos.out", torch.cos, rows()),
    "gelu_bf16": ("gelu.out", F.gelu, bf16((512, 512))),
    "sum": ("sum.IntList_out", lambda x: x.sum(1), rows()),
    "sum_bf16": ("sum.IntList_out", lambda x: x.sum((0, 1), dtype=torch.float32), bf16((512, 512))),
    "mean": ("mean.out", lambda x: x.mean(0), rows()),
    "amax": ("amax.out", lambda x: x.amax(1), (special(512, 512),)),
    "amin": ("amin.out", lambda x: x.amin((0, 1)), rows()),
    "max": ("max", torch.max, (special(512, 512),)),
    "min": ("min", torch.min, rows()),
    "cat": ("cat.out", lambda x, y: torch.cat((x, y)), (*rows(), torch.randn(3, 512))),
    "gather": ("gather.out", lambda x, i: x.gather(1, i), places()),
    "scatter_add": ("scatter_add.out", lambda x, i: x.scatter_add(1, i, x), places()),
}
KERNELS |= ALONE


def calls_of(overload):
    torch.tpu.synchronize()  # a call is counted when it has run
    return torch.tpu.host_kernel_calls().get(f"aten::{overload}", 0)


def result_on(device, function, args):
    return tree_map(lambda x: x.cpu(), function(*(arg.to(device) for arg in args)))


@pytest.mark.parametrize("mode", ["strict", "fused"], indirect=True)
@pytest.mark.parametrize("name", KERNELS)
def test_results_are_those_of_the_cpu(name, mode):
    overload, function, args = KERNELS[name]
    before = calls_of(overload)
    assert_close(result_on("tpu", function, args), function(*args), rtol=0, atol=0, equal_nan=True)
    assert calls_of(overload) == before + 1


@pytest.mark.parametrize("mode", ["strict", "fused"], indirect=True)
@pytest.mark.parametrize("name", KERNELS)
def test_the_generic_lowering_gives_them_too(name, mode):
    overload, function, args = KERNELS[name]
    torch.tpu.set_host_kernels(False)
    before = calls_of(overload)
    rounding = 2e-2 if args[0].dtype == torch.bfloat16 else 1e-5
    expected = function(*args)
    assert_close(result_on("tpu", function, args), expected, rtol=rounding, atol=20 * rounding, equal_nan=True)
    assert calls_of(overload) == before


@pytest.mark.parametrize("mode", ["fused"], indirect=True)
@pytest.mark.parametrize("name", ALONE)
def test_what_fuses_with_others_stays_in_their_program(name, mode):
    overload, function, args = ALONE[name]
    before = calls_of(overload)
    found = result_on("tpu", lambda x, *args: function(x * 1, *args), args)
    assert_close(found, function(*args), rtol=1e-2, atol=1e-3, equal_nan=True)
    assert calls_of(overload) == before


@pytest.mark.parametrize("mode", ["strict", "fused"], indirect=True)
@pytest.mark.parametrize("name", ["gather", "scatter_add"])
def test_a_kernel_that_checks_values_raises_as_the_cpu_does(name, mode):
    """In the call, or in mode fused at the next read; and what it would have written is as it was."""
    overload, function, (x, index) = ALONE[name]
    index = index.clone()
    index[3, 4] = 512
    with pytest.raises(RuntimeError, match="index 512 is out of bounds for dimension 1 with size 512"):
        function(x, index)
    x, index = x.to("tpu"), index.to("tpu")
    with pytest.raises(RuntimeError, match="index 512 is out of bounds for dimension 1 with size 512"):
        function(x, index).cpu()
    assert_close(x.sum().cpu(), ALONE[name][2][0].sum(), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("name", ["convolution_channels_last", "max_pool_backward"])
def test_in_torch_compile(name):
    overload, function, args = KERNELS[name]
    torch._dynamo.reset()
    compiled = torch.compile(lambda *args: function(*args) + 1, fullgraph=True)
    before, programs = calls_of(overload), torch.tpu.compile_stats()["programs"]
    expected = function(*args) + 1
    for _ in range(2):
        assert_close(result_on("tpu", compiled, args), expected, rtol=0, atol=0, equal_nan=True)
    assert calls_of(overload) == before + 2
    assert torch.tpu.compile_stats()["programs"] == programs + 1


@pytest.mark.parametrize("mode", ["fused"], indirect=True)
def test_a_segment_with_one_is_one_program(mode):
    _, function, args = KERNELS["max_pool_backward"]
    args = [arg.to("tpu") for arg in args]
    torch.tpu.synchronize()
    torch.tpu.reset_host_ops()
    before = torch.tpu.cache_stats()["misses"]
    result = (function(args[0] * 3, *args[1:]) * 2).sum().item()
    assert torch.tpu.cache_stats()["misses"] == before + 1
    assert torch.tpu.host_ops() == []
    assert math.isclose(result, 6 * args[0].sum().item(), rel_tol=1e-4)


def test_operands_and_results_in_other_orders():
    """A program hands over what is dense as it lies, and results come as their tensors lie."""
    window = ([2, 2], [2, 2], [0, 0], [1, 1], False)

    def run(x, grad):
        x, grad = x.to(memory_format=LAST), grad.transpose(0, 1)
        _, indices = aten.max_pool2d_with_indices(x, *window)
        y = aten.max_pool2d_with_indices_backward(grad, x, *window, indices)
        assert y.is_contiguous(memory_format=LAST)
        return y

    args = torch.randn(3, 4, 6, 8), torch.randn(4, 3, 3, 4)
    before = calls_of("max_pool2d_with_indices_backward.grad_input")
    assert_close(result_on("tpu", run, args), run(*args), rtol=0, atol=0)
    assert calls_of("max_pool2d_with_indices_backward.grad_input") == before + 1


def test_the_number_of_threads_is_torchs():
    before, (_, function, args) = torch.get_num_threads(), KERNELS["convolution"]
    expected = function(*args)
    for count in (1, 2):
        torch.set_num_threads(count)
        assert_close(result_on("tpu", function, args), expected)
    torch.set_num_threads(before)


def test_memory_is_lent_to_the_kernel_only():
    """A kernel without an `out=` form makes its result in the program's memory; tensors made later have their own."""
    _, function, args = KERNELS["layer_norm"]
    expected = function(*args)[0]
    on_device = function(*(arg.to("tpu") for arg in args))[0]
    torch.tpu.synchronize()
    for _ in range(3):
        torch.empty_like(expected).fill_(7)
    assert_close(on_device.cpu(), expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    "options",
    [{"attn_mask": torch.ones(300, 260, dtype=torch.bool).tril(20)}, {"dropout_p": 1.0}, {"scale": 0.3}],
    ids=["mask", "dropout", "scale"],
)
def test_attention_that_the_kernel_does_not_take(options):
    function, args = attention(**options)
    options = {name: x.to("tpu") if isinstance(x, torch.Tensor) else x for name, x in options.items()}
    before = calls_of(ATTENTION)
    result = F.scaled_dot_product_attention(*(arg.to("tpu") for arg in args), **options)
    assert_close(result.cpu(), function(*args), rtol=1e-4, atol=1e-5)
    assert calls_of(ATTENTION) == before


def test_a_scale_that_changes_compiles_nothing():
    _, args = attention()
    args = [arg.to("tpu") for arg in args]
    F.scaled_dot_product_attention(*args, scale=0.1).cpu()
    before = torch.tpu.cache_stats()["misses"]
    for scale in (0.2, 0.3):
        F.scaled_dot_product_attention(*args, scale=scale).cpu()
    assert torch.tpu.cache_stats()["misses"] == before


def test_no_elements():
    overload, function, (x, weight, bias) = KERNELS["convolution"]
    before = calls_of(overload)
    assert function(x[:0].to("tpu"), weight.to("tpu"), bias.to("tpu")).shape == (0, 32, 24, 24)
    assert calls_of(overload) == before


SCRIPT = """
    import json, torch
    torch.manual_seed(0)
    x = torch.randn(2, 2, 8, 8, requires_grad=True)
    y = x.detach().to("tpu").requires_grad_()
    for z in (x, y):
        torch.nn.functional.max_pool2d(z, 3, 2, 1).square().sum().backward()
    agrees = torch.allclose(x.grad, y.grad.cpu())
    called = "aten::max_pool2d_with_indices_backward.grad_input" in torch.tpu.host_kernel_calls()
    print(json.dumps([agrees, called, torch.tpu.cache_stats()["compiles"]]))
"""


@pytest.mark.parametrize("mode", ["strict", "fused"])
def test_programs_on_disk_are_of_one_setting(python, tmp_path, mode):
    def run(switch):
        environment = dict(TORCH_TPU_CACHE_DIR=str(tmp_path), TORCH_TPU_HOST_KERNELS=switch, TORCH_TPU_MODE=mode)
        agrees, called, compiles = json.loads(python(SCRIPT, **environment)[0])
        assert agrees and called == (switch == "on")
        return compiles

    assert run("on") > 0
    assert run("off") > 0  # not those with host kernels
    assert run("on") == run("off") == 0  # a loaded program finds its kernel


# Entries of op_db whose samples meet a row with a host kernel.
ENTRIES = {
    "nn.functional.conv1d", "nn.functional.conv2d", "nn.functional.conv3d", "nn.functional.conv_transpose1d",
    "nn.functional.conv_transpose2d", "nn.functional.conv_transpose3d", "nn.functional.max_pool2d", "mm", "addmm",
    "bmm", "baddbmm", "nn.functional.linear", "cumsum",
}  # fmt: skip


def cases():
    for op in op_db:
        if op.full_name not in ENTRIES:
            continue
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.complex64):
            if dtype in op.supported_dtypes("cpu"):
                marks = [] if dtype.is_floating_point else [pytest.mark.slow]
                yield pytest.param(op, dtype, id=f"{op.full_name}-{str(dtype).removeprefix('torch.')}", marks=marks)


@pytest.mark.parametrize(("op", "dtype"), list(cases()))
def test_samples(op, dtype):
    for arguments in samples_of(op, dtype, False, 6):
        check_sample(op, arguments)


@pytest.mark.parametrize(
    "op", [case.values[0] for case in cases() if case.values[1] == torch.float32], ids=lambda op: op.full_name
)
def test_gradients_of_samples(op):
    for arguments in samples_of(op, torch.float32, True, 4):
        check_gradient(op, arguments)
