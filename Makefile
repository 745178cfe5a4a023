# Two commands do everything on a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/kernels/*)

DATA ?= ../shared/data  # a folder of Parquet files; where there is none, sets that are computed

.PHONY: demo test lint format bench install clean

demo: $(STAMP)  ## train, cross-validate and save models on data that the package computes itself
	$(BIN)/python examples/demo.py

test: $(STAMP)  ## the whole test suite, with doctests
	$(BIN)/python -m pytest -n auto

lint: $(STAMP)  ## formatting, lint, types and the layer contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror src/kernels/*
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## a quick experiment, done twice: the second run must find all cells of the first
	rm -rf bench && mkdir bench
	$(BIN)/countwise bench run --quick $(addprefix --data ,$(wildcard $(DATA))) --out bench > bench/first.txt
	$(BIN)/countwise bench run --quick $(addprefix --data ,$(wildcard $(DATA))) --out bench > bench/again.txt
	cmp bench/first.txt bench/again.txt
	cat bench/first.txt
	$(BIN)/countwise bench report bench --out bench/report.html

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i src/kernels/*

install: $(STAMP)

# Editable: Python changes are live; a change of a kernel or of the build files installs again.
$(STAMP): $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist demo bench
