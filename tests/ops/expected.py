"""What opinfo_test.py, module_db_test.py and the sweep leave out, compare loosely or expect to differ, with reasons.

A kind is a variant of the sweep or a test of opinfo_test.py; "forward on host-off" is a variant in one setting only,
"forward by lowering" one where no program calls a host kernel.
"""

import torch

_NO_COMPLEX_HALF = "StableHLO has no complex of half precision"

# OpInfo entries that are no matter of a dense device, by reason.
LEFT_OUT = {
    "compiles CUDA source": (
        "jiterator_2inputs_2outputs", "jiterator_4inputs_with_extra_args", "jiterator_binary",
        "jiterator_binary_return_by_ref", "jiterator_unary",
    ),
    "makes or reads sparse tensors": ("to_sparse", "sparse.mm.reduce", "sparse.sampled_addmm"),
    "CUDA kernels without a CPU kernel": (
        "torch.ops.aten._flash_attention_forward", "torch.ops.aten._efficient_attention_forward",
    ),
    "wants a tensor on the CPU beside one on the device; the sweep moves all": ("tensor_split",),
    _NO_COMPLEX_HALF: ("chalf",),
    "reads elements outside of its input's view, which a copy to a device does not carry along": (
        "as_strided.partial_views",
    ),
}  # fmt: skip

# Uninitialised memory or random numbers: only shape, dtype and device can be compared.
RANDOM = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "bernoulli", "cauchy",
    "exponential", "geometric", "log_normal", "multinomial", "normal", "normal.in_place", "normal.number_mean",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform", "nn.functional.dropout",
    "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.alpha_dropout",
    "nn.functional.feature_alpha_dropout.with_train",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.rrelu",
    "nn.functional.multi_head_attention_forward", "nn.functional.scaled_dot_product_attention", "pca_lowrank",
    "svd_lowrank",
}  # fmt: skip

# Linear algebra beside what stands in OpInfo's own list of it.
OLD_LINEAR_ALGEBRA = {
    "cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "logdet", "lu", "lu_solve", "lu_unpack", "matrix_exp",
    "ormqr", "pinverse", "qr", "svd", "triangular_solve",
}  # fmt: skip

# Entries of linear algebra that need an op without a lowering, and that op.
WITHOUT_LOWERING = {
    "linalg.cond": "_linalg_svd",
    "linalg.eig": "linalg_eig",
    "linalg.eigvals": "_linalg_eigvals",
    "linalg.ldl_factor": "linalg_ldl_factor_ex",
    "linalg.ldl_factor_ex": "linalg_ldl_factor_ex",
    "linalg.ldl_solve": "linalg_ldl_solve",
    "linalg.matrix_rank": "_linalg_svd",
    "linalg.pinv": "_linalg_svd",
    "linalg.pinv.singular": "_linalg_svd",
    "linalg.svd": "_linalg_svd",
    "linalg.svdvals": "_linalg_svd",
    "pinverse": "_linalg_svd",
    "svd": "_linalg_svd",
}

_TOLERANCE = {
    torch.float32: (2e-5, 2e-5),
    torch.bfloat16: (2e-2, 2e-2),
    torch.complex64: (5e-5, 5e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
    torch.float16: (2e-3, 2e-3),
}

# Ops whose float32 result depends on the order of many additions, or whose formula loses digits on both devices.
_LOOSER = {
    "cdist": 1e-3, "linalg.lstsq": 1e-3, "linalg.pinv": 1e-3, "linalg.matrix_power": 1e-3, "cov": 1e-4,
    "corrcoef": 1e-4, "linalg.cond": 1e-3, "matrix_exp": 2e-3, "linalg.matrix_exp": 2e-3,
    "polygamma": 1e-4, "digamma": 1e-4,
}  # fmt: skip

# Ops whose CPU kernel rounds to bfloat16 in between (after each dimension), where a program rounds once.
_LOOSER_BFLOAT16 = {"nn.functional.interpolate": 6e-2}


def tolerance(name, dtype):
    rtol, atol = _TOLERANCE.get(dtype, (0, 0))
    if dtype == torch.bfloat16:
        atol = max([atol, *(looser for op, looser in _LOOSER_BFLOAT16.items() if name.startswith(op + "."))])
    for op, looser in _LOOSER.items():
        if name == op or name.startswith((op + "_", op + ".")):
            if dtype in (torch.float32, torch.complex64):
                return max(rtol, looser), max(atol, looser)
    return rtol, atol


def is_left_out(name):
    return any(name in names for names in LEFT_OUT.values())


# (kind, op, dtype) -> reason. dtype None: all of them.
_TIES = "which of equal elements comes first is PyTorch's choice, and differs between its own kernels; the values agree"
_ROUNDS_ONCE = "sums are kept in float32 and rounded once; the CPU rounds every partial sum to bfloat16"
_ROUNDS_PRODUCTS = "differences of products are computed in float32 and rounded once; the CPU rounds each product first"
_CONTIGUOUS = (
    "contiguous, as torch's meta function and its fake tensors on this device say, which compiled graphs go by; the "
    "CPU's own kernel keeps channels_last"
)
_ROUNDS_ONCE_HALF = (
    "computed in float32 and rounded once; the CPU rounds every step to float16 and is further from float64's result"
)
_FLOAT32_MOMENTS = "mean and rstd are float32 as on CUDA and in torch's meta function"
_COMPOSITE_ADDR = "PyTorch's composite kernel broadcasts the first argument; the CPU's own only expands it"
_NO_TRANSFORMS = "a batch of no transforms is an empty result here; the CPU's MKL has no plan for it and raises"
_DIFFERS: dict[tuple[str, str, torch.dtype | None], str] = {
    ("forward", "cross", torch.bfloat16): _ROUNDS_PRODUCTS,
    ("forward", "linalg.cross", torch.bfloat16): _ROUNDS_PRODUCTS,
    ("forward", "sort", torch.bfloat16): _TIES,
    ("forward", "sort", torch.bool): _TIES,
    ("forward", "argsort", torch.bfloat16): _TIES,
    ("forward", "argsort", torch.bool): _TIES,
    ("forward", "topk", torch.bfloat16): _TIES,
    ("forward", "topk", torch.int64): _TIES,
    ("forward", "kthvalue", torch.int64): _TIES,
    **{("forward", op, torch.uint8): _TIES for op in ("sort", "argsort", "topk", "kthvalue")},
    **{("forward", op, torch.int32): _TIES for op in ("topk", "kthvalue")},
    ("forward", "addbmm", torch.bfloat16): _ROUNDS_ONCE,
    ("forward", "addr", torch.bfloat16): _ROUNDS_ONCE,
    # oneDNN's kernel, which a program calls, does the same.
    ("forward by lowering", "nn.functional.conv_transpose2d", torch.bfloat16): _ROUNDS_ONCE,
    ("forward by lowering", "nn.functional.conv_transpose3d", torch.bfloat16): _ROUNDS_ONCE,
    ("forward", "_unsafe_masked_index_put_accumulate", torch.bfloat16): _ROUNDS_ONCE,
    ("forward", "nn.functional.grid_sample", torch.bfloat16): _ROUNDS_ONCE,
    ("forward", "grid_sampler_2d", torch.bfloat16): _ROUNDS_ONCE,
    ("forward", "grid_sampler_3d", torch.bfloat16): _ROUNDS_ONCE,
    ("forward", "native_layer_norm", torch.bfloat16): _FLOAT32_MOMENTS,
    ("forward", "native_layer_norm", torch.float16): _FLOAT32_MOMENTS,
    ("forward", "complex", torch.float16): _NO_COMPLEX_HALF,
    ("forward", "view_as_complex", torch.float16): _NO_COMPLEX_HALF,
    ("forward", "sort", torch.float16): _TIES,
    ("forward", "argsort", torch.float16): _TIES,
    **{
        ("forward", op, torch.float16): _ROUNDS_ONCE_HALF
        for op in (
            "_unsafe_masked_index_put_accumulate",
            "addbmm",
            "addr",
            "grid_sampler_2d",
            "grid_sampler_3d",
            "nn.functional.conv_transpose1d",
            "nn.functional.conv_transpose2d",
            "nn.functional.conv_transpose3d",
            "nn.functional.grid_sample",
            "nn.functional.interpolate.trilinear",
        )
    },
    **{
        (kind, op, None): _CONTIGUOUS
        for kind, ops in {
            "channels_last": (
                "nn.functional.conv2d",
                "nn.functional.conv_transpose2d",
                "nn.functional.pad.reflect",
                "nn.functional.pad.replicate",
                "nn.functional.pad.replicate_negative",
                "nn.functional.max_unpool2d",
                "nn.functional.max_unpool2d.grad",
                "nn.functional.pixel_shuffle",
                "nn.functional.channel_shuffle",
            ),
            "gradient of channels_last": (
                "nn.functional.conv2d",
                "nn.functional.conv_transpose2d",
                "nn.functional.pad.reflect",
                "nn.functional.pad.replicate",
                "nn.functional.pad.replicate_negative",
                "nn.functional.pixel_shuffle",
                "nn.functional.channel_shuffle",
            ),
        }.items()
        for op in ops
    },
    ("column-major", "native_group_norm", None): "the CPU refuses what is not dense; this device takes any strides",
    ("column-major", "normal", None): "strides are those of torch's meta function; the CPU's come out row-major",
    ("no elements", "addr", torch.float32): _COMPOSITE_ADDR,
    ("no elements", "fft.irfft2", torch.float32): _NO_TRANSFORMS,
    (
        "forward on host-off",
        "linalg.eigh",
        None,
    ): "an eigenvector times -1 is one too: LAPACK and the lowering differ in signs",
    **{
        (
            "forward on host-off",
            f"linalg.lstsq{form}",
            None,
        ): "the solution is dense; LAPACK's is a view of as many rows as the matrix has"
        for form in ("", ".grad_oriented")
    },
    ("gradient", "linalg.eig", None): "the phase of eigenvectors is free, so this weighting has no defined gradient",
}


# What only some of all samples show, `make opinfo`.
_WITH_ALL_SAMPLES: dict[tuple[str, str, torch.dtype | None], str] = {
    ("forward", "nn.functional.instance_norm", torch.bfloat16): "computed in float32 and rounded once; the CPU rounds "
    "scale and shift to bfloat16 first",
    **{
        (
            "forward",
            "mode",
            dtype,
        ): "which of many equal elements the index names is free; the CPU's depends on how its sort moves them"
        for dtype in (torch.int64, torch.int32, torch.uint8, torch.bfloat16, torch.bool, torch.float16)
    },
    **{
        (
            "forward",
            f"special.bessel_{op}",
            torch.float64,
        ): "the CPU's is off by up to 3e-7 between 5 and 6, ours by 3e-17"
        for op in ("j0", "y1")
    },
    **{
        ("forward", op, dtype): _CONTIGUOUS
        for op in ("nn.functional.max_unpool2d", "nn.functional.max_unpool2d.grad")
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16)
    },
}


def reason(kinds, name, dtype, all_samples=False):
    """The first that one of `kinds` has, or None."""
    tables = (_DIFFERS, _WITH_ALL_SAMPLES) if all_samples else (_DIFFERS,)
    found = (table.get((kind, name, which)) for kind in kinds for table in tables for which in (dtype, None))
    return next(filter(None, found), None)
