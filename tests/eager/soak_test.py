"""A short run of benchmarks/soak.py: a training loop grows nothing. `make soak` runs it for 100,000 steps."""

import importlib.util
import json
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "soak.py"


def load():
    spec = importlib.util.spec_from_file_location("soak", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_training_loop_grows_nothing(python, tmp_path):
    code = f"""
    import json, sys
    sys.path.insert(0, {str(BENCHMARK.parent)!r})
    import soak, torch
    with torch.tpu.mode("auto"):
        print(json.dumps(list(soak.train(3000))))
    """
    # A folder of its own: other processes of the suite write programs too, and the counts read the folder.
    samples = json.loads(python(code, TORCH_TPU_CACHE_DIR=str(tmp_path))[0])
    soak = load()
    assert len(samples) == soak.SAMPLES + 1
    assert samples[0]["live arrays"] > 0 and samples[0]["recorded steps"] > 0 and samples[0]["programs made"] > 0
    assert soak.growth(samples) == {}, samples


def test_growth_is_noticed():
    soak = load()
    flat = {name: 1000 for name in soak.count()}
    samples = [dict(flat) for _ in range(soak.SAMPLES + 1)]
    assert soak.growth(samples) == {}
    for name in flat:
        per_sample = soak.SLACK.get(name, 0) // 5 + 1
        grown = [{**flat, name: 1000 + per_sample * i} for i in range(len(samples))]
        assert set(soak.growth(grown)) == {name}
    once = [{**flat, "resident bytes": 1000 + (10 << 20) * (i == 5)} for i in range(len(samples))]
    assert soak.growth(once) == {}
