# Everything a newcomer needs: `make demo` and `make test`. Both set up what they need first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
KERNELS := setup.py regard/engine/compiling.py $(wildcard regard/engine/cpp/*)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench docs wheel studio studio-check clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## Create .venv and install Regard with every tested version

# Installing compiles the C++ kernels, where there is a compiler: so again when they have changed.
$(STAMP): pyproject.toml constraints.txt $(KERNELS)
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Regard needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[develop]'
	touch $@

# A quick look at how it works: make demo DEMO_OPTIONS="--updates 60 --test-size 100"
demo: $(STAMP)  ## Train a translator in minutes, measure it, look inside
	$(BIN)/regard demo $(DEMO_OPTIONS)

# Compiled modules are kept whatever the environment says: each worker would compile all tests again.
test: $(STAMP)  ## Run all tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_OPTIONS)

check: $(STAMP)  ## Format, lint, types, import direction
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -p no:xdist tests/unit/test_import_direction.py

format: $(STAMP)  ## Put the code in its canonical form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## List the benchmarks and how to run them
	@grep -h '^    \$$ ' benchmarks/*.py || true

docs: $(STAMP)  ## Build the documentation into site/ (offline)
	$(BIN)/mkdocs build --strict

# What an earlier build left would go into the wheel.
wheel: $(STAMP)  ## Build a wheel with the C++ kernels for this kind of machine into dist/
	rm -rf build dist
	REGARD_REQUIRE_NATIVE=1 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

studio/node_modules: studio/package-lock.json
	cd studio && npm ci --no-audit --no-fund && touch node_modules

studio: studio/node_modules  ## Build the page into regard.inspection.viewer (needs npm)
	cd studio && npm run --silent build

studio-check: studio/node_modules  ## Types and tests of the page; is the built one current?
	cd studio && npm run --silent check

clean:  ## Remove what can be built again
	rm -rf $(VENV) build dist site regard/engine/compiled *.egg-info .pytest_cache .mypy_cache .ruff_cache
