# Every target installs what it needs into a local virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= 2
# One BLAS thread per process: the test workers and the learners' own threads already fill the cores.
ONE_BLAS_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: demo test test-all lint bench docs format clean

demo: $(VENV)/.installed
	mkdir -p demo
	$(BIN)/verulam compare titanic --store demo/titanic.sqlite --report demo/titanic.html

test: lint
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n $(WORKERS) -q

test-all: lint $(VENV)/.installed-peers
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n $(WORKERS) -q -m ""

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

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

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e ".[dev,dask]"
	touch $@

$(VENV)/.installed-peers: $(VENV)/.installed-dev
	$(PIP) install -c constraints.txt -e ".[dev,dask,peers]"
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e ".[docs]"
	touch $@
