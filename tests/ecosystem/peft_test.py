"""peft: LoRA adapters are trained, saved, loaded onto the device, and merged."""

import copy

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from conftest import VOCABULARY, largest_difference, tokens


def make_base():
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    )


def train(base, device):
    """Losses of 10 steps, and the network with its adapters."""
    torch.manual_seed(1)
    config = LoraConfig(r=4, lora_alpha=16, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM")
    network = get_peft_model(copy.deepcopy(base).to(device), config)
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    assert len(trained) == 12
    optimizer = torch.optim.AdamW(trained, lr=2e-2)
    ids = tokens(4 * 24).view(4, 24).to(device)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = network(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, network.eval()


def test_lora(tmp_path, enabled, report):
    base = make_base()
    expected, reference = train(base, "cpu")
    losses, network = train(base, "tpu")
    assert all(parameter.is_tpu for parameter in network.parameters())
    difference = largest_difference(losses, expected)
    report("peft", "LoRA on a Llama: train, save, load, merge, float32", f"losses within {difference:.0e}")
    assert losses[-1] < losses[0] - 0.1 and difference < 1e-3

    ids = tokens(24)[None]
    made = network(input_ids=ids.to("tpu")).logits
    network.save_pretrained(tmp_path)
    loaded = PeftModel.from_pretrained(copy.deepcopy(base).to("tpu"), tmp_path, torch_device="tpu").eval()
    assert all(parameter.is_tpu for parameter in loaded.parameters())
    torch.testing.assert_close(loaded(input_ids=ids.to("tpu")).logits, made, rtol=1e-5, atol=1e-6)
    merged = network.merge_and_unload()
    torch.testing.assert_close(merged(input_ids=ids.to("tpu")).logits, made, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(made.cpu(), reference(input_ids=ids).logits, rtol=1e-3, atol=1e-3)
