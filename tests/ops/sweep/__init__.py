"""The sweep: PyTorch's op_db, module_db and optim_db on `tpu` against the CPU, test by test, in a store that grows.

    make opinfo                    the next quarter of an hour of it; again, until all is done
    make opinfo SHARD=2/8          of one eighth of the entries
    make opinfo ARGS="--setting host-off --variant forward --dtype float32"

A *test* is one entry of a database, one dtype, one variant (`variants.py`) and one setting (`settings.py`). It runs in
a guarded child process (`guard.py`, `child.py`): a crash or a hang is a result. Results go to a folder (`store.py`)
with a fingerprint of what they depend on (`fingerprint.py`), so that a run repeats only what changed. `tables.py`
judges them by expected.py and writes what is published.
"""
