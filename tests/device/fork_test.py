"""A fork after first use: a clear error in the child, no harm to the parent. A fork before it: nothing special."""

import os

import torch
from torch.utils.data import DataLoader, Dataset

USES = [
    lambda x: torch.ones(2, device="tpu"),
    lambda x: x + 1,
    lambda x: x.cpu(),
    lambda x: torch.tpu.synchronize(),
    lambda x: torch.tpu.init(),
    lambda x: torch.tpu.get_device_name(),
    lambda x: torch.Event("tpu").record(),
]


def in_child(function):
    """Runs `function` in a forked child; gives what it returned as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(function())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


def test_use_in_a_child_is_a_clear_error():
    x = torch.ones(2, device="tpu")
    assert not torch.tpu._is_in_bad_fork()
    for use in USES:
        text = in_child(lambda use=use: use(x))
        assert text.startswith("RuntimeError: ") and "fork" in text and "spawn" in text, text
    assert in_child(torch.tpu._is_in_bad_fork) == "True"
    assert (x + 1).tolist() == [2.0, 2.0]


def test_child_may_drop_tensors_and_seed_and_use_the_cpu():
    x = torch.ones(1000, device="tpu")
    holders = [x + i for i in range(10)]

    def child():
        holders.clear()
        torch.manual_seed(1)
        return torch.ones(3).sum().item()

    assert in_child(child) == "3.0"
    assert [holder[0].item() for holder in holders] == list(range(1, 11))


class Rows(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.full((4,), float(index))


def test_data_loader_with_forked_workers():
    x = torch.ones(4, device="tpu")
    loader = DataLoader(Rows(), batch_size=4, num_workers=2, multiprocessing_context="fork", pin_memory=True)
    total = sum((batch.to("tpu") * x).sum().item() for batch in loader)
    assert total == 4 * sum(range(16))


def test_fork_before_first_use(python):
    out, err = python(
        """
        import os, torch
        torch.tpu.is_available()
        torch.manual_seed(0)
        if os.fork() == 0:
            print(torch.ones(2, device="tpu").sum().item(), flush=True)
            os._exit(0)
        os.wait()
        print(torch.ones(3, device="tpu").sum().item())
        """
    )
    assert (out.split(), err) == (["2.0", "3.0"], "")
