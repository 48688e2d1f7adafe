"""The out= and in-place overloads that PyTorch's functional forms do not go through: each is a row of its own.

The same overload runs on the CPU and on the device, an out= into an empty tensor, which takes the result's shape.
"""

import pytest
import torch
from oracle import assert_same, moved

torch.manual_seed(0)
X, Y = torch.randn(4, 6), torch.randn(4, 6)
UNIT = torch.rand(4, 6) * 0.8 + 0.1
IMAGE, GRADIENT = torch.randn(2, 3, 6, 6), torch.randn(2, 3, 3, 3)
VOLUME = torch.randn(2, 3, 4, 4, 4)
MATRIX, BATCH, OTHER = torch.randn(3, 5), torch.randn(2, 3, 4), torch.randn(2, 4, 5)
BYTES = torch.randint(-128, 128, (32, 32), dtype=torch.int8)
PLACES = torch.tensor([2, 0, 1])
SORTED, SOUGHT = torch.arange(0.0, 9), torch.tensor([0.5, 8.0, -3.0])
CLASSES, CLASS_MAP = torch.tensor([1, 5, 0, 2]), torch.randint(0, 3, (2, 6, 6))
LABELS = torch.tensor([[1, 3, -1, 0, 0, 0]] * 4)
VECTOR, ONE = torch.randn(3), torch.tensor(2.0)
STATISTICS = (torch.randn(3), torch.rand(3) + 0.5)
POOLED, WHERE = torch.nn.functional.max_pool3d(VOLUME, 2, return_indices=True)
POOLED_2D, WHERE_2D = torch.nn.functional.max_pool2d(IMAGE, 2, return_indices=True)
VOLUME_GRADIENT = torch.randn(2, 3, 2, 2, 2)
SHIFTS = torch.randint(0, 4, (4, 6))
PAD_2D, PAD_3D = [1, 2, 1, 1], [1, 2, 1, 1, 1, 2]

# Overload -> arguments, and out= tensors by type (else float32), or whole where the CPU does not size them.
CASES = {
    "relu_": (X,),
    "rrelu_with_noise.out": (X, Y, 0.1, 0.3, False),
    "rrelu_with_noise_": (X, Y, 0.1, 0.3, False),
    "hardtanh.out": (X, -0.5, 0.5),
    "hardtanh_": (X, -0.5, 0.5),
    "hardtanh_backward.grad_input": (Y, X, -0.5, 0.5),
    "hardswish.out": (X * 3,),
    "hardswish_": (X * 3,),
    "silu_backward.grad_input": (Y, X),
    "log_sigmoid_backward.grad_input": (Y, X, X.abs().neg().exp()),
    "logit.out": (UNIT, 0.2),
    "logit_": (UNIT,),
    "glu_backward.grad_input": (Y[:, :3], X, 1),
    "glu_jvp": (X[:, :3], X, Y, 1),
    "glu_backward_jvp": (torch.ops.aten.glu_backward(Y[:, :3], X, 1), Y[:, :3], X, Y[:, 3:], Y, 1),
    "_add_relu.Scalar": (X, 0.5),
    "_add_relu.Tensor": (X, Y),
    "_add_relu.out": (X, Y),
    "_add_relu_.Scalar": (X, 0.5),
    "_add_relu_.Tensor": (X, Y),
    "floor_divide.out": (X, Y),
    "floor_divide_.Tensor": (X, Y),
    "remainder.Scalar_Tensor": (7.5, Y),
    "__lshift__.Scalar": (SHIFTS, 2),
    "__lshift__.Tensor": (SHIFTS, SHIFTS),
    "__rshift__.Scalar": (SHIFTS, 1),
    "__rshift__.Tensor": (SHIFTS, SHIFTS),
    "__ilshift__.Scalar": (SHIFTS, 2),
    "__ilshift__.Tensor": (SHIFTS, SHIFTS),
    "__irshift__.Scalar": (SHIFTS, 1),
    "__irshift__.Tensor": (SHIFTS, SHIFTS),
    "clamp_max.out": (X, 0.5),
    "isin.Scalar_Tensor_out": (2, SHIFTS, {"out": torch.bool}),
    "isin.Tensor_Scalar_out": (SHIFTS, 2, {"out": torch.bool}),
    "angle.out": (X,),
    "mvlgamma.out": (UNIT + 3, 2),
    "im2col.out": (IMAGE, [3, 3], [1, 1], [1, 1], [2, 2]),
    "col2im.out": (torch.randn(2, 27, 9), [6, 6], [3, 3], [1, 1], [1, 1], [2, 2]),
    "addbmm.out": (MATRIX, BATCH, OTHER),
    "addbmm_": (MATRIX, BATCH, OTHER),
    "_addmm_activation.out": (MATRIX, BATCH[0], OTHER[0]),
    "dot.out": (VECTOR, VECTOR),
    "vdot.out": (VECTOR, VECTOR),
    "_int_mm": (BYTES, BYTES),
    "_int_mm.out": (BYTES, BYTES, {"out": torch.empty(32, 32, dtype=torch.int32)}),
    "native_batch_norm.out": (IMAGE, None, None, *STATISTICS, False, 0.1, 1e-5),
    "_native_batch_norm_legit.out": (IMAGE, None, None, *STATISTICS, True, 0.1, 1e-5),
    "_native_batch_norm_legit.no_stats": (IMAGE, None, None, True, 0.1, 1e-5),
    "_native_batch_norm_legit.no_stats_out": (IMAGE, None, None, True, 0.1, 1e-5),
    "_batch_norm_with_update.out": (IMAGE, None, None, *STATISTICS, 0.1, 1e-5, {"reserve": torch.uint8}),
    "batch_norm_update_stats": (IMAGE, *STATISTICS, 0.1),
    "_weight_norm_interface": (X, torch.rand(4, 1), 0),
    "_weight_norm_interface_backward": (Y, X, torch.rand(4, 1), X.norm(dim=1, keepdim=True), 0),
    "max_pool3d_with_indices.out": (VOLUME, [2, 2, 2], {"indices": torch.int64}),
    "max_pool3d_with_indices_backward.grad_input": (
        VOLUME_GRADIENT, VOLUME, [2] * 3, [2] * 3, [0] * 3, [1] * 3, False, WHERE,
    ),
    "max_unpool2d.out": (POOLED_2D, WHERE_2D, [6, 6]),
    "max_unpool3d.out": (POOLED, WHERE, [4, 4, 4], [2, 2, 2], [0, 0, 0]),
    "adaptive_avg_pool2d.out": (IMAGE, [4, 2]),
    "adaptive_avg_pool3d.out": (VOLUME, [2, 3, 2]),
    "adaptive_avg_pool3d_backward.grad_input": (VOLUME_GRADIENT, VOLUME),
    "index_select.out": (MATRIX, 0, PLACES),
    "take.out": (MATRIX, PLACES),
    "scatter.reduce_out": (MATRIX, 0, PLACES.view(1, 3), BATCH[0, :1, :3], {"reduce": "add"}),
    "scatter.value_reduce_out": (MATRIX, 0, PLACES.view(1, 3), 3.0, {"reduce": "multiply"}),
    "narrow_copy.out": (MATRIX, 1, 2, 3),
    "reflection_pad2d": (IMAGE, PAD_2D),
    "reflection_pad2d.out": (IMAGE, PAD_2D),
    "reflection_pad3d.out": (VOLUME, PAD_3D),
    "reflection_pad2d_backward": (torch.randn(2, 3, 8, 9), IMAGE, PAD_2D),
    "reflection_pad2d_backward.grad_input": (torch.randn(2, 3, 8, 9), IMAGE, PAD_2D),
    "reflection_pad3d_backward.grad_input": (torch.randn(2, 3, 7, 6, 7), VOLUME, PAD_3D),
    "replication_pad3d.out": (VOLUME, PAD_3D),
    "replication_pad2d_backward.grad_input": (torch.randn(2, 3, 8, 9), IMAGE, PAD_2D),
    "replication_pad3d_backward": (torch.randn(2, 3, 7, 6, 7), VOLUME, PAD_3D),
    "replication_pad3d_backward.grad_input": (torch.randn(2, 3, 7, 6, 7), VOLUME, PAD_3D),
    "upsample_nearest2d.out": (IMAGE, [4, 9]),
    "upsample_nearest2d_backward.grad_input": (torch.randn(2, 3, 4, 9), [4, 9], [2, 3, 6, 6]),
    "upsample_nearest3d.out": (VOLUME, [3, 9, 4]),
    "upsample_nearest3d_backward.grad_input": (torch.randn(2, 3, 3, 9, 4), [3, 9, 4], [2, 3, 4, 4, 4]),
    "_upsample_nearest_exact2d.out": (IMAGE, [4, 9]),
    "_upsample_nearest_exact2d_backward.grad_input": (torch.randn(2, 3, 4, 9), [4, 9], [2, 3, 6, 6]),
    "_upsample_nearest_exact3d.out": (VOLUME, [3, 9, 4]),
    "_upsample_nearest_exact3d_backward.grad_input": (torch.randn(2, 3, 3, 9, 4), [3, 9, 4], [2, 3, 4, 4, 4]),
    "_upsample_lanczos2d_aa.out": (IMAGE, [4, 9], False),
    "_upsample_lanczos2d_aa_backward.grad_input": (torch.randn(2, 3, 4, 9), [4, 9], [2, 3, 6, 6], False),
    "eye.out": (4,),
    "range.out": (0.5, 4.0, 0.5),
    "prod.int_out": (X, 1),
    "nansum.out": (torch.where(X > 1, torch.nan, X), [1]),
    "max.unary_out": (X,),
    "min.unary_out": (X,),
    "_aminmax": (X,),
    "_aminmax.dim": (X, 1),
    "all.dims_out": (X > 0, [0, 1], {"out": torch.bool}),
    "any.dims_out": (X > 0, [0], {"out": torch.bool}),
    "var.correction_out": (X, [1]),
    "std.correction_out": (X, [0]),
    "norm.dtype_out": (X, 2.0, [1], False, {"dtype": torch.float32}),
    "_logcumsumexp.out": (X, 1),
    "bucketize.Tensor_out": (SOUGHT, SORTED, {"out": torch.int64}),
    "bucketize.Scalar": (3.5, SORTED),
    "searchsorted.Tensor_out": (SORTED, SOUGHT, {"out": torch.int64}),
    "searchsorted.Scalar": (SORTED, 3.5),
    "searchsorted.Scalar_out": (SORTED, 3.5, {"out": torch.int64}),
    "_masked_softmax": (X, Y > 0.5, 1, 2),
    "_masked_softmax_backward": (Y, X.softmax(1), Y > 0.5, 1),
    "mse_loss_backward.grad_input": (ONE, X, Y, 1),
    "huber_loss.out": (X, Y, 1, 0.7),
    "binary_cross_entropy.out": (UNIT, UNIT.flip(0), None, 0, {"out": torch.empty(4, 6)}),
    "binary_cross_entropy_backward.grad_input": (Y, UNIT, UNIT.flip(0), None, 0, {"grad_input": torch.empty(4, 6)}),
    "nll_loss2d_forward.output": (IMAGE, CLASS_MAP, None, 1, -100),
    "nll_loss2d_backward": (ONE, IMAGE, CLASS_MAP, None, 1, -100, torch.tensor(72.0)),
    "nll_loss2d_backward.grad_input": (ONE, IMAGE, CLASS_MAP, None, 1, -100, torch.tensor(72.0)),
    "multi_margin_loss.out": (X, CLASSES),
    "multi_margin_loss_backward.grad_input": (ONE, X, CLASSES, 1, 1.0),
    "multilabel_margin_loss_forward.output": (X, LABELS, 1),
    "multilabel_margin_loss_backward.grad_input": (
        ONE, X, LABELS, 1, torch.tensor([[1.0, 1, 0, 1, 0, 0]] * 4),
    ),
}  # fmt: skip


def overload(name):
    base, _, rest = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), rest or "default")


def runner(name, options):
    """The call, on copies of its arguments, with an empty tensor for each out=."""
    op = overload(name)
    arguments = {argument.name: argument for argument in op._schema.arguments}
    outs = [n for n, a in arguments.items() if a.kwarg_only and a.alias_info and a.alias_info.is_write]

    def run(*args):
        device = next((a.device for a in args if isinstance(a, torch.Tensor)), torch.device("cpu"))
        args = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        given = {}
        for n in outs:
            out = options.get(n, torch.float32)
            out = out if isinstance(out, torch.Tensor) else torch.empty(0, dtype=out)
            given[n] = out.to(device, copy=True)
        return op(*args, **{**options, **given})

    return run


@pytest.mark.parametrize("name", CASES)
def test_form(name):
    *args, options = CASES[name] if isinstance(CASES[name][-1], dict) else (*CASES[name], {})
    if not any(isinstance(a, torch.Tensor) for a in args):  # a factory: out= alone tells the device
        expected, got = torch.empty(0), torch.empty(0, device="tpu")
        overload(name)(*args, out=expected)
        overload(name)(*args, out=got)
        return torch.testing.assert_close(got.cpu(), expected)
    return assert_same(runner(name, options), *args, rtol=2e-5, atol=2e-5, zero_signs=False)


RANDOM = {
    "normal.Tensor_float_out": (X, 2.0),
    "normal.float_Tensor_out": (1.0, UNIT),
    "normal.Tensor_Tensor_out": (X, UNIT),
    "bernoulli.out": (UNIT,),
    "multinomial.out": (UNIT, 3, {"out": torch.int64}),
    "randperm.generator_out": (50, {"generator": None, "out": torch.int64}),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_form(name):
    """The numbers that the functional form, which random_test.py looks at, draws from the same seed."""
    *args, options = RANDOM[name] if isinstance(RANDOM[name][-1], dict) else (*RANDOM[name], {})
    args = moved(args, "tpu")
    torch.manual_seed(3)
    out = torch.empty(0, dtype=options.pop("out", torch.float32), device="tpu") if "out" in options else None
    out = torch.empty(0, device="tpu") if out is None else out
    overload(name)(*args, out=out, **options)
    torch.manual_seed(3)
    functional = getattr(torch, name.partition(".")[0])
    device = {} if any(isinstance(a, torch.Tensor) for a in args) else {"device": "tpu"}
    assert torch.equal(out.cpu(), functional(*args, **device).cpu())


def test_log_sigmoid_forward_out():
    """The second out= is what the backward pass keeps, which is the device's own matter."""
    results = []
    for device in ("cpu", "tpu"):
        output, buffer = (torch.empty(0, device=device) for _ in range(2))
        torch.ops.aten.log_sigmoid_forward.output(X.to(device), output=output, buffer=buffer)
        results.append(output.cpu())
    torch.testing.assert_close(results[1], results[0])
