"""safetensors: files are written from the device and read straight to it."""

import pytest
import safetensors
import safetensors.torch
import torch
from safetensors import SafetensorError

import torch_tpu.integrations

TENSORS = {
    "float32": torch.arange(6.0).view(2, 3),
    "bfloat16": torch.linspace(-2, 2, 7, dtype=torch.bfloat16),
    "float16": torch.ones(2, 2, dtype=torch.float16),
    "float64": torch.tensor(1 / 3, dtype=torch.float64),
    "int64": torch.tensor([2**40, -1]),
    "uint8": torch.arange(5, dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "empty": torch.zeros(0, 3),
}


@pytest.fixture
def file(tmp_path):
    """Written from the device."""
    path = tmp_path / "tensors.safetensors"
    safetensors.torch.save_file({name: tensor.to("tpu") for name, tensor in TENSORS.items()}, path)
    return path


@pytest.mark.parametrize("device", ["tpu", "tpu:0", torch.device("tpu"), 0])
def test_read_straight_to_the_device(file, enabled, device, report):
    loaded = safetensors.torch.load_file(file, device=device)
    assert loaded.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert loaded[name].device == torch.device("tpu:0") and loaded[name].dtype == tensor.dtype
        assert torch.equal(loaded[name].cpu(), tensor)
    with safetensors.safe_open(file, "pt", device=device) as opened:
        assert torch.equal(opened.get_slice("float32")[:, 1:].cpu(), TENSORS["float32"][:, 1:])
    if device == "tpu":
        report("safetensors", "save from the device, load straight to it, 8 tensors of 7 types", "equal")


def test_load_model_onto_the_device(tmp_path, enabled):
    network = torch.nn.Linear(3, 2).to("tpu")
    safetensors.torch.save_model(network, str(tmp_path / "linear.safetensors"))
    other = torch.nn.Linear(3, 2).to("tpu")
    assert safetensors.torch.load_model(other, tmp_path / "linear.safetensors", device="tpu") == (set(), [])
    assert torch.equal(other.weight, network.weight)


def test_the_cpu_and_wrong_names_are_as_before(file, enabled):
    assert safetensors.torch.load_file(file)["float32"].is_cpu
    with pytest.raises(SafetensorError, match="gpuu is invalid"):
        safetensors.torch.load_file(file, device="gpuu")


def test_disable_takes_it_back(file):
    original = safetensors.safe_open
    torch_tpu.integrations.enable()
    torch_tpu.integrations.enable()  # twice is once
    assert safetensors.torch.safe_open is safetensors.safe_open is not original
    torch_tpu.integrations.disable()
    assert safetensors.torch.safe_open is safetensors.safe_open
    assert safetensors.safe_open.original is original.original
    with pytest.raises(SafetensorError, match="tpu is invalid") as caught:
        safetensors.torch.load_file(file, device="tpu")
    assert "torch_tpu.integrations.enable()" in caught.value.__notes__[0]
    with pytest.raises(SafetensorError, match="gpuu is invalid") as caught:
        safetensors.torch.load_file(file, device="gpuu")
    assert not hasattr(caught.value, "__notes__")
