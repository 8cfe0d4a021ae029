# make check        install gpucheck and TensorFlow into .venv, then check this machine (ARGS="--full" and the like)
# make smoke-test   the recurring check: the training jobs only
# make lab          inject every fault of tests/lab and print which root cause was named
# make goldens      rewrite tests/golden with what gpucheck prints now
# make test, make lint, make docs, make bench
SHELL := /bin/sh
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin

# TensorFlow has wheels for these; the first interpreter found among them makes the environment.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
  $$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)

# With an NVIDIA device (its control node, WSL's, or a display function on the bus), TensorFlow comes with CUDA's libraries.
EXTRA ?= $(shell { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || { for d in /sys/bus/pci/devices/*; do \
  [ "$$(cat $$d/vendor $$d/class 2>/dev/null | tr -d '\n' | cut -c 1-10)" = 0x10de0x03 ] && echo yes; done | grep -q .; }; } \
  && echo cuda || echo tensorflow)

.PHONY: check smoke-test test lab lint goldens docs bench compiled clean

check: compiled
	$(BIN)/gpucheck --allow-cpu $(ARGS)

smoke-test: compiled
	$(BIN)/gpucheck --allow-cpu --strategy one_device --strategy mirrored $(ARGS)

test: $(VENV)/.$(EXTRA) $(VENV)/.test $(VENV)/legacy/tf_keras
	$(BIN)/python -m pytest $(ARGS)

lab: compiled $(VENV)/.test
	$(BIN)/python -m pytest tests/lab -q -s --tb=short $(ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

goldens: $(VENV)/.test
	$(BIN)/python -m pytest -q tests/golden --update-goldens

docs: $(VENV)/.test
	$(BIN)/python docs/build.py

bench: compiled
	$(BIN)/python benchmarks/run.py $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.10 to 3.13 was found; name one: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Keras 2, beside the environment: only the tests of it may see it.
$(VENV)/legacy/tf_keras: | $(VENV)/.$(EXTRA)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/legacy tf-keras

# One stamp per extra, remade when the requirements change.
$(VENV)/.%: setup.py pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	@touch $@

# An editable install compiles nothing by itself, and an environment may forbid Python to do it on the way.
compiled: $(VENV)/.$(EXTRA)
	@$(BIN)/python -m compileall -q gpucheck
