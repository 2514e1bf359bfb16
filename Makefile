# `make demo` and `make test` need only Python 3.11 or newer, git and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
TESTS ?= tests
JOBS ?= 2

.PHONY: help demo test test-all lint format docs gallery pictures golden clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; PYTHON=/path/to/python3 make … selects one."; exit 1; }
	@$(PYTHON) -m venv .venv \
	  || { echo "Python's venv module is needed (Debian, Ubuntu: apt install python3-venv)."; exit 1; }
	@touch $@

.venv/installed: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q grader  # children may not write beside the sources
	@touch $@

.venv/installed-test: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,browser,triton]'
	@$(BIN)/python -m compileall -q grader
	@touch .venv/installed $@

demo: .venv/installed ## grade the shipped example submission and print its report
	-$(BIN)/grade submit assignment3 assignments/assignment3/submissions/out_of_bounds/no_guard.cu --exit-zero
	$(BIN)/grade submit assignment3 assignments/assignment3/submissions/accepted/plain.cu
	-@$(BIN)/python -c 'from grader.programs import toolchain; toolchain.libraries(print)'

test: .venv/installed-test ## run the quick tests
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow' $(TESTS)

test-all: .venv/installed-test ## run every test, the slow ones too, and verify every assignment
	$(BIN)/python -m pytest -n $(JOBS) $(TESTS)
	$(BIN)/grade verify

lint: .venv/installed-test ## what CI lints
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/installed-test ## format the Python sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/installed ## write the pages of docs/ that are made from the code
	$(BIN)/python -m grader.report.pages docs

gallery: .venv/installed ## the report of every known submission, in build/gallery
	$(BIN)/python -m grader.gallery build/gallery

pictures: gallery .venv/installed-test ## the screenshots of docs/, taken from the gallery
	$(BIN)/python -m tests.browser.pictures build/gallery docs/pictures

golden: .venv/installed-test ## accept the reports as they are now
	$(BIN)/python -m pytest tests/golden --accept

clean: ## remove what make made
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
