# From a bare checkout, with only python3 (and its venv module) and make:
#   make demo    the whole product on a simulated community, ending in a report
#   make test    every test and gate
.DEFAULT_GOAL := help
.PHONY: help demo test test-quick test-long lint types imports unit docs docs-check side-by-side browser peers pins sbom clean

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
DEMO_OUT ?= demo
DEMO_OPTIONS ?=
WORKERS ?= 3
LIMIT_S ?= 1300
KERNEL_LIMIT_S ?= 60
QUICK_LIMIT_S ?= 230

help:
	@echo "make demo       run everything on a simulated community; prints where the report is"
	@echo "make test       all tests and gates (installs what they need)"
	@echo "make test-quick unit and property tests alone, for the inner loop (under two minutes)"
	@echo "make test-long  the long versions of the size and statistical tests"
	@echo "make peers      add the libraries that 'sottovoce bench' compares with"
	@echo "make docs       build the documentation into docs/_build/html"
	@echo "make sbom       write the bill of materials (CycloneDX) to dist/sottovoce.cdx.json"
	@echo "make pins       resolve the pinned versions in constraints/ again"
	@echo "make clean      remove the environment and everything built"

$(VENV)/run.ready: constraints/run.txt pyproject.toml sottovoce-lab/pyproject.toml sottovoce-spark/pyproject.toml
	@echo "Creating the environment in $(VENV) (once; one to two minutes) ..."
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Sottovoce needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes --requirement constraints/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable . --editable sottovoce-lab --editable sottovoce-spark
	@touch $@

$(VENV)/dev.ready: constraints/dev.txt $(VENV)/run.ready
	@echo "Adding the tools for tests and gates (once) ..."
	@$(PIP) install --require-hashes --requirement constraints/dev.txt
	@touch $@

$(VENV)/peers.ready: constraints/peers.txt $(VENV)/run.ready
	@echo "Adding the libraries we are compared with (once) ..."
	@$(PIP) install --require-hashes --requirement constraints/peers.txt
	@touch $@

demo: $(VENV)/run.ready
	@$(BIN)/sottovoce demo --out $(DEMO_OUT) $(DEMO_OPTIONS)

test: lint imports browser side-by-side
	@echo "All tests and gates passed."

# Types and pages are checked in the moments in which tests wait.
side-by-side: $(VENV)/dev.ready
	@$(MAKE) --no-print-directory --jobs=3 types docs-check unit

lint: $(VENV)/dev.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/dev.ready
	$(BIN)/mypy

imports: $(VENV)/dev.ready
	$(BIN)/lint-imports

# Every page is read and every reference followed; what is not done is to draw pages, six parts of seven.
docs-check: $(VENV)/dev.ready
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b dummy docs docs/_build/check

docs: $(VENV)/dev.ready
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_build/html

# Says plainly when chromium cannot be had; the browser tests then skip with that reason.
browser:
	@$(PYTHON) tools/chromium.py

# Threads of linear algebra wait for each other by turning, which is processor time for nothing.
unit test-quick: export OPENBLAS_NUM_THREADS = 1
unit test-quick: export OMP_NUM_THREADS = 1
# Compiled tests and modules are kept, whatever the shell says: else each process compiles them again.
unit test-quick test-long: export PYTHONDONTWRITEBYTECODE =

# The second run has compilation off: coverage cannot see inside machine code.
# The limits are processor seconds of an idle machine: tests/support/costs.py. LIMIT_S rose from 950: the attacks,
# planted faults and failing calls of two mends cost 190, and one run differs from the next by a tenth.
unit: $(VENV)/dev.ready
	@$(BIN)/coverage erase
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not long" --processor-limit $(LIMIT_S) --cov --cov-report= --cov-fail-under=0
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n $(WORKERS) -m "kernel and not long" --processor-limit $(KERNEL_LIMIT_S) \
	  --cov --cov-append --cov-report= --cov-fail-under=0 $$(grep --recursive --include="*.py" --files-with-matches mark.kernel tests)
	$(BIN)/coverage report

test-quick: $(VENV)/dev.ready
	$(BIN)/pytest -n $(WORKERS) -m "not long" --processor-limit $(QUICK_LIMIT_S) tests/unit tests/property

test-long: $(VENV)/dev.ready
	$(BIN)/pytest -m long --system-randomness
	$(BIN)/pytest -n $(WORKERS) -m "not long" --system-randomness --hypothesis-profile new-examples tests/property

peers: $(VENV)/peers.ready
	@echo "Peers installed: 'sottovoce bench' now compares with them."

# Hashes, but no registry addresses: a plain pip requirements format. Extras stay: the pip of
# Python 3.11 takes coverage[toml] for another package than coverage, unpinned, once a newer version is out.
COMPILE = $(BIN)/uv pip compile pyproject.toml --quiet --upgrade --generate-hashes --no-header --no-annotate --no-emit-index-url \
  --no-strip-extras --python-version 3.11
pins: $(VENV)/run.ready
	@$(PIP) install uv
	$(COMPILE) --extra all --group editable --output-file constraints/run.txt
	$(COMPILE) --all-extras --group dev --constraint constraints/run.txt --output-file constraints/dev.txt
	$(COMPILE) --all-extras --group peers --constraint constraints/dev.txt --output-file constraints/peers.txt

# Needs no environment: a bill is of the pins, not of what happens to be installed.
sbom:
	@mkdir -p dist
	@$(PYTHON) tools/sbom.py constraints/run.txt > dist/sottovoce.cdx.json
	@echo "dist/sottovoce.cdx.json"

clean:
	rm -rf $(VENV) $(DEMO_OUT) build dist docs/_build docs/generated .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
