"""torch.autocast("tpu") and GradScaler: the lists of CUDA and the CPU, default type, loss scaling."""

import pytest
import torch
from torch.testing._internal.autocast_test_lists import AutocastTestLists

registered = torch._C._dispatch_get_registrations_for_dispatch_key

# On the CPU in float32 or the widest type because its kernels want it; here they take half types, as on CUDA.
TAKES_HALF_TYPES = {
    "_addmm_activation",
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "avg_pool3d",
    "cat",
    "conv1d.padding",
    "conv2d.padding",
    "conv3d.padding",
    "cross_entropy_loss",
    "ctc_loss.IntList",
    "ctc_loss.Tensor",
    "fake_quantize_per_tensor_affine",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "index_copy",
    "max_pool3d",
    "max_unpool2d",
    "max_unpool3d",
    "multilabel_margin_loss_forward",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "stack",
    "trace",
}
# Ops of other devices' own.
NOT_OURS = {
    "_grid_sampler_2d_cpu_fallback",
    "_native_multi_head_attention",
    "cudnn_convolution",
    "cudnn_convolution_transpose",
    "mkldnn_rnn_layer",
}


def names(key):
    return {name.removeprefix("aten::") for name in registered(key)}


def test_lists_are_complete():
    ours = names("AutocastPrivateUse1")
    assert names("AutocastCUDA") - ours - NOT_OURS == set()
    assert names("AutocastCPU") - ours - NOT_OURS == TAKES_HALF_TYPES


def walk(list_name):
    """The rows of one of torch's own lists: op, arguments on tpu, keyword arguments."""
    for name, args, *rest in getattr(AutocastTestLists(torch.device("tpu")), list_name):
        if name in NOT_OURS or isinstance(args, str):  # the row of einsum does not fit its equation
            continue
        yield name, args, next((each for each in rest if isinstance(each, dict)), {})


def call(name, args, options):
    modules = (torch.Tensor,) if name.startswith("__") else (torch, torch.nn.functional, torch._C._nn, torch._C._linalg)
    for module in modules:
        if hasattr(module, name):
            return getattr(module, name)(*args, **options)
    raise AssertionError(name)


def dtypes(result):
    results = result if isinstance(result, (tuple, list)) else (result,)
    return {each.dtype for each in results if isinstance(each, torch.Tensor) and each.is_floating_point()}


LISTS = [  # and the type of the results; None: autocast's own
    ("torch_fp16", None),
    ("nn_fp16", None),
    ("linalg_fp16", None),
    ("methods_fp16", None),
    ("torch_fp32", torch.float32),
    ("nn_fp32", torch.float32),
    ("methods_fp32", torch.float32),
    ("torch_need_autocast_promote", torch.float32),
]


HALF = (torch.float16, torch.bfloat16)
CASES = [(name, expected, dtype) for name, expected in LISTS for dtype in HALF]
# Its arguments are float16, which the other autocast does not promote.
CASES.remove(("torch_need_autocast_promote", torch.float32, torch.bfloat16))


@pytest.mark.parametrize(("list_name", "expected", "dtype"), CASES, ids=str)
@pytest.mark.filterwarnings("ignore:.*has no lowering")
def test_result_types_of_torchs_lists(list_name, expected, dtype):
    wrong = []
    for name, args, options in walk(list_name):
        with torch.autocast("tpu", dtype=dtype):
            result = call(name, args, options)
        if dtypes(result) - {expected or dtype}:
            wrong.append((name, dtypes(result)))
    assert wrong == []


def test_promoted_expressions():
    rows = AutocastTestLists(torch.device("tpu"))
    wrong = []
    for name, args, expected in rows.torch_expect_builtin_promote + rows.methods_expect_builtin_promote:
        if name == "__div__":  # Python 2's
            continue
        with torch.autocast("tpu", dtype=torch.float16):
            result = call(name, args, {})
        if isinstance(result, torch.Tensor) and result.dtype != expected:
            wrong.append((name, result.dtype, expected))
    assert wrong == []


@pytest.mark.parametrize(
    "op",
    [
        lambda x: torch.linalg.inv(x),
        lambda x: torch.linalg.svdvals(x),
        lambda x: torch.linalg.solve(x, x),
        lambda x: torch.linalg.matrix_rank(x, atol=0.1, rtol=0.1),
        lambda x: torch.fft.rfft(x),
        lambda x: torch.fft.fft2(x),
        lambda x: torch.quantile(x, 0.5),
        lambda x: torch.nn.functional.binary_cross_entropy(x.sigmoid(), x.sigmoid()),
    ],
)
@pytest.mark.filterwarnings("ignore:.*has no lowering")
def test_ops_without_half_types_run_in_float32(op):
    x = (torch.eye(4) * 2 + 0.5).to("tpu", torch.bfloat16)
    with torch.autocast("tpu"):
        result = op(x)
    assert result.dtype in (torch.float32, torch.complex64, torch.int64)


@pytest.mark.parametrize(
    "op",
    [
        lambda x: torch.nn.functional.avg_pool3d(x, 2),
        lambda x: torch.nn.functional.max_pool3d(x, 2),
        lambda x: torch.nn.functional.adaptive_avg_pool3d(x, 1),
        lambda x: torch.nn.functional.pad(x, (1, 1, 1, 1, 1, 1), mode="replicate"),
        lambda x: torch.nn.functional.pad(x[0], (1, 1, 1, 1), mode="reflect"),
        lambda x: torch.cat([x, x]),
        lambda x: torch.stack([x, x]),
        lambda x: x[0, 0, 0].trace(),
        lambda x: torch.nn.functional.grid_sample(x[0], x[0, :, :, :2].permute(0, 2, 3, 1)[..., :2].contiguous()),
    ],
)
def test_ops_that_keep_half_types(op):
    x = torch.ones(1, 2, 4, 4, 4, device="tpu", dtype=torch.bfloat16)
    with torch.autocast("tpu"):
        assert op(x).dtype in (torch.bfloat16, torch.float32)


def test_default_type_and_supported_types():
    assert torch.amp.is_autocast_available("tpu")
    x = torch.ones(4, 4, device="tpu")
    with torch.autocast("tpu"):
        assert torch.is_autocast_enabled("tpu") and (x @ x).dtype == torch.bfloat16
        with torch.autocast("tpu", enabled=False):
            assert (x @ x).dtype == torch.float32
    assert not torch.is_autocast_enabled("tpu")
    with pytest.warns(UserWarning, match="In tpu autocast, but the target dtype is not supported"):
        with torch.autocast("tpu", dtype=torch.float64):
            assert (x @ x).dtype == torch.float32


def test_default_type_in_a_new_process(python):
    out, err = python(
        "import torch; print(torch.get_autocast_dtype('tpu'), torch.tpu.amp.autocast().fast_dtype)",
        flags=["-W", "error"],
    )
    assert (out, err) == ("torch.bfloat16 torch.bfloat16", "")


def test_weights_are_cast_once_and_gradients_are_float32():
    net = torch.nn.Linear(4, 4).to("tpu")
    x = torch.ones(2, 4, device="tpu")
    with torch.autocast("tpu", dtype=torch.bfloat16):
        y = net(net(x))
        loss = torch.nn.functional.mse_loss(y, x)
    loss.backward()
    assert (y.dtype, loss.dtype, net.weight.grad.dtype) == (torch.bfloat16, torch.float32, torch.float32)


def test_custom_functions():
    class Double(torch.autograd.Function):
        @staticmethod
        @torch.tpu.amp.custom_fwd(cast_inputs=torch.float32)
        def forward(context, x):
            assert not torch.is_autocast_enabled("tpu")
            return x * 2

        @staticmethod
        @torch.tpu.amp.custom_bwd
        def backward(context, gradient):
            return gradient * 2

    x = torch.ones(2, device="tpu", dtype=torch.float16, requires_grad=True)
    with torch.tpu.amp.autocast(dtype=torch.float16):
        y = Double.apply(x)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


# --- GradScaler


def scaled_training(device, losses_times):
    """Weights, scales and skipped steps of a few scaled steps; `losses_times[i]` multiplies the loss of step i."""
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 3)
    x = torch.rand(5, 4)
    net.to(device)
    x = x.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler(device, init_scale=256.0, growth_interval=2, growth_factor=4.0)
    scales = []
    for factor in losses_times:
        optimizer.zero_grad()
        loss = net(x).pow(2).mean() * factor
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        assert torch.isfinite(norm).item() == torch.isfinite(torch.tensor(factor)).item()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return net.weight.detach().cpu(), scales, scaler


def test_grad_scaler_like_the_cpu():
    factors = [1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0]
    weight, scales, scaler = scaled_training("tpu", factors)
    expected, expected_scales, _ = scaled_training("cpu", factors)
    assert scales == expected_scales == [256, 1024, 512, 512, 256, 256, 1024]
    torch.testing.assert_close(weight, expected)
    other = torch.amp.GradScaler("tpu")
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 1024


def test_a_step_with_infinite_gradients_changes_nothing():
    weight = torch.ones(3, device="tpu", requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=0.1)
    scaler = torch.tpu.amp.GradScaler(init_scale=4.0)
    scaler.scale((weight * torch.tensor([1.0, float("inf"), 1.0], device="tpu")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1, 1, 1] and scaler.get_scale() == 2.0 and not optimizer.state


def test_scaling_runs_on_the_device():
    torch.tpu.reset_host_ops()
    scaled_training("tpu", [1.0, float("inf")])
    assert torch.tpu.host_ops() == []
