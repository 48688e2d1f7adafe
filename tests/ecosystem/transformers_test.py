"""transformers: the Trainer fine-tunes, saves, resumes and evaluates; generate() gives the CPU's tokens."""

import copy

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from conftest import VOCABULARY, largest_difference, tokens

STEPS = 12


def small_gpt2():
    torch.manual_seed(0)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=64,
            n_embd=64,
            n_layer=2,
            n_head=4,
            bos_token_id=0,
            eos_token_id=0,
            resid_pdrop=0.0,  # dropout draws other numbers on each device
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )


def trainer(blocks, directory, **arguments):
    arguments = TrainingArguments(
        output_dir=str(directory),
        max_steps=STEPS,
        per_device_train_batch_size=8,
        learning_rate=3e-3,
        logging_steps=1,
        save_steps=STEPS // 2,
        report_to=[],
        disable_tqdm=True,
        **arguments,
    )
    return Trainer(model=small_gpt2(), args=arguments, train_dataset=blocks[:48], eval_dataset=blocks[48:])


def losses(trained):
    return [entry["loss"] for entry in trained.state.log_history if "loss" in entry]


@pytest.fixture(scope="module")
def on_cpu(blocks, tmp_path_factory):
    """Losses and evaluation of the same training on the CPU."""
    reference = trainer(blocks, tmp_path_factory.mktemp("cpu"), use_cpu=True)
    reference.train()
    return losses(reference), reference.evaluate()["eval_loss"]


def test_trainer_fine_tunes_saves_resumes_and_evaluates(blocks, on_cpu, tmp_path, enabled, report):
    first = trainer(blocks, tmp_path)
    assert first.args.device.type == first.accelerator.device.type == "tpu"
    first.train()
    assert next(first.model.parameters()).is_tpu
    assert first.model.lm_head.weight is first.model.transformer.wte.weight  # still tied
    evaluated = first.evaluate()["eval_loss"]

    resumed = trainer(blocks, tmp_path)
    resumed.train(resume_from_checkpoint=str(tmp_path / f"checkpoint-{STEPS // 2}"))
    assert losses(resumed) == losses(first)  # those before the checkpoint come from its state, the others are new
    assert resumed.evaluate()["eval_loss"] == evaluated

    loaded = GPT2LMHeadModel.from_pretrained(tmp_path / f"checkpoint-{STEPS}", device_map="tpu")
    ids = blocks[0]["input_ids"][None].to("tpu")
    assert loaded.device.type == "tpu"
    torch.testing.assert_close(loaded(ids).logits, first.model.eval()(ids).logits, rtol=1e-5, atol=1e-6)

    difference = largest_difference([*losses(first), evaluated], [*on_cpu[0], on_cpu[1]])
    program = "Trainer: GPT-2, 12 steps, save, resume, evaluate, float32"
    report("transformers", program, f"losses within {difference:.0e}")
    assert losses(first)[-1] < losses(first)[0] - 0.5 and difference < 1e-3


def test_trainer_in_bfloat16(blocks, on_cpu, tmp_path, enabled, report):
    trained = trainer(blocks, tmp_path, bf16=True)
    trained.train()
    difference = largest_difference([*losses(trained), trained.evaluate()["eval_loss"]], [*on_cpu[0], on_cpu[1]])
    report("transformers", "Trainer: GPT-2, 12 steps, bf16=True", f"losses within {difference:.0e} of float32")
    assert 0 < difference < 3e-2  # not 0: bfloat16 was used


@pytest.fixture(scope="module")
def llama():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
    )
    return LlamaForCausalLM(config).eval()


@pytest.mark.parametrize(
    ("attention", "cache"),
    [
        ("sdpa", "dynamic"),
        ("eager", "dynamic"),
        ("sdpa", "static"),  # transformers compiles the step with torch.compile, whose backend is `tpu` here
    ],
)
def test_llama_generates_the_tokens_of_the_cpu(llama, attention, cache, report):
    """Greedy, two prompts of different lengths, padded on the left."""
    prompts = tokens(20).view(2, 10)
    mask = torch.ones_like(prompts)
    mask[0, :3] = 0
    options = dict(max_new_tokens=24, do_sample=False, pad_token_id=0)
    llama.set_attn_implementation(attention)
    expected = llama.generate(prompts, attention_mask=mask, **options)
    model = copy.deepcopy(llama).to("tpu")
    made = model.generate(prompts.to("tpu"), attention_mask=mask.to("tpu"), cache_implementation=cache, **options)
    assert made.is_tpu and made.shape == (2, 34)
    same = int((made.cpu() == expected)[:, 10:].sum())
    program = f"Llama: generate(), greedy, attention {attention}, {cache} cache, float32"
    report("transformers", program, f"{same} of 48 tokens the same")
    assert same == 48


def test_llama_samples_within_the_vocabulary_and_repeats_with_the_seed(llama):
    model = copy.deepcopy(llama).to("tpu")
    prompts = tokens(10)[None].to("tpu")

    def sample(seed):
        torch.manual_seed(seed)
        return model.generate(prompts, max_new_tokens=8, do_sample=True, top_k=20, top_p=0.9, pad_token_id=0).tolist()

    assert sample(0) == sample(0) != sample(1)
    assert all(0 <= token < VOCABULARY for token in sample(0)[0])
