"""The commands of `python -m torch_tpu`, one module each; see torch_tpu/__main__.py."""
