"""`import torch` with torch_tpu installed: silent, light, and never broken, whatever is or is not there."""

import pytest

import torch_tpu
from torch_tpu import plugins

needs_no_tpu = pytest.mark.skipif(plugins.tpu_chips() > 0, reason="a TPU is attached")

# Shadows of the installed CPU plugin packages, so that none is found.
NO_PLUGINS = ("xla_plugins", "fastatomstruct_xla_cpu", "libtpu")


@pytest.fixture
def no_plugins(tmp_path):
    for name in NO_PLUGINS:
        (tmp_path / f"{name}.py").write_text("raise ImportError('must not be imported')\n")
    return {"path": [tmp_path], "TORCH_TPU_PLUGIN": None}


def test_import_is_silent_and_starts_nothing(python):
    out, err = python(
        """
        import sys, torch
        assert torch.device("tpu", 0).type == "tpu" and not torch.tpu.is_initialized()
        assert torch.tpu is sys.modules["torch.tpu"] and torch.get_device_module("tpu") is torch.tpu
        assert torch.accelerator.current_accelerator() == torch.device("tpu")
        with open("/proc/self/maps") as maps:
            print(maps.read().count("pjrt"))
        """,
        flags=["-W", "error"],
    )
    assert (out, err) == ("0", "")


def test_import_brings_only_our_modules(python):
    names = "import sys, torch; print(*sorted(sys.modules))"
    plain = set(python(names, TORCH_DEVICE_BACKEND_AUTOLOAD="0")[0].split())
    ours = set(python(names)[0].split())
    ours = {name for name in ours - plain if not name.startswith(("importlib.", "email", "zipfile"))}
    assert {name for name in ours if not name.startswith(("torch_tpu", "torch.tpu"))} <= {"csv", "_csv", "zipimport"}


def test_ops_import_nothing(python):
    """A Meta kernel of torch's may be Python's, and bring torch._dynamo: a second for the first op of a process."""
    new, _ = python(
        """
        import sys, torch
        from torch.nn import functional as F
        x = torch.ones(4, 4, device="tpu", requires_grad=True)
        before = set(sys.modules)
        y = F.gelu(F.layer_norm(x.sin() @ x + 1, (4,))).softmax(1).clamp(0, 1) * x.exp() / x.sigmoid()
        F.cross_entropy(y, torch.zeros(4, dtype=torch.long, device="tpu")).backward()
        x.detach().add_(x.grad, alpha=-0.1)
        assert x.isfinite().all()
        print(*(name for name in set(sys.modules) - before if name.startswith("torch._")))
        """
    )
    assert new == ""


def test_the_module_with_the_default_backend_is_still_dear(python):
    """Else on_import serves safetensors only, and torch_tpu may call torch.compiler.set_default_backend at once."""
    loaded = python(
        "import sys, torch, torch._dynamo.backends.registry; print('torch._dynamo.eval_frame' in sys.modules)"
    )
    assert loaded[0] == "True"


@pytest.mark.parametrize("before", ["", pytest.param("import torch._dynamo", marks=pytest.mark.slow)])
def test_the_default_backend_looks_at_the_graph(python, before):
    code = f"""
        {before}
        import torch, torch_tpu
        assert torch.compiler.get_default_backend() is torch_tpu._default_backend
        import torch._dynamo.backends.registry as registry
        assert registry.get_default_backend() is torch_tpu._default_backend
    """
    python(code)
    python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")


def test_import_is_idempotent_and_works_in_any_order(python):
    check = 'assert torch.device("tpu").type == "tpu" and torch_tpu._state == "on" and torch.tpu is torch_tpu.tpu'
    python(f"import torch_tpu, torch; {check}; torch_tpu._autoload(); {check}")
    python(f"import torch, torch_tpu; {check}")
    python(f"import torch, torch_tpu; {check}", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    python("from torch_tpu import api; assert str(api.tpu_device()) == 'tpu'")


def test_autoload_can_be_switched_off(python):
    python(
        """
        import sys, torch
        assert not hasattr(torch, "tpu") and "torch_tpu" not in sys.modules
        torch.ones(2).sum()
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )


@needs_no_tpu
def test_without_a_plugin(python, no_plugins):
    out, err = python(
        """
        import torch
        assert not torch.tpu.is_available() and torch.tpu.device_count() == 0 and not torch.accelerator.is_available()
        x = torch.ones(2, requires_grad=True)
        x.sum().backward()
        torch.manual_seed(0)
        torch.tpu.manual_seed_all(1)
        for use in (torch.tpu.init, torch.tpu.get_device_name, lambda: torch.ones(2, device="tpu"), lambda: x.to("tpu"),
                    lambda: torch.tpu.set_device(1)):
            try:
                use()
            except RuntimeError as error:
                print("pip install xla-cpu-pjrt" in str(error))
        """,
        **no_plugins,
    )
    assert (out.split(), err) == (["True"] * 5, "")


@needs_no_tpu
def test_a_profile_of_the_cpu_without_a_plugin(python, no_plugins):
    out, _ = python(  # torch's profiler writes to standard error by itself
        """
        import torch
        with torch.profiler.profile() as prof:  # the device is among the default activities
            torch.ones(2) + 1
        torch.tpu.synchronize()
        print(any(event.name == "aten::add" for event in prof.events()))
        """,
        **no_plugins,
    )
    assert out == "True"


def test_plugin_variable_that_names_nothing(python):
    out, _ = python(
        """
        import torch
        try:
            torch.tpu.init()
        except RuntimeError as error:
            print(torch.tpu.is_available(), "/no/such/plugin.so is not a file" in str(error))
        """,
        TORCH_TPU_PLUGIN="/no/such/plugin.so",
    )
    assert out == "False True"


@needs_no_tpu
def test_libtpu_without_a_tpu_is_not_touched(python, tmp_path):
    package = tmp_path / "libtpu"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('libtpu was imported')\n")
    (package / "libtpu.so").write_text("not a library")
    out, err = python(
        "import sys, torch; torch.tpu.init(); print(torch.tpu.platform(), 'libtpu' in sys.modules)", path=[tmp_path]
    )
    assert (out, err) == ("cpu False", "")


def test_libtpu_with_a_tpu_comes_first(monkeypatch, tmp_path):
    (tmp_path / "libtpu").mkdir()
    (tmp_path / "libtpu" / "__init__.py").write_text("raise SystemExit('libtpu was imported')\n")
    (tmp_path / "libtpu" / "libtpu.so").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("TORCH_TPU_PLUGIN", raising=False)
    monkeypatch.setattr(plugins, "tpu_chips", lambda: 4)
    assert plugins.find() == (str(tmp_path / "libtpu" / "libtpu.so"), 4, "")


@pytest.mark.parametrize(
    ("files", "vendors", "chips"),
    [
        ([], ["0x1ae0"], 0),
        (["accel0", "accel1"], ["0x8086", "0x1ae0"], 2),
        (["vfio/0", "vfio/3", "vfio/vfio"], ["0x1ae0"], 2),
        (["vfio/0"], ["0x10de"], 0),
        (["accel/accel0"], ["0x8086"], 0),
    ],
)
def test_device_files(tmp_path, files, vendors, chips):
    for file in files:
        (tmp_path / "dev" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev" / file).touch()
    for number, vendor in enumerate(vendors):
        folder = tmp_path / f"sys/bus/pci/devices/0000:00:0{number}.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
    assert plugins.tpu_chips(str(tmp_path)) == chips


def test_built_for_the_installed_torch():
    from torch_tpu import _C

    assert torch_tpu.BUILT_FOR_TORCH == _C.built_for_torch


def test_another_torch_minor(python):
    _, err = python(
        """
        import sys, torch
        torch.__version__ = "2.99.0+cpu"
        import torch_tpu
        torch_tpu._autoload()
        assert "torch_tpu._C" not in sys.modules and not hasattr(torch, "tpu")
        torch.ones(2).sum()
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert err.count("RuntimeWarning") == 1 and torch_tpu.BUILT_FOR_TORCH in err and "2.99.0" in err


def test_distribution_torch_tpu_installed_too(python, tmp_path):
    other = tmp_path / "torch_tpu-0.2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-tpu\nVersion: 0.2.0\n")
    _, err = python("import torch; assert not hasattr(torch, 'tpu'); torch.ones(2).sum()", path=[tmp_path])
    assert err.count("RuntimeWarning") == 1 and "`torch-tpu`" in err


def test_broken_extension_module(python):
    code = """
        import sys
        sys.modules["torch_tpu._C"] = None
        import torch
        assert not hasattr(torch, "tpu")
        torch.ones(2).sum()
        """
    _, err = python(code)
    assert err.count("RuntimeWarning: torch_tpu leaves device `tpu` off: ") == 1
    _, err = python(code, flags=["-W", "error"])  # even then import torch works
    assert err.count("torch_tpu leaves device `tpu` off") == 1


def test_unknown_variables_are_named_once_at_start(python):
    _, err = python(
        "import torch; torch.tpu.is_available(); torch.tpu.init(); torch.tpu.init()",
        TORCH_TPU_DEBGU="1",
        TORCH_TPU_WHATEVER_THIS_IS="1",
    )
    assert err.count("UserWarning") == 2
    assert "TORCH_TPU_DEBGU" in err and "did you mean TORCH_TPU_DEBUG?" in err and "TORCH_TPU_WHATEVER_THIS_IS" in err


def test_malformed_number_of_devices(python):
    out, _ = python(
        """
        import os, torch
        for text in ("none", "0", "-1", "1000"):
            os.environ["TORCH_TPU_CPU_DEVICES"] = text
            try:
                torch.tpu.init()
            except ValueError as error:
                print("TORCH_TPU_CPU_DEVICES" in str(error) and text in str(error))
        os.environ["TORCH_TPU_CPU_DEVICES"] = "2"
        torch.tpu.init()
        print(torch.tpu.device_count())
        """
    )
    assert out.split() == ["True"] * 4 + ["2"]


def test_exit_is_clean_with_a_started_runtime(python):
    assert python("import torch; torch.tpu.init(); s = torch.UntypedStorage(64, device='tpu')") == ("", "")
    out, err = python("import torch; torch.tpu.init(); raise KeyError('seen')", exit_code=1)
    assert err.splitlines()[-1] == "KeyError: 'seen'"


@pytest.mark.parametrize("first", ["torch", "safetensors"])
def test_the_error_of_safetensors_names_the_call_that_helps(python, tmp_path, first):
    (tmp_path / "safetensors").mkdir()
    (tmp_path / "safetensors/__init__.py").write_text(
        "def safe_open(name, framework, device='cpu'):\n"
        "    if 'tpu' in str(device): raise ValueError(f'{device} is invalid')\n"
    )
    (tmp_path / "safetensors/torch.py").write_text("from safetensors import safe_open\n")
    second = {"torch": "safetensors", "safetensors": "torch"}[first]
    code = f"""
    import {first}
    import {second}
    import safetensors.torch
    for arguments in (("x", "pt", "tpu"), ("x", "pt", torch.device("tpu:0"))):
        try:
            safetensors.torch.safe_open(*arguments)
        except ValueError as error:
            print(error, *error.__notes__)
    assert safetensors.safe_open("x", "pt") is None
    """
    out, err = python(code, path=[tmp_path])
    assert err == "" and out.count("Call torch_tpu.integrations.enable() first") == 2
