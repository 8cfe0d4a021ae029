# make check        install gpucheck and TensorFlow into .venv, then check this machine (for example ARGS="--full")
# make smoke-test   only the training jobs, to repeat often
# make quick        tests to run all day: engine, rules, logs, reports, recorded outputs; no TensorFlow
# make test         tests to run before a commit: also TensorFlow, crashes and hangs, the compiled fake driver, faults of tests/cases/lab
# make lab-chosen   a fault of tests/cases/lab for each code, and the cheapest repairs; continuous integration runs lint, test and this
# make test-all     everything, in five parts: main (with the browser and every experiment), lab, chaos, systems, and every other Python
#                   from 3.10 to 3.13 that is found; a restart continues with the part that did not pass
# make chaos        misbehaving child processes and hostile environments, as a matrix: the run is complete, on time, truthful, and leaves nothing behind
# make lab          inject every fault of tests/cases/lab and print the root cause that gpucheck names
# make cures        run the first repair of each fault as printed, and check again: cured, changed or left, as a table
# make cuda-wheels  download NVIDIA's own wheels and JAX's (6 GB, 13 GB in the end): `make cures` also breaks and repairs them; `make test-all` downloads them
# make systems      the recipes in real Slurm, Prometheus, systemd, Ray and MPI: as root, after `sh tests/systems/install.sh`; part of `make test-all`
# make gpu          on a machine with NVIDIA GPUs: healthy, with harmless faults, and against nvidia-smi and plain programs
# make goldens      rewrite tests/golden with the current output of gpucheck
# make fuzz         random content for the files that are read: 500 examples of each kind (EXAMPLES=N), then guided by coverage (SECONDS=N each)
# make patterns     the ten slowest patterns of logs and redaction, each on its worst text
# make releases     compare the tables of releases with PyPI; needs the network
# make audit        bandit on the package, and pip-audit on all packages in .venv; needs the network
# make dist         build the wheel, the source distribution and gpucheck.pyz, check them and run them; needs the network
# make lint, make docs, make bench
SHELL := /bin/sh
VENV ?= .venv
ARGS ?=
EXAMPLES ?= 500
SECONDS ?= 60
BIN := $(VENV)/bin
# Tests of hangs and limits wait: with one worker more than processors, another test uses the time.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS)
QUICK = tests/golden tests/rules tests/logs tests/reports tests/compat tests/expectations tests/test_*.py
# These run through every case or pattern once more.
NOT_QUICK = tests/rules/test_branches.py tests/rules/test_contradictions.py tests/logs/test_slow_lines.py

# TensorFlow has wheels for these versions. The first interpreter that is found creates the environment.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
  $$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)

# With an NVIDIA device (its control node, WSL's, or a display function on the bus), install TensorFlow with the CUDA libraries.
EXTRA ?= $(shell { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || { for d in /sys/bus/pci/devices/*; do \
  [ "$$(cat $$d/vendor $$d/class 2>/dev/null | tr -d '\n' | cut -c 1-10)" = 0x10de0x03 ] && echo yes; done | grep -q .; }; } \
  && echo cuda || echo tensorflow)

# NVIDIA's own libraries. Tests break copies of them under the fake driver.
CUDA := $(VENV)/cuda

# A part of `make test-all` that passed with these files is not repeated: test-all continues where it stopped.
PASSED = $(VENV)/passed/$(shell { git rev-parse HEAD; git diff HEAD; git status --porcelain; } 2>/dev/null | sha1sum | cut -c 1-12)

.PHONY: check gpu smoke-test quick test test-all all-main all-lab all-chaos all-systems all-pythons fuzz patterns releases lab-chosen lab cures cuda-wheels chaos systems audit lint goldens docs dist bench compiled clean

check: compiled
	$(BIN)/gpucheck --allow-cpu $(ARGS)

smoke-test: compiled
	$(BIN)/gpucheck --allow-cpu --strategy one_device --strategy mirrored $(ARGS)

quick: WORKERS := $(shell getconf _NPROCESSORS_ONLN)
quick: $(VENV)/.test
	$(PYTEST) -m "not tensorflow and not slow" $(addprefix --ignore ,$(NOT_QUICK)) $(QUICK) $(ARGS)

test: compiled $(VENV)/.test
	$(PYTEST) -rs -m "not slow and not lab_chosen" $(ARGS)

lab-chosen: compiled $(VENV)/.test
	$(PYTEST) -m "lab_chosen and not slow" tests/lab $(ARGS)

test-all: $(addprefix $(PASSED)/,main lab chaos systems pythons)

$(PASSED)/%:
	$(MAKE) all-$*
	@mkdir -p $(@D) && touch $@

all-main: compiled $(VENV)/.test $(VENV)/.tiers $(VENV)/.browser $(VENV)/.types $(VENV)/legacy/tf_keras
	$(PYTEST) -rs --cov --cov-report=term:skip-covered $(addprefix --ignore tests/,lab chaos systems) $(ARGS)

all-lab: $(CUDA)/.done lab

all-chaos: chaos

all-systems: systems

all-pythons: $(VENV)/.tiers
	$(BIN)/nox

patterns: compiled
	$(BIN)/python tools/slow_patterns.py

fuzz: $(VENV)/.test $(VENV)/.fuzz
	FUZZ_EXAMPLES=$(EXAMPLES) $(PYTEST) --timeout 3000 tests/fuzz $(ARGS)
	$(BIN)/python tests/fuzz/guided.py $(SECONDS)

releases: compiled
	$(BIN)/python tools/check_releases.py $(ARGS)

lab: compiled $(VENV)/.test
	$(PYTEST) tests/lab --tb=short $(ARGS)

cures: compiled $(VENV)/.test
	$(PYTEST) -rs tests/lab/test_cures.py tests/lab/test_cuda_wheels.py --tb=short $(ARGS)

systems: compiled $(VENV)/.test $(VENV)/.ray
	$(BIN)/python -m pytest -rsA -v tests/systems --tb=short $(ARGS)

cuda-wheels: $(CUDA)/.done $(CUDA)/others/.done

chaos: compiled $(VENV)/.test $(VENV)/.tiers $(VENV)/.dist
	$(PYTEST) -rs tests/chaos --tb=short $(ARGS)

audit: $(VENV)/.audit
	$(BIN)/bandit -q -r -c pyproject.toml gpucheck
	$(BIN)/pip-audit --strict --skip-editable

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

gpu: compiled $(VENV)/.test
	$(BIN)/python -m pytest -rs -v -m gpu tests/gpu --tb=short $(ARGS)

goldens: $(VENV)/.test
	$(PYTEST) tests/golden tests/reports/test_goldens.py tests/rules/test_cases.py tests/probes/test_cases.py tests/probes/test_fake_driver.py tests/expectations/test_cases.py tests/bench/test_plan.py tests/bench/test_report.py tests/cli/test_settings.py tests/setup/test_answers.py tests/screens tests/reports/test_browser.py --update-goldens

docs: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python docs/build.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

dist: $(VENV)/.dist
	$(BIN)/python tools/dist.py

bench: compiled
	$(BIN)/python benchmarks/run.py $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.10 to 3.13 was found; set one: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Keras 2, outside the environment: only its own tests may import it.
$(VENV)/legacy/tf_keras: | $(VENV)/.$(EXTRA)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/legacy tf-keras

$(CUDA)/.done: | $(VENV)/.$(EXTRA)
	release=$$($(BIN)/python -c 'from importlib.metadata import version; print(version("tensorflow"))') && \
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --only-binary :all: --dest $(CUDA)/wheels "tensorflow[and-cuda]==$$release"
	$(BIN)/python -m venv $(CUDA)/env
	$(CUDA)/env/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-index \
	  --find-links $(CUDA)/wheels "tensorflow[and-cuda]"
	@touch $@

# Packages that a repair installs beside TensorFlow, or in its place: `pip download` solves each with the packages that it needs.
$(CUDA)/others/.done: $(CUDA)/.done
	for wanted in "jax[cuda12]" tf_keras "tensorflow-tpu==2.20.0 libtpu==0.0.43.2"; do \
	  $(BIN)/python -m pip download --quiet --disable-pip-version-check --only-binary :all: --dest $(@D) $$wanted || exit 1; done
	rm -f $(@D)/tensorflow-2.*
	@touch $@

# One stamp file per extra, updated when the requirements change.
$(VENV)/.%: setup.py pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	@touch $@

# An editable install compiles nothing, and an environment may forbid Python to write bytecode at import.
compiled: $(VENV)/.$(EXTRA)
	@$(BIN)/python -m compileall -q gpucheck
