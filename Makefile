# `make` alone lists the targets. Everything runs from .venv, which `setup` makes once and then only checks.

PYTHON ?= python3
PY := .venv/bin/python
# More than eight workers cost more to start than they save.
PYTEST := $(PY) -m pytest -n auto --maxprocesses 8 --doctest-modules src tests

export HYPOTHESIS_PROFILE ?= ci

.DEFAULT_GOAL := help
.PHONY: help setup demo lint check test test-kafka test-all golden docs docs-check format bench clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## create or refresh .venv (and a Java in it, if the machine has none)
	@$(PYTHON) tools/devenv.py

demo: setup ## watch a pipeline at work on Spark: files land, windows close, late rows are set aside
	@$(PY) -m tidegate demo

lint: setup
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(PY) -c 'from importlinter.cli import lint_imports_command as main; main()' --no-logo

check: lint ## format, lint, types, import contracts, fast tests, doctests: under a minute
	@HYPOTHESIS_PROFILE=quick $(PYTEST) -m "not spark and not kafka and not postgres and not slow and not thorough"

# Tests with Kafka's clients have a process of their own: one that is freed by the garbage collector has been seen to take
# its process along.
test: lint docs-check ## check, generated docs, and all tests but the slow ones and those with Kafka
	@$(PYTEST) -m "not slow and not kafka"

test-kafka: setup ## the tests with an Apache Kafka, which is fetched and started
	@$(PY) -m pytest -m "kafka and not slow" tests

test-all: lint docs-check ## test, and the slow ones
	@$(PYTEST) -m "not kafka"
	@$(PY) -m pytest -m kafka tests

golden: setup ## write the golden files of EXPLAIN anew; read the difference before you commit it
	@GOLDEN=write $(PY) -m pytest -q -p no:randomly tests/plan/explain
	@git status --short tests/plan/explain/golden

docs: setup ## regenerate the pages that come from the code
	@$(PY) tools/gendocs.py

docs-check: setup
	@$(PY) tools/gendocs.py --check

format: setup ## format, and fix what ruff can fix
	@$(PY) -m ruff check --fix --quiet . || true
	@$(PY) -m ruff format .

bench: setup ## measure, and compare with the aims
	@$(PY) -m benchmarks

clean: ## remove caches and build products
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@rm -rf spark-warehouse metastore_db derby.log artifacts
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## clean, and remove .venv
	@rm -rf .venv
