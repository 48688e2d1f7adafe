"""Fine-tunes a GPT-2 with the Trainer of transformers on device `tpu`, on the text of Python's help pages.

    .venv-ecosystem/bin/python examples/gpt2_finetune.py [--model FOLDER] [--steps N] [--quick]

`make ecosystem` makes the virtual environment. Without --model (a folder with a saved GPT-2 and its tokenizer) a small
GPT-2 with random weights learns bytes. One line is special to the device: torch_tpu.integrations.enable().
"""

import argparse
import os
import sys
import tempfile
from pydoc_data.topics import topics

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import torch_tpu.integrations

LENGTH = 64  # tokens of one example


def load(folder):
    """The model, and a function from text to a list of tokens."""
    if folder:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        return GPT2LMHeadModel.from_pretrained(folder), lambda text: tokenizer(text)["input_ids"]
    config = GPT2Config(
        vocab_size=256, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
    )
    return GPT2LMHeadModel(config), lambda text: list(text.encode())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--model", help="folder of a saved GPT-2, instead of random weights")
    arguments.add_argument("--steps", type=int, default=300)
    arguments.add_argument("--quick", action="store_true", help="20 steps")
    options = arguments.parse_args()

    torch_tpu.integrations.enable()
    torch.manual_seed(0)
    model, tokenize = load(options.model)
    tokens = tokenize("\n".join(topics[name] for name in sorted(topics)[:40]))
    rows = torch.tensor(tokens[: len(tokens) // LENGTH * LENGTH]).view(-1, LENGTH)
    examples = [{"input_ids": row, "labels": row} for row in rows]
    held = max(len(examples) // 20, 1)

    with tempfile.TemporaryDirectory() as folder:
        training = TrainingArguments(
            output_dir=folder,
            max_steps=20 if options.quick else options.steps,
            per_device_train_batch_size=8,
            learning_rate=2e-3,
            logging_steps=10,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(model=model, args=training, train_dataset=examples[held:], eval_dataset=examples[:held][:32])
        before = trainer.evaluate()["eval_loss"]
        trainer.train()
        after = trainer.evaluate()["eval_loss"]
    print(f"on {training.device}: loss on held-out text {before:.3f} -> {after:.3f}")
    return 0 if after < before else 1


if __name__ == "__main__":
    sys.exit(main())
