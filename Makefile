# Each target creates .venv and installs what it needs by itself.
# The one thing needed before: apt-get install -y make python3-venv
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test slow fuzz lint docs bench format lock clean
FUZZ ?= 1
COMPILE := --quiet --no-annotate --no-header --all-extras

help:
	@echo "make demo    an octopus crawls: a table, a picture, a replay (results/)"
	@echo "make test    everything a newcomer needs to trust"
	@echo "make slow    the tests that take long, before a release"
	@echo "make fuzz    mutated input, extreme, killed and long runs: hours; FUZZ=0.01 some minutes"
	@echo "make lint    ruff, pyright"
	@echo "make docs    the documentation site, in site/"
	@echo "make bench   this machine's speed, side by side with other programs"
	@echo "make format  let ruff format the code;  make lock: resolve constraints.txt and locks/ anew;  make clean"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make: hydrostat needs Python >= 3.11; got $$($(PYTHON) --version 2>&1); set PYTHON=..." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "make: no virtual environment could be made; try: apt-get install -y python3-venv" >&2; exit 2; }

$(VENV)/.run: $(BIN)/python $(SOURCES)
	@echo "installing hydrostat (about a minute the first time) ..."
	@$(PIP) -e '.[view]'
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "installing the tools for testing ..."
	@$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.run
	@$(PIP) -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.run
	@$(PIP) -e '.[bench]'
	@touch $@

demo: $(VENV)/.run
	@$(BIN)/hydrostat run octopus-crawl

test: $(VENV)/.dev
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

slow: $(VENV)/.dev
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

fuzz: $(VENV)/.dev
	@$(BIN)/python tests/fuzzing/fuzz.py --scale $(FUZZ)

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

docs: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site
	@echo "site/index.html"

bench: $(VENV)/.bench
	@$(BIN)/python benchmarks/run.py

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

lock: $(VENV)/.dev
	@$(PIP) uv
	@$(BIN)/uv pip compile $(COMPILE) --upgrade --python-version 3.11 -o constraints.txt pyproject.toml
	@$(BIN)/uv pip compile $(COMPILE) --generate-hashes --python-version 3.11 -c constraints.txt -o locks/python-3.11.txt pyproject.toml
	@$(BIN)/uv pip compile $(COMPILE) --generate-hashes --upgrade --python-version 3.12 -o locks/python-3.12.txt pyproject.toml

clean:
	rm -rf $(VENV) site build dist .pytest_cache .ruff_cache .hypothesis
