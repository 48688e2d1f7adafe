# Everyday commands; `make help` lists them. Each is incremental: stamp files in .venv and the Ninja build folder know
# what is up to date, Python sources are used in place, and C++ goes to python/torch_tpu/_C*.so.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ECO := .venv-ecosystem
PYTEST := $(BIN)/python -m pytest -n 2
SECOND_PLUGIN = $$(echo $(CURDIR)/$(VENV)/lib/python3*/site-packages/fastatomstruct_xla_cpu/libpjrt_cpu.so)
SHARD ?= 1/1
MAKEFLAGS += --no-print-directory
export PATH := $(CURDIR)/$(BIN):$(PATH)
.DEFAULT_GOAL := help

## Use
demo: build           ## train a convolutional network on handwritten digits, on device tpu
	@$(BIN)/python examples/digits.py

test:                 ## set up, build, and run every test, C++ and Python
	@rm -f build/seconds.txt
	@tools/seconds.sh "set-up" $(MAKE) setup $(VENV)/.gtest
	@tools/seconds.sh "build" $(MAKE) build
	@tools/seconds.sh "C++ tests" ctest --preset dev
	@tools/seconds.sh "2nd plugin" $(MAKE) second-plugin
	@SECONDS_FILE=build/seconds.txt $(PYTEST) -m "not slow" $(ARGS) tests

bench: build          ## time ops and training steps against torch on the CPU
	@$(BIN)/python benchmarks/run.py $(ARGS)

soak: build           ## train for 100,000 steps and say what grew: nothing may
	@$(BIN)/python benchmarks/soak.py $(ARGS)

wheel: setup          ## an installable wheel in dist/
	@$(BIN)/pip wheel . --no-build-isolation --no-deps -w dist

## Check
lint: setup           ## formats, Python rules, layers (pre-commit on all files)
	@$(BIN)/pre-commit run --all-files

opinfo: build         ## the sweep of op_db, module_db, optim_db: 15 minutes more of it (SHARD=2/8, ARGS=--help)
	@PYTHONPATH=$(CURDIR)/tests/ops $(BIN)/python -m sweep --shard $(SHARD) $(ARGS)

slow: build           ## the tests that `make test` leaves out: more dtypes and modes of what compiles slowly
	@$(PYTEST) -m slow $(ARGS) --ignore tests/dist tests

dist: build           ## torch.distributed with four processes (`make test` takes two)
	@$(BIN)/python -m pytest $(ARGS) -m slow tests/dist

ecosystem: $(ECO)/.requirements build  ## transformers, accelerate, peft, ... beside the CPU; writes docs/ecosystem.md
	@ECOSYSTEM_TABLE=$(CURDIR)/docs/ecosystem.md $(ECO)/bin/python -m pytest $(ARGS) tests/ecosystem

second-plugin:        ## what `make test` runs on the second CPU plugin: C++, tiny_test.py, one OpInfo sample per op
	@TORCH_TPU_PLUGIN=$(SECOND_PLUGIN) ctest --preset dev -R "pjrt_test|view_test|golden_test"
	@TORCH_TPU_PLUGIN=$(SECOND_PLUGIN) OPINFO_SAMPLES=1 $(PYTEST) -q -m second_plugin tests/tiny_test.py tests/ops/opinfo_test.py

tpu-check: build .libtpu/libtpu  ## compile the examples for v5e and v6e with libtpu (137 MB, from PyPI) -> docs/tpu_check.md
	@$(BIN)/python tools/tpu_check.py .libtpu/libtpu/libtpu.so

test-plugins: build   ## the Python tests on the second CPU plugin, fastatomstruct-xla-cpu
	@TORCH_TPU_PLUGIN=$(SECOND_PLUGIN) $(PYTEST) -m "not slow" $(ARGS) tests

asan ubsan tsan: setup $(VENV)/.gtest  ## the C++ tests under a sanitizer
	@cmake --preset $@ --log-level=WARNING
	@cmake --build --preset $@
	@ctest --preset $@

## Parts
setup: $(VENV)/.requirements $(VENV)/.editable  ## .venv with the pinned dependencies and this package, editable

build: setup          ## the C++ core
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev

clean:                ## remove everything made here, .venv too
	rm -rf build dist .libtpu $(VENV) $(ECO) python/torch_tpu/*.so

help:
	@sed -nE 's/^## (.*)/\n\1/p; s/^([a-z][a-z -]*):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 26

$(VENV)/.requirements: requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q $$(grep '^torch==' requirements-dev.txt)
	$(BIN)/pip install -q -r requirements-dev.txt
	@touch $@

$(VENV)/.editable: pyproject.toml $(VENV)/.requirements
	$(BIN)/pip install -q --no-build-isolation --no-deps -e .
	@touch $@

$(ECO)/.requirements: requirements-ecosystem.txt pyproject.toml
	$(PYTHON) -m venv $(ECO)
	$(ECO)/bin/pip install -q $$(grep '^torch==' requirements-ecosystem.txt)
	$(ECO)/bin/pip install -q -r requirements-ecosystem.txt
	$(ECO)/bin/pip install -q --no-build-isolation --no-deps -e .
	@touch $@

# Beside .venv, whose tests must not find it; its licence is Google's, so it is never part of anything made here.
.libtpu/libtpu:
	$(BIN)/pip install -q --no-deps --target .libtpu $$(sed -nE 's/^tpu-check = \["(libtpu==[0-9.]+)".*/\1/p' pyproject.toml)

$(VENV)/.gtest: tools/install_gtest.sh
	tools/install_gtest.sh $(VENV)/gtest
	@touch $@

.PHONY: demo test slow bench soak wheel lint opinfo dist ecosystem tpu-check second-plugin test-plugins asan ubsan tsan setup build clean help
