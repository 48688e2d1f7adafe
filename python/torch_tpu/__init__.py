"""torch_tpu: PyTorch programs on device `tpu`, through StableHLO and any PJRT plugin.

`import torch` calls `_autoload()` by itself (entry point group `torch.backends`), unless
TORCH_DEVICE_BACKEND_AUTOLOAD=0; `import torch_tpu` does the same, and doing both is harmless. It makes the device known
to torch and loads no plugin; that happens at the first tensor. Whatever goes wrong here leaves the device off with one
warning and never breaks `import torch`.
"""

import atexit
import sys

BUILT_FOR_TORCH = "2.13"  # the minor that _C was compiled for; another one has other vtables and would crash

_state = "new"  # -> "on" | "off"
_reason = ""  # why it is off


def _autoload() -> None:
    """Makes device `tpu` known to torch, once. Never raises."""
    global _state, _reason
    if _state != "new":
        return
    _state = "off"
    try:
        reason = _reason_to_stay_off()
        if reason is None:
            _register()
            _state = "on"
            return
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    _reason = reason
    _warn(f"torch_tpu leaves device `tpu` off: {reason}")


def _reason_to_stay_off() -> str | None:
    """What can be known to fail before any of our machine code is loaded."""
    import torch

    version = torch.__version__
    if ".".join(version.split(".")[:2]) != BUILT_FOR_TORCH:
        return f"it was built for torch {BUILT_FOR_TORCH}, and torch {version} is installed. Install matching versions."
    if _is_installed("torch-tpu"):
        return (
            "the distribution `torch-tpu` is installed too, and both provide the package `torch_tpu`. "
            "Uninstall one of `torch-tpu` and `torchtpu`, then reinstall the other."
        )
    name = torch._C._get_privateuse1_backend_name()
    if name not in ("privateuseone", "tpu"):
        return f"backend `{name}` is loaded already, and torch has room for one such backend per process."
    return None


def _is_installed(name: str) -> bool:
    # torch has just asked importlib.metadata for the entry points, so the folders are listed and cached.
    import importlib.metadata

    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _register() -> None:
    import torch

    from torch_tpu import _C, sharing, tpu
    from torch_tpu.on_import import on_import

    _C.set_plugin_finder(_find_plugin)
    torch.utils.rename_privateuse1_backend("tpu")
    torch._register_device_module("tpu", tpu)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    tpu._follow_optimizers()
    _C.set_compile_listener(tpu._log_compile)
    on_import("torch._dynamo.backends.registry", lambda registry: registry.set_default_backend(_default_backend))
    on_import("safetensors", _advise)
    # torch's own default for a device like this one is float16, which a TPU has no units for. It is kept per thread.
    torch.set_autocast_dtype("tpu", torch.bfloat16)
    # Autograd has a thread of its own for each device that is no CPU, which costs a small step as much time as all of
    # its ops, and takes the lines of Python from what the backward pass does. Kept per thread, too.
    torch.autograd.set_multithreading_enabled(False)
    sharing.register()
    atexit.register(_C.shut_down)
    if torch.distributed.is_available():
        torch.distributed.Backend.register_backend(
            "tpu_dist", _create_process_group, extended_api=True, devices=["tpu"]
        )


def _create_process_group(options, backend_options):
    from torch_tpu import distributed

    return distributed.create_process_group(options, backend_options)


def _advise(safetensors):
    from torch_tpu import integrations

    integrations.advise(safetensors)


def _default_backend(gm, example_inputs, **kwargs):
    """What torch.compile uses when no backend is named: see torch_tpu/compiler.py."""
    from torch_tpu import compiler

    return compiler.default_backend(gm, example_inputs, **kwargs)


def _find_plugin():
    from torch_tpu import plugins

    return plugins.find()


def _warn(message: str) -> None:
    import warnings

    try:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    except RuntimeWarning:  # python -W error: even then `import torch` must work
        print(message, file=sys.stderr)


def __getattr__(name: str):
    if name == "__version__":
        from importlib.metadata import version

        return version("torchtpu")
    if name == "dlpack":
        from torch_tpu.exchange import dlpack

        return dlpack
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# When torch_tpu is imported first, `import torch` comes back here for _autoload while this module is only half
# imported; everything above is there by then.
import torch as _torch  # noqa: E402, F401

_autoload()
