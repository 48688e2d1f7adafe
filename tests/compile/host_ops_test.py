"""Ops without a lowering inside a compiled graph: the program calls the CPU kernel, or the graph is split around it."""

import pytest
import torch
from torch.testing import assert_close

pytestmark = pytest.mark.usefixtures("counted_host_ops")


def stats_of(work):
    """What `work` added to compile_stats()."""
    before = torch.tpu.compile_stats()
    work()
    after = torch.tpu.compile_stats()
    splits = {name: n - before["splits"].get(name, 0) for name, n in after["splits"].items()}
    return after["programs"] - before["programs"], {name: n for name, n in splits.items() if n}


def calls_of(name):
    torch.tpu.synchronize()  # a call is counted when it has run
    return sum(op.calls for op in torch.tpu.host_ops() if op.name == name)


def whole(function, *arguments, calls=2, tolerance=1e-5):
    """`function` compiled to one program without a split, against the CPU."""
    compiled = torch.compile(function, fullgraph=True)
    expected = function(*arguments)

    def work():
        for _ in range(calls):
            got = compiled(*(a.to("tpu") for a in arguments))
            assert_close(torch.utils._pytree.tree_map(lambda t: t.cpu(), got), expected, rtol=tolerance, atol=tolerance)

    assert stats_of(work) == (1, {})


def test_a_host_op_is_called_from_the_program():
    whole(lambda x: torch.linalg.svdvals(x * 2).sum() + 1, torch.randn(4, 4), calls=3)
    assert calls_of("aten::_linalg_svd.U") == 3


def test_operands_and_results_lie_as_the_graph_says():
    def function(x, y):
        u, s, vh = torch.linalg.svd(x.t() + y[::2], full_matrices=False)  # column-major results
        return (u * s) @ vh

    whole(function, torch.randn(5, 3), torch.randn(6, 5), tolerance=1e-4)


def test_a_batch_without_elements():
    whole(lambda x: torch.linalg.svdvals(x + 1), torch.randn(0, 3, 3))


def test_gradients_pass_through_it():
    x = torch.randn(4, 4)
    mine, theirs = x.to("tpu").requires_grad_(), x.clone().requires_grad_()
    function = lambda x: torch.linalg.eigvalsh(x @ x.t()).log().sum()  # noqa: E731
    programs, splits = stats_of(lambda: torch.compile(function, fullgraph=True)(mine).backward())
    function(theirs).backward()
    assert (programs, splits) == (2, {})  # forward and backward
    assert_close(mine.grad.cpu(), theirs.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64]
)
def test_elements_of_every_kind(dtype):
    @torch.library.custom_op(f"tpu_test::mirror_{str(dtype)[6:]}", mutates_args=(), device_types="cpu")
    def mirror(x: torch.Tensor, twice: bool, name: str, numbers: list[float]) -> list[torch.Tensor]:
        assert (name, numbers) == ("a", [0.1, -2])
        return [x.flip(0), x.clone() if twice else torch.zeros_like(x)]

    mirror.register_fake(lambda x, twice, name, numbers: [torch.empty_like(x), torch.empty_like(x)])
    x = torch.tensor([0, 1, 1, 3]).to(dtype)
    whole(lambda x: mirror(x.reshape(2, 2), True, "a", [0.1, -2]), x)


def test_a_kernel_of_python_and_a_thread_that_holds_the_gil():
    import threading

    seen = []

    @torch.library.custom_op("tpu_test::noted", mutates_args=(), device_types="cpu")
    def noted(x: torch.Tensor) -> torch.Tensor:
        seen.append(threading.get_ident())
        return x * 2

    noted.register_fake(torch.empty_like)
    x = torch.randn(300, 300)
    whole(lambda x: noted(x @ x) @ x, x, calls=4, tolerance=1e-2)
    assert len(seen) == 4 + 1  # and the call on the CPU


def test_its_error_is_that_of_the_program():
    @torch.library.custom_op("tpu_test::picky", mutates_args=(), device_types="cpu")
    def picky(x: torch.Tensor) -> torch.Tensor:
        if x[0] < 0:
            raise ValueError("no negative numbers, please")
        return x.clone()

    picky.register_fake(torch.empty_like)
    compiled = torch.compile(lambda x: picky(x) + 1, fullgraph=True)
    one = torch.ones(3, device="tpu")
    assert compiled(one).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="no negative numbers, please"):
        compiled(-one).cpu()
    assert compiled(one).tolist() == [2, 2, 2]


def test_random_ops_and_sizes_from_data_split_the_graph():
    function = lambda x: torch.unique(x * 2).sum()  # noqa: E731
    x = torch.tensor([1.0, 2.0, 1.0])
    _, splits = stats_of(lambda: assert_close(torch.compile(function)(x.to("tpu")).cpu(), function(x)))
    assert all("unique" in name for name in splits)

    @torch.library.custom_op(
        "tpu_test::drawn", mutates_args=(), device_types="cpu", tags=torch.Tag.nondeterministic_seeded
    )
    def drawn(x: torch.Tensor) -> torch.Tensor:
        return torch.rand_like(x)

    drawn.register_fake(torch.empty_like)
    compiled = torch.compile(lambda x: drawn(x) - drawn(x))
    _, splits = stats_of(lambda: compiled(x.to("tpu")))
    assert splits == {"tpu_test.drawn.default": 2}


def test_host_ops_that_are_errors_stay_errors():
    torch.tpu.set_host_ops("error")
    with pytest.raises(NotImplementedError, match="_linalg_svd.*host ops are set to 'error'"):
        torch.compile(torch.linalg.svdvals)(torch.ones(2, 2, device="tpu"))


def test_another_process_loads_the_program(python, tmp_path):
    code = """
    import torch
    x = torch.arange(9.0).reshape(3, 3).to("tpu") + 1
    compiled = torch.compile(lambda x: torch.linalg.svdvals(x).sum() * 2, fullgraph=True)
    print(f"{compiled(x).item():.4f}", torch.tpu.cache_stats()["compiles"], torch.tpu.compile_stats()["splits"])
    """
    first, second = (python(code, TORCH_TPU_CACHE_DIR=str(tmp_path), TORCH_TPU_HOST_OPS="allow")[0] for _ in range(2))
    value = 2 * torch.linalg.svdvals(torch.arange(9.0).reshape(3, 3) + 1).sum()
    assert first.split()[0] == second.split()[0] == f"{value:.4f}"
    assert int(first.split()[1]) > 0
    assert second.split()[1:] == ["0", "{}"]
