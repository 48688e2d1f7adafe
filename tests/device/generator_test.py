"""torch.Generator on `tpu` and the random state of torch.tpu: (seed, offset), 16 bytes, no runtime needed."""

import copy

import pytest
import torch


@pytest.fixture(autouse=True)
def keep_default_state():
    with torch.random.fork_rng(device_type="tpu"):
        yield


def words(state):
    return state.view(torch.int64).tolist()


def test_state_is_seed_and_offset():
    generator = torch.Generator(device="tpu")
    assert generator.device == torch.device("tpu:0")
    generator.manual_seed(7)
    state = generator.get_state()
    assert (state.dtype, state.device.type, state.shape) == (torch.uint8, "cpu", (16,))
    assert words(state) == [7, 0]
    generator.set_offset(12)
    assert words(generator.get_state()) == [7, 12] and generator.get_offset() == 12
    other = torch.Generator(device="tpu")
    other.set_state(generator.get_state())
    assert (other.initial_seed(), other.get_offset()) == (7, 12)
    generator.manual_seed(8)
    assert words(generator.get_state()) == [8, 0]


def test_seeds():
    generator = torch.Generator(device="tpu")
    assert generator.seed() == generator.initial_seed()
    assert generator.manual_seed(-1).initial_seed() == 2**64 - 1


@pytest.mark.parametrize(
    "state", [torch.zeros(15, dtype=torch.uint8), torch.zeros(16), torch.zeros(32, dtype=torch.uint8)[::2]]
)
def test_malformed_state(state):
    generator = torch.Generator(device="tpu")
    with pytest.raises(TypeError):
        generator.set_state(state)


def test_clone_is_independent_and_graphsafe_state_is_shared():
    generator = torch.Generator(device="tpu").manual_seed(3)
    clone = generator.clone_state()
    shared = generator.graphsafe_get_state()
    generator.set_offset(5)
    assert (clone.get_offset(), shared.get_offset()) == (0, 5)
    generator.graphsafe_set_state(clone)
    generator.set_offset(9)
    assert (clone.get_offset(), shared.get_offset()) == (9, 5)
    with pytest.raises(TypeError):
        generator.graphsafe_set_state(torch.Generator())


def test_pickle_and_deepcopy_of_the_state():
    state = torch.tpu.get_rng_state()
    assert torch.equal(copy.deepcopy(state), state)


def test_manual_seed_reaches_the_default_generators():
    torch.manual_seed(21)
    assert torch.tpu.initial_seed() == 21
    assert [words(state) for state in torch.tpu.get_rng_state_all()] == [[21, 0]] * torch.tpu.device_count()
    torch.tpu.manual_seed(22)
    assert torch.tpu.default_generators[0].initial_seed() == 22
    assert torch.tpu.seed_all() == torch.tpu.initial_seed()
    torch.tpu.manual_seed_all(-1)
    assert torch.tpu.initial_seed() == 2**64 - 1


def test_default_generator_is_one_object():
    assert torch.tpu.default_generators[0] is torch.tpu.default_generators[0]
    state = torch.tpu.get_rng_state()
    torch.tpu.seed()
    torch.tpu.set_rng_state(state)
    assert torch.equal(torch.tpu.get_rng_state("tpu:0"), state)


def test_seed_before_the_start_and_for_devices_nobody_used(python):
    python(
        """
        import torch
        torch.manual_seed(5)
        assert [g.initial_seed() for g in torch.tpu.default_generators] == [5, 5, 5]
        assert not torch.tpu.is_initialized()
        """,
        TORCH_TPU_CPU_DEVICES="3",
    )


def test_device_that_does_not_exist():
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.Generator(device="tpu:99")


def test_random_ops_take_blocks():
    generator = torch.Generator(device="tpu").manual_seed(1)
    first = torch.rand(10, device="tpu", generator=generator)
    offset = generator.get_offset()
    assert offset == 10  # one counter per element
    state = generator.get_state()
    second = torch.rand(10, device="tpu", generator=generator)
    generator.set_state(state)
    assert torch.equal(torch.rand(10, device="tpu", generator=generator), second)
    assert not torch.equal(first, second)


def test_generator_of_another_device():
    with pytest.raises(RuntimeError, match="generator"):
        torch.rand(3, device="tpu", generator=torch.Generator())


def test_dropout_in_a_checkpoint_is_replayed():
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(1000, device="tpu", requires_grad=True)
    y = checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal(x.grad, y)
