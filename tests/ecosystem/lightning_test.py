"""Lightning: a module is trained, validated, checkpointed and resumed with TPUStrategy."""

import lightning
import pytest
import torch

from conftest import largest_difference
from torch_tpu.integrations.lightning import TPUAccelerator, TPUStrategy


class Regression(lightning.LightningModule):
    """A small network that keeps its losses."""

    def __init__(self):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
        self.losses = []

    def loss(self, batch):
        """Mean squared error."""
        inputs, targets = batch
        return torch.nn.functional.mse_loss(self.network(inputs).float(), targets)

    def training_step(self, batch, index):
        """Lightning's hook."""
        loss = self.loss(batch)
        self.losses.append(loss.item())
        self.log("train", loss)
        return loss

    def validation_step(self, batch, index):
        """Lightning's hook."""
        self.log("valid", self.loss(batch))

    def configure_optimizers(self):
        """Lightning's hook."""
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def loader():
    x = torch.randn(96, 8, generator=torch.Generator().manual_seed(0))
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x[:, :1].sin()), batch_size=16)


def fit(directory, epochs=3, resume=None, **options):
    """Losses of all steps, and the trainer."""
    lightning.seed_everything(0, verbose=False)
    module = Regression()
    trainer = lightning.Trainer(
        max_epochs=epochs,
        default_root_dir=directory,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        gradient_clip_val=1.0,
        **options,
    )
    trainer.fit(module, loader(), loader(), ckpt_path=resume, weights_only=False if resume else None)
    return module.losses, trainer


def test_training_validation_and_resuming(tmp_path, report):
    expected, reference = fit(tmp_path / "cpu", accelerator="cpu")
    losses, trainer = fit(tmp_path / "tpu", strategy=TPUStrategy())
    assert trainer.strategy.root_device == torch.device("tpu:0") and isinstance(trainer.accelerator, TPUAccelerator)
    difference = largest_difference(losses, expected)
    valid = [float(run.callback_metrics["valid"]) for run in (trainer, reference)]
    report("lightning", "Trainer: fit, validate, checkpoint, resume, float32", f"losses within {difference:.0e}")
    assert losses[-1] < losses[0] and difference < 1e-3 and largest_difference(valid[:1], valid[1:]) < 1e-3

    first, half = fit(tmp_path / "half", epochs=2, strategy=TPUStrategy())
    rest, _ = fit(tmp_path / "rest", strategy=TPUStrategy(), resume=half.checkpoint_callback.best_model_path)
    assert first + rest == losses


def test_bfloat16(tmp_path, report):
    expected, _ = fit(tmp_path / "cpu", accelerator="cpu")
    losses, _ = fit(tmp_path / "tpu", strategy=TPUStrategy("bf16-mixed"))
    difference = largest_difference(losses, expected)
    report("lightning", "Trainer: fit, bf16-mixed", f"losses within {difference:.0e} of float32")
    assert 0 < difference < 3e-2


def test_what_cannot_work_says_what_does(tmp_path):
    with pytest.raises(ValueError, match=r"expected a tpu device, got cpu.*TPUStrategy"):
        fit(tmp_path, accelerator=TPUAccelerator())
    with pytest.raises(ValueError, match="expected precision '32-true' or 'bf16-mixed', got '16'"):
        TPUStrategy("16")


def test_devices_are_counted_and_chosen():
    count = torch.tpu.device_count()
    assert TPUAccelerator.parse_devices("auto") == TPUAccelerator.parse_devices(-1) == list(range(count))
    assert TPUAccelerator.parse_devices("1") == TPUAccelerator.parse_devices([0]) == [0]
    assert TPUAccelerator.get_parallel_devices(1) == [torch.device("tpu:0")]
    for wrong in ([count], "0", f"0,{count}", []):
        with pytest.raises(ValueError, match=f"there are {count} tpu devices"):
            TPUAccelerator.parse_devices(wrong)
