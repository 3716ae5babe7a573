# Every target sets itself up: only Python ≥ 3.11 and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# evidence-full takes hours: `make evidence-hours` says how many.
.PHONY: bench clean demo docs evidence evidence-full evidence-hours evidence-quick lint test test-all test-oldest wheel

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# A stamp for each set of extras, renewed when the dependencies change.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

demo: $(VENV)/.installed-cli ## select features on embedded data, show the ranking, write report.html
	$(BIN)/covmin demo

# A worker for each core, each with one thread of BLAS: more would wait for each other.
PYTEST := SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

test: $(VENV)/.installed-test ## run the tests but for the slow ones
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.installed-test ## run all tests: faults, large tables, pages and examples too
	$(PYTEST)

bench: $(VENV)/.installed-dev ## fits from disk, and beside boosted trees
	$(BIN)/python -m experiments large grid

test-oldest: ## run the tests with the oldest versions that are supported
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) .ci/oldest > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --editable ".[test]" \
		--constraint .venv-oldest/oldest.txt
	@# Old libraries may use what newer ones are about to remove.
	SCIPY_ARRAY_API=1 .venv-oldest/bin/python -m pytest -W default::DeprecationWarning

lint: $(VENV)/.installed-dev ## style, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs ## build the site, warnings are errors: docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html

evidence: $(VENV)/.installed-test ## tables and pictures of the docs, from the files of results
	$(BIN)/python -m experiments.pages

evidence-hours: $(VENV)/.installed-test ## what makes the files of results, and how long it takes
	$(BIN)/python -m experiments.pages --runs

evidence-quick: $(VENV)/.installed-dev ## one number of each table again: does it agree?
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.quick

evidence-full: $(VENV)/.installed-dev ## the files of results from scratch, then tables and pictures
	$(BIN)/python -m experiments.pages --run

wheel: $(VENV)/.installed-dev ## build the release into dist/, and check what is in it
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python .ci/contents dist

clean:
	rm -rf $(VENV) build dist docs/_build docs/auto_examples docs/api
