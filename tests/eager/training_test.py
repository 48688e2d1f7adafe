"""Whole networks trained on `tpu` and on `cpu`, from the same weights with the same batches, compared step by step.

The losses must agree to 1e-4. One float32 step agrees to about 1e-6; an optimizer that divides by the root of the
second moment turns a rounding difference in a tiny gradient into a full-sized step of one weight, and every step adds
to it, so 20 steps are given a hundred times that. A wrong gradient or a missed update is off by percents within a few
steps.
"""

import copy
import itertools

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

from networks import Gpt

STEPS = 20
TOLERANCE = 1e-4


def losses_on(device, network, make_optimizer, loss_of, batches, clip=None):
    """Trains a copy of `network` on `device`: the loss of each step, and its state afterwards on the CPU."""
    network = copy.deepcopy(network).to(device).train()
    optimizer = make_optimizer(network.parameters())
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(network, *(part.to(device) for part in batch))
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(network.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.cpu() for name, value in network.state_dict().items()}


def check_training(network, make_optimizer, loss_of, batches, **options):
    batches = list(itertools.islice(itertools.cycle(batches), STEPS))
    expected, expected_state = losses_on("cpu", network, make_optimizer, loss_of, batches, **options)
    losses, state = losses_on("tpu", network, make_optimizer, loss_of, batches, **options)
    assert losses == pytest.approx(expected, rel=TOLERANCE)
    assert expected[-1] < 0.9 * expected[0]  # else there was nothing to compare
    for name, value in state.items():  # what no loss has seen yet: the last update, running statistics
        torch.testing.assert_close(
            value, expected_state[name], rtol=1e-2, atol=1e-3, msg=lambda text, n=name: f"{n}: {text}"
        )


def classify(network, x, target):
    return F.cross_entropy(network(x), target)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True, params=["strict", "fused", "auto"])
def in_every_mode(request):
    with torch.tpu.mode(request.param):
        yield


def test_convolutional_network_on_digits():
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    batches = [(images[i : i + 32], labels[i : i + 32]) for i in range(0, 32 * STEPS, 32)]
    # No bias before a normalization: its gradient is zero but for rounding, which AdamW would blow up to full steps.
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, groups=2),
        nn.GELU(),
        nn.AvgPool2d(2, stride=1),
        nn.GroupNorm(4, 16),
        nn.Flatten(),
        nn.Linear(64, 10),
    )
    check_training(network, lambda p: torch.optim.AdamW(p, lr=3e-3), classify, batches)


@pytest.mark.parametrize("foreach", [True, False])
def test_mlp_with_adamw_and_clipping(foreach):
    network = nn.Sequential(
        nn.Linear(16, 64), nn.SiLU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5)
    )
    batches = [(torch.randn(32, 16), torch.randint(5, (32,))) for _ in range(2)]
    optimizer = lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.05, amsgrad=True, foreach=foreach)  # noqa: E731
    check_training(network, optimizer, classify, batches, clip=0.5)


@pytest.mark.parametrize(
    "make_optimizer",
    [
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
        lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True),
        lambda p: torch.optim.Adagrad(p, lr=0.05),
        lambda p: torch.optim.Adam(p, lr=torch.tensor(5e-3)),
        lambda p: torch.optim.AdamW(all_ := [*p], lr=5e-3, capturable=all_[0].is_tpu),
        lambda p: torch.optim.AdamW(p, lr=5e-3, fused=True),
        lambda p: torch.optim.NAdam(p, lr=5e-3),
        lambda p: torch.optim.Adadelta(p, lr=1.0),
        lambda p: torch.optim.Adamax(p, lr=1e-2),
    ],
    ids=[
        "sgd",
        "rmsprop",
        "adagrad",
        "adam-tensor-lr",
        "adamw-capturable",
        "adamw-fused",
        "nadam",
        "adadelta",
        "adamax",
    ],
)
def test_optimizers(make_optimizer):
    network = nn.Sequential(nn.Linear(6, 16), nn.Sigmoid(), nn.Linear(16, 1))
    x = torch.randn(24, 6)
    y = x.sum(1, keepdim=True)
    check_training(network, make_optimizer, lambda net, x, y: F.mse_loss(net(x), y), [(x, y)])


def test_small_gpt():
    text = torch.randint(29, (2, 4, 17))

    def next_word(network, tokens):
        logits = network(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    network = Gpt()
    check_training(network, lambda p: torch.optim.AdamW(p, lr=2e-3), next_word, [(part,) for part in text])
    moved = copy.deepcopy(network).to("tpu")
    assert moved.head.weight is moved.tokens.weight


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_network(kind):
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = kind(6, 12, num_layers=2, batch_first=True, bidirectional=kind is nn.LSTM)
            self.out = nn.Linear(24 if kind is nn.LSTM else 12, 4)

        def forward(self, x):
            return self.out(self.cells(x)[0])

    x = torch.randn(8, 10, 6)
    target = x.cumsum(1).argmax(2) % 4
    optimizer = lambda p: torch.optim.AdamW(p, lr=1e-2)  # noqa: E731
    check_training(Tagger(), optimizer, lambda net, x, y: F.cross_entropy(net(x).transpose(1, 2), y), [(x, target)])


def test_transformer_encoder_and_attention_masks():
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    network = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    x, target = torch.randn(4, 7, 16), torch.randn(4, 7, 16)
    padding = torch.arange(7) >= torch.tensor([[7], [5], [3], [6]])

    def loss_of(net, x, padding, target):
        return F.smooth_l1_loss(net(x, src_key_padding_mask=padding)[~padding], target[~padding])

    check_training(network, lambda p: torch.optim.SGD(p, lr=0.3), loss_of, [(x, padding, target)])
    network.eval()  # the fast path, one op per layer
    with torch.no_grad():
        expected = network(x)
        torch.testing.assert_close(copy.deepcopy(network).to("tpu")(x.to("tpu")).cpu(), expected, rtol=1e-4, atol=1e-5)


def test_autocast_and_grad_scaler():
    """bfloat16 carries 8 bits, so only the fall of the loss is compared, and that weights stay float32."""
    network = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)).to("tpu")
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("tpu")
    x = torch.randn(64, 8, device="tpu")
    y = x.sum(1, keepdim=True)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        with torch.autocast("tpu"):
            out = network(x)
            loss = F.mse_loss(out.float(), y)
        assert out.dtype == torch.bfloat16
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert all(p.dtype == p.grad.dtype == torch.float32 for p in network.parameters())
