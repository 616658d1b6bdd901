# Every target installs what it needs into a local virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= 2
# One BLAS thread per process: the test workers and the learners' own threads already fill the cores.
ONE_BLAS_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

# Modules are compiled once, not in every process that a test or a comparison starts.
export PYTHONDONTWRITEBYTECODE :=

# Started with the checks: each test module is read and compiled once, not by all workers at a time.
COLLECT := $(BIN)/python -m pytest --collect-only -q >/dev/null || true
# What takes long runs on two cores; what each has to say is printed in one piece, where make can.
SIDE_BY_SIDE := $(MAKE) --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: demo test test-all lint check-types check-style collect bench docs format clean

demo: $(VENV)/.installed
	mkdir -p demo
	$(BIN)/verulam compare titanic --store demo/titanic.sqlite --report demo/titanic.html

test: $(VENV)/.installed-dev
	$(SIDE_BY_SIDE) check-types check-style collect
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

test-all: lint $(VENV)/.installed-peers
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q -m ""

lint: $(VENV)/.installed-dev
	$(SIDE_BY_SIDE) check-types check-style

check-types: $(VENV)/.installed-dev
	$(BIN)/mypy

check-style: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

collect: $(VENV)/.installed-dev
	$(COLLECT)

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-peers
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed-docs
	$(BIN)/python docs/draw_figures.py
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) demo site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e .
	touch $@

# Python compiles what the tests import when they do; most of the packages' modules they never do.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --no-compile -c constraints.txt -e ".[dev,dask]"
	touch $@

$(VENV)/.installed-peers: $(VENV)/.installed-dev
	$(PIP) install -c constraints.txt -e ".[dev,dask,peers]"
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e ".[docs]"
	touch $@
