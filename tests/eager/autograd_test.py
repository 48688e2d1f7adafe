"""What autograd offers beyond `backward()`, on `tpu` as on `cpu`."""

import threading

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def on_both(function, *tensors, tolerance=1e-5):
    """Runs `function(device, *copies)` on tpu and cpu, and compares what it returns: tensors, in any nest of tuples."""
    results = []
    for device in ("tpu", "cpu"):
        copies = [t.detach().to(device, copy=True).requires_grad_(t.requires_grad) for t in tensors]
        result = function(device, *copies)
        leaves, structure = torch.utils._pytree.tree_flatten(result)
        assert leaves and all(leaf.device.type == device for leaf in leaves)
        results.append(torch.utils._pytree.tree_unflatten([leaf.detach().cpu() for leaf in leaves], structure))
    torch.testing.assert_close(results[0], results[1], rtol=tolerance, atol=tolerance)
    return results[1]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def test_tensor_hooks_see_and_change_gradients():
    def run(device, x):
        seen = []
        y = x * 3
        y.register_hook(lambda grad: seen.append(grad) or grad * 2)
        x.register_hook(lambda grad: grad + 1)
        x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
        removed = x.register_hook(lambda grad: grad * 1000)
        removed.remove()
        (y**2).sum().backward()
        assert len(seen) == 2
        return (*seen, x.grad)

    on_both(run, leaf(3, 4))


def test_module_hooks():
    def run(device, weight, x):
        net = nn.Sequential(nn.Linear(4, 5), nn.Tanh()).to(device)
        net[0].weight.data, net[0].bias.data = weight.detach(), torch.zeros(5, device=device)
        seen = []
        net[0].register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2,))
        net[0].register_forward_hook(lambda module, inputs, output: seen.append(output) or output + 1)
        net.register_full_backward_pre_hook(lambda module, grad: (grad[0] * 3,))
        net[1].register_full_backward_hook(lambda module, grad_in, grad_out: seen.extend((*grad_in, *grad_out)))
        net(x).sum().backward()
        assert len(seen) == 3
        return (*seen, x.grad, net[0].weight.grad)

    on_both(run, torch.randn(5, 4), leaf(3, 4))


def test_double_backward():
    def penalty(device, x, w):
        loss = torch.sigmoid(x @ w).pow(2).mean()
        (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
        total = loss + (gradient.norm(dim=1) - 1).pow(2).mean()
        total.backward()
        return total, x.grad, w.grad

    on_both(penalty, leaf(6, 4), leaf(4, 3))


def test_double_backward_through_a_convolution():
    def run(device, x, w):
        y = nn.functional.softplus(nn.functional.conv2d(x, w, padding=1))
        gradients = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
        return torch.autograd.grad(sum((g**2).sum() for g in gradients), (x, w))

    on_both(run, leaf(2, 2, 5, 5), leaf(3, 2, 3, 3), tolerance=1e-4)  # sums of products of sums, in another order


@pytest.mark.parametrize("function", [torch.sin, torch.logsumexp, torch.matmul, nn.functional.layer_norm])
def test_gradgradcheck(function):
    x = torch.randn(3, 3, dtype=torch.float64, device="tpu", requires_grad=True)
    more = {torch.logsumexp: (1,), torch.matmul: (x,), nn.functional.layer_norm: ((3,),)}.get(function, ())
    assert torch.autograd.gradcheck(lambda x: function(x, *more), (x,), fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x: function(x, *more), (x,), fast_mode=True)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint(reentrant):
    def run(device, x, w):
        calls = []

        def block(y):
            calls.append(1)
            return torch.tanh(y @ w)

        y = checkpoint(block, x, use_reentrant=reentrant)
        z = checkpoint_sequential([torch.sin, block], 2, y, use_reentrant=reentrant)
        z.sum().backward()
        assert len(calls) == 3  # the first block again in backward; the last part of a sequence is not checkpointed
        return z, x.grad, w.grad

    on_both(run, leaf(5, 4), leaf(4, 4))


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_repeats_random_numbers(reentrant):
    """Without the saved state, the dropout of the second run would differ and with it the gradient."""
    x = torch.ones(1000, device="tpu", requires_grad=True)
    torch.rand(3, device="tpu")
    y = checkpoint(lambda v: nn.functional.dropout(v, 0.5), x, use_reentrant=reentrant)
    after = torch.rand(3, device="tpu")
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
    assert 300 < (y > 0).sum().item() < 700
    assert not torch.equal(torch.rand(3, device="tpu"), after)  # the stream goes on where it was


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        ctx.set_materialize_grads(False)
        return scale * x**3, x.gt(0)

    @staticmethod
    def backward(ctx, grad, none):
        assert none is None
        (x,) = ctx.saved_tensors
        return 3 * ctx.scale * x**2 * grad, None

    @staticmethod
    def jvp(ctx, tangent, _):
        raise NotImplementedError


def test_custom_function():
    def run(device, x):
        y, positive = Cube.apply(x, 2.5)
        assert not positive.requires_grad and positive.dtype == torch.bool
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        return y, first, second

    on_both(run, leaf(7))


def test_custom_function_that_works_in_place():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            return grad * 2

    def run(device, x):
        y = Double.apply(x * 1)
        y[1:].sum().backward()
        return y, x.grad

    on_both(run, leaf(4))


def test_func_grad_vmap_jvp():
    def loss(w, x, y):
        return ((torch.tanh(x @ w) - y) ** 2).mean()

    def run(device, w, x, y):
        per_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(w, x, y)
        value, slope = torch.func.jvp(lambda w: loss(w, x, y), (w,), (torch.ones_like(w),))
        gradient, aux = torch.func.grad_and_value(loss)(w, x, y)
        _, pull = torch.func.vjp(lambda w: x @ w, w)
        jacobian = torch.func.jacrev(lambda w: torch.sin(x[0] @ w))(w)
        forward = torch.func.jacfwd(lambda w: torch.sin(x[0] @ w))(w)
        hessian = torch.func.hessian(loss)(w, x, y)
        return (
            per_sample,
            value,
            slope,
            gradient,
            aux,
            pull(torch.ones(6, 2, device=device)),
            jacobian,
            forward,
            hessian,
        )

    result = on_both(run, torch.randn(4, 2), torch.randn(6, 4), torch.randn(6, 2))
    assert result[0].shape == (6, 4, 2) and result[-1].shape == (4, 2, 4, 2)
    torch.testing.assert_close(result[6], result[7])


def test_functional_call_over_stacked_models():
    def run(device, x, *weights):
        nets = [nn.Linear(4, 2, bias=False).to(device) for _ in range(3)]
        for net, weight in zip(nets, weights, strict=True):
            net.weight.data = weight
        params, buffers = torch.func.stack_module_state(nets)
        return torch.func.vmap(lambda p, b: torch.func.functional_call(nets[0], (p, b), (x,)))(params, buffers)

    on_both(run, torch.randn(5, 4), *(torch.randn(2, 4) for _ in range(3)))


def test_vmap_of_random_numbers_differs_per_sample():
    draw = torch.func.vmap(lambda x: x + torch.rand(8, device="tpu"), randomness="different")
    same = torch.func.vmap(lambda x: x + torch.rand(8, device="tpu"), randomness="same")
    zeros = torch.zeros(3, 1, device="tpu")
    assert not torch.equal(draw(zeros)[0], draw(zeros)[1])
    assert torch.equal(*same(zeros)[:2])


def test_forward_mode():
    def run(device, x, tangent):
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, tangent)
            out = torch.autograd.forward_ad.unpack_dual(torch.softmax(dual.sin(), 1).cumsum(1))
        return out.primal, out.tangent

    on_both(run, torch.randn(3, 4), torch.randn(3, 4))


def test_retain_graph_and_accumulation():
    def run(device, x):
        y = (x**2).sum()
        y.backward(retain_graph=True)
        once = x.grad.clone()
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()
        return once, x.grad

    once, twice = on_both(run, leaf(5))
    assert torch.equal(twice, once * 2)


def test_retain_grad_and_inputs():
    def run(device, x, w):
        y = x * w
        y.retain_grad()
        (y**2).sum().backward(inputs=[x, y])
        assert w.grad is None
        return x.grad, y.grad

    on_both(run, leaf(3), leaf(3))


def test_saved_tensor_hooks():
    def run(device, x, w):
        packed = []

        def pack(tensor):
            packed.append(tensor.device.type)
            return tensor.device, tensor.cpu()

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda pair: pair[1].to(pair[0])):
            y = torch.exp(x @ w).sum()
        with torch.autograd.graph.save_on_cpu():
            y = y + torch.sigmoid(x).pow(2).sum()
        y.backward()
        assert len(packed) >= 3 and set(packed) == {device}
        return y, x.grad, w.grad

    on_both(run, leaf(3, 4), leaf(4, 2))


def test_a_saved_tensor_that_was_overwritten_is_an_error():
    x = torch.ones(3, device="tpu", requires_grad=True)
    y = x.exp()
    z = y * 2
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
        y.sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)


def test_writes_through_views_are_differentiable():
    def run(device, x, v):
        y = x * 1
        y[1:, ::2] = v
        y.t()[0].mul_(3)
        y.diagonal().zero_()
        y.relu_()
        (y**2).sum().backward()
        return y, x.grad, v.grad

    on_both(run, leaf(4, 5), leaf(3, 3))


def test_anomaly_mode_names_the_op():
    x = torch.zeros(1, device="tpu", requires_grad=True)
    with pytest.raises(RuntimeError, match="SqrtBackward0"), pytest.warns(UserWarning, match="Error detected"):
        with torch.autograd.detect_anomaly(check_nan=True):
            (torch.sqrt(x) * 0).sum().backward()


def test_an_exception_in_backward_arrives_and_the_device_lives():
    x = torch.ones(3, device="tpu", requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: (_ for _ in ()).throw(KeyError("from a hook")))
    with pytest.raises(KeyError, match="from a hook"):
        y.sum().backward()
    (x * 5).sum().backward()
    assert x.grad.tolist() == [5.0] * 3


def test_backward_from_several_threads_adds_up():
    w = torch.ones(8, device="tpu", requires_grad=True)
    threads = [threading.Thread(target=lambda: (w * 2).sum().backward()) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert w.grad.tolist() == [12.0] * 8


def test_gradients_between_devices():
    x = torch.ones(3, requires_grad=True)
    ((x * 2).to("tpu") ** 2).cpu().sum().backward()
    assert x.grad.tolist() == [8.0] * 3
    y = torch.ones(3, device="tpu", requires_grad=True)
    (y.cpu() * 3).sum().backward()
    assert y.grad.is_tpu and y.grad.tolist() == [3.0] * 3


def test_inference_mode_and_no_grad():
    w = torch.ones(3, device="tpu", requires_grad=True)
    with torch.inference_mode():
        y = w * 2
        y[0] = 5
        assert y.is_inference() and y.tolist() == [5.0, 2.0, 2.0]
    with torch.no_grad():
        w.sub_(1)
    assert w.tolist() == [0.0] * 3 and not (w.detach() * 2).requires_grad
