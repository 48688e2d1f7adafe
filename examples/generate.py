"""Generates text with a Llama of transformers on device `tpu`, greedily, and compares with the CPU token for token.

    .venv-ecosystem/bin/python examples/generate.py [--model FOLDER --prompt TEXT] [--tokens N] [--quick]

`make ecosystem` makes the virtual environment. Without --model (a folder with a saved causal language model and its
tokenizer) a small Llama with random weights goes on from a few bytes: what it says means nothing, but both devices must
say it.
"""

import argparse
import os
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM


def load(folder, prompt):
    """The model, the prompt as tokens [1, n], and a function from tokens to text."""
    if folder:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        return model, tokenizer(prompt, return_tensors="pt")["input_ids"], tokenizer.decode
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    return LlamaForCausalLM(config), torch.tensor([list(prompt.encode())]), lambda tokens: bytes(tokens.tolist())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", help="folder of a saved model, instead of random weights")
    arguments.add_argument("--prompt", default="Beautiful is better than")
    arguments.add_argument("--tokens", type=int, default=48, help="number of new tokens")
    arguments.add_argument("--quick", action="store_true", help="8 tokens")
    options = arguments.parse_args()

    model, prompt, to_text = load(options.model, options.prompt)
    model.eval()
    length = 8 if options.quick else options.tokens
    made = {}
    for device in ("cpu", "tpu"):
        model.to(device)
        ids = prompt.to(device)
        begin = time.perf_counter()
        tokens = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=length, do_sample=False, pad_token_id=0
        )
        made[device] = tokens[0, prompt.shape[1] :].cpu()
        print(f"{device}: {len(made[device])} tokens in {time.perf_counter() - begin:.1f} s: {to_text(made[device])!r}")
    same = torch.equal(made["cpu"], made["tpu"])
    print("the same tokens" if same else "the tokens differ")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
