"""The models of models.py in JAX, as its users write them: one jitted step (loss, gradients, AdamW), state donated.

Needs an environment of its own (requirements-jax.txt) and knows nothing of torch. models.py runs it as a paired process
and lets it take turns with its own contestants:

    python jax_peer.py NAME      # "ready SECONDS" after the first step from a cold start, then a line per line read:
                                 # "run STEPS" -> milliseconds per step
"""

import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

RANDOM = np.random.default_rng(0)


# ------------------------------------------------------------------------------------------------------------ layers
# Parameters are dictionaries and lists of arrays; a layer is a function of its parameters and its input.


def normal(*shape, scale=0.02):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def make_linear(inputs, outputs, bias=True):
    weight = {"weight": normal(inputs, outputs, scale=inputs**-0.5)}
    return weight | ({"bias": np.zeros(outputs, np.float32)} if bias else {})


def linear(p, x):
    y = x @ p["weight"]
    return y + p["bias"] if "bias" in p else y


def make_norm(width):
    return {"weight": np.ones(width, np.float32), "bias": np.zeros(width, np.float32)}


def layer_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["weight"] + p["bias"]


def rms_norm(weight, x):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1.2e-7) * weight


def attention(q, k, v, causal):
    """[batch, length, heads, width] each."""
    scores = jnp.einsum("blhd,bmhd->bhlm", q, k) * q.shape[-1] ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhlm,bmhd->blhd", jax.nn.softmax(scores), v)


def make_block(width):
    return {
        "before": make_norm(width),
        "after": make_norm(width),
        "qkv": make_linear(width, 3 * width),
        "out": make_linear(width, width),
        "up": make_linear(width, 4 * width),
        "down": make_linear(4 * width, width),
    }


def block(p, x, heads, causal):
    batch, length, width = x.shape
    q, k, v = jnp.moveaxis(linear(p["qkv"], layer_norm(p["before"], x)).reshape(batch, length, 3, heads, -1), 2, 0)
    x = x + linear(p["out"], attention(q, k, v, causal).reshape(batch, length, width))
    return x + linear(p["down"], jax.nn.gelu(linear(p["up"], layer_norm(p["after"], x)), approximate=False))


def conv(weight, x, stride, pad):
    return jax.lax.conv_general_dilated(
        x, weight, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NCHW", "OIHW", "NCHW")
    )


def make_conv(inputs, outputs, size):
    return normal(outputs, inputs, size, size, scale=(inputs * size * size) ** -0.5)


def batch_norm(p, x):
    mean = x.mean((0, 2, 3), keepdims=True)
    variance = ((x - mean) ** 2).mean((0, 2, 3), keepdims=True)
    shape = (1, -1, 1, 1)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["weight"].reshape(shape) + p["bias"].reshape(shape)


# ------------------------------------------------------------------------------------------------------------ models
# name: function of nothing that gives (parameters, forward, inputs, targets)


def words(batch, length, count):
    return RANDOM.integers(count, size=(batch, length)), RANDOM.integers(count, size=(batch * length,))


def mlp():
    layers = [make_linear(64, 64), make_linear(64, 64), make_linear(64, 10)]

    def forward(p, x):
        return linear(p[2], jax.nn.relu(linear(p[1], jax.nn.relu(linear(p[0], x)))))

    return layers, forward, normal(32, 64, scale=1), RANDOM.integers(10, size=32)


def language(count, length, width, heads, layers, causal, batch):
    params = {
        "tokens": normal(count, width, scale=1),
        "positions": normal(length, width, scale=1),
        "blocks": [make_block(width) for _ in range(layers)],
        "norm": make_norm(width),
        "head": make_linear(width, count),
    }

    def forward(p, tokens):
        x = p["tokens"][tokens] + p["positions"]
        for each in p["blocks"]:
            x = block(each, x, heads, causal)
        return linear(p["head"], layer_norm(p["norm"], x)).reshape(-1, count)

    return params, forward, *words(batch, length, count)


def vit():
    params = {
        "patches": make_conv(3, 192, 8),
        "positions": normal(64, 192),
        "blocks": [make_block(192) for _ in range(4)],
        "head": make_linear(192, 10),
    }

    def forward(p, images):
        x = conv(p["patches"], images, 8, 0)
        x = x.reshape(*x.shape[:2], -1).swapaxes(1, 2) + p["positions"]
        for each in p["blocks"]:
            x = block(each, x, 3, False)
        return linear(p["head"], x.mean(1))

    return params, forward, normal(16, 3, 64, 64, scale=1), RANDOM.integers(10, size=16)


def resnet18():
    params = {"stem": make_conv(3, 64, 7), "norm": make_norm(64), "blocks": [], "head": make_linear(512, 10)}
    channels, strides = 64, []
    for out, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        each = {"one": make_conv(channels, out, 3), "two": make_conv(out, out, 3)}
        each |= {"norm one": make_norm(out), "norm two": make_norm(out)}
        if channels != out or stride != 1:
            each |= {"short": make_conv(channels, out, 1), "norm short": make_norm(out)}
        params["blocks"].append(each)
        strides.append(stride)
        channels = out

    def residual(p, x, stride):
        y = jax.nn.relu(batch_norm(p["norm one"], conv(p["one"], x, stride, 1)))
        y = batch_norm(p["norm two"], conv(p["two"], y, 1, 1))
        if "short" in p:
            x = batch_norm(p["norm short"], conv(p["short"], x, stride, 0))
        return jax.nn.relu(y + x)

    def forward(p, x):
        x = jax.nn.relu(batch_norm(p["norm"], conv(p["stem"], x, 2, 3)))
        window, steps, pads = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, steps, pads)
        for each, stride in zip(p["blocks"], strides, strict=True):
            x = residual(each, x, stride)
        return linear(p["head"], x.mean((2, 3)))

    return params, forward, normal(8, 3, 64, 64, scale=1), RANDOM.integers(10, size=8)


def llama():
    width, heads = 256, 4

    def make():
        parts = {"before": np.ones(width, np.float32), "after": np.ones(width, np.float32)}
        parts |= {"qkv": make_linear(width, 3 * width, False), "out": make_linear(width, width, False)}
        parts |= {"gate": make_linear(width, 4 * width, False), "up": make_linear(width, 4 * width, False)}
        return parts | {"down": make_linear(4 * width, width, False)}

    def rotate(x):
        half = x.shape[-1] // 2
        angles = jnp.arange(x.shape[1])[:, None, None] / 10000 ** (jnp.arange(half) / half)
        one, two, cos, sin = x[..., :half], x[..., half:], jnp.cos(angles), jnp.sin(angles)
        return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], -1)

    def layer(p, x):
        batch, length, _ = x.shape
        q, k, v = jnp.moveaxis(linear(p["qkv"], rms_norm(p["before"], x)).reshape(batch, length, 3, heads, -1), 2, 0)
        x = x + linear(p["out"], attention(rotate(q), rotate(k), v, True).reshape(batch, length, width))
        h = rms_norm(p["after"], x)
        return x + linear(p["down"], jax.nn.silu(linear(p["gate"], h)) * linear(p["up"], h))

    params = {"tokens": normal(256, width, scale=1), "blocks": [make(), make()], "head": make_linear(width, 256, False)}

    def forward(p, tokens):
        x = p["tokens"][tokens]
        for each in p["blocks"]:
            x = layer(each, x)
        return linear(p["head"], x).reshape(-1, 256)

    return params, forward, *words(4, 128, 256)


def lstm():
    width = 128
    params = {"input": make_linear(width, 4 * width), "hidden": make_linear(width, 4 * width)}
    params["head"] = make_linear(width, 10)

    def forward(p, x):
        def cell(state, given):
            h, c = state
            i, f, g, o = jnp.split(given + linear(p["hidden"], h), 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((x.shape[0], width))
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), linear(p["input"], x).swapaxes(0, 1))
        return linear(p["head"], h)

    return params, forward, normal(16, 64, 128, scale=1), RANDOM.integers(10, size=16)


MODELS = {
    "mlp": mlp,
    "gpt": lambda: language(256, 64, 128, 4, 4, True, 16),
    "vit": vit,
    "resnet18": resnet18,
    "llama": llama,
    "lstm": lstm,
    "bert-mini": lambda: language(1000, 64, 256, 4, 4, False, 8),
}


# --------------------------------------------------------------------------------------------------------------- ops
# name: function of nothing that gives what runs one of them


def eager_adds():
    """200 calls, as run.py times them."""
    x, y = normal(64, 64, scale=1), normal(64, 64, scale=1)
    x, y = jnp.asarray(x), jnp.asarray(y)

    def run():
        for _ in range(200):
            z = x + y
        z.block_until_ready()

    return run


def chain(dtype):
    x, y = (jnp.asarray(normal(2000, 2000, scale=1)).astype(dtype) for _ in range(2))

    @jax.jit
    def chained(x, y):
        for _ in range(50):
            x = (x + y) * y - y
        return x

    return lambda: chained(x, y).block_until_ready()


OPS = {"add": eager_adds, "chain float32": lambda: chain(jnp.float32), "chain bfloat16": lambda: chain(jnp.bfloat16)}


# ---------------------------------------------------------------------------------------------------------- training


def loss_of(forward, params, x, y):
    logs = jax.nn.log_softmax(forward(params, x))
    return -jnp.take_along_axis(logs, y[:, None], 1).mean()


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def train(forward, state, x, y):
    """AdamW as in torch: Loshchilov and Hutter 2019, algorithm 2, with its defaults."""
    params, first, second, steps = state
    loss, grads = jax.value_and_grad(partial(loss_of, forward))(params, x, y)
    steps, rate, b1, b2 = steps + 1, 1e-4, 0.9, 0.999
    first = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, first, grads)
    second = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, second, grads)

    def updated(p, m, v):
        return p * (1 - rate * 0.01) - rate / (1 - b1**steps) * m / (jnp.sqrt(v / (1 - b2**steps)) + 1e-8)

    return loss, (jax.tree.map(updated, params, first, second), first, second, steps)


def trainer(name):
    params, forward, x, y = MODELS[name]()
    params, x, y = jax.tree.map(jnp.asarray, (params, x.astype(np.int32) if x.dtype == np.int64 else x, y))
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros(()))
    jax.block_until_ready(state)

    def step():
        nonlocal state
        loss, state = train(forward, state, x, y)
        float(loss)

    return step


def main():
    name = sys.argv[1]
    step = OPS[name]() if name in OPS else trainer(name)

    def run(times):
        begin = time.perf_counter()
        for _ in range(times):
            step()
        return time.perf_counter() - begin

    print("ready", run(1), flush=True)
    for line in sys.stdin:
        times = int(line.split()[1])
        print(run(times) / times * 1e3, flush=True)


if __name__ == "__main__":
    main()
