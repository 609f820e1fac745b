# Every target builds what it needs, and only when it is missing or out of date.
# Another Python beside the first: make test PYTHON=python3.13 VENV=.venv-3.13

PYTHON ?= python3
VENV ?= .venv
# Handed on to the program: make test ARGS="-k hessian -x"
ARGS ?=
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 600

BIN := $(VENV)/bin
SDK_VENV := .venv-$(notdir $(PYTHON))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
FUZZER := $(VENV)/fuzzer

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup serve test sdk-test fleet-test soak coverage check format fuzz docs bench clean container-test

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(DEV) ## Install both distributions, editable, with all tools into .venv

serve: $(RUNTIME) ## Start the service on 127.0.0.1:8000 (needs the runtime only)
	@exec $(BIN)/gradwire-server serve $(ARGS)

test: $(DEV) ## Run all tests
	@$(BIN)/pytest $(ARGS)

sdk-test: ## Test the SDK with another Python, without what only adapters need: make sdk-test PYTHON=python3.13
	@test -x $(SDK_VENV)/bin/pytest || { $(PYTHON) -m venv --clear $(SDK_VENV) \
	&& $(SDK_VENV)/bin/python -m pip --disable-pip-version-check --quiet install --editable . --editable 'clients/python[test]'; }
	@$(SDK_VENV)/bin/pytest tests/clients --ignore tests/clients/adapters $(ARGS)

fleet-test: $(DEV) ## Run the tests of running services alone: fleets, faults, load (nginx and Redis if installed)
	@FLEET_OVERLOAD_SECONDS=20 $(BIN)/pytest tests/fleet $(ARGS)

soak: $(DEV) ## Load a service for SOAK_SECONDS and look for what grows
	@FLEET_SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/pytest tests/fleet/test_soak.py -rA $(ARGS)

coverage: $(DEV) ## Run all tests and report the branches that none of them takes
	@$(BIN)/pytest --cov --cov-report=term $(ARGS)

check: $(DEV) ## Lint, check format, types and import directions
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	@VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(BIN)):$$PATH $(BIN)/pyright --verifytypes gradwire --ignoreexternal \
	> .pyright.log || { grep -E 'error:|score' .pyright.log; false; }

container-test: $(DEV) ## Build the image, bring the compose file up and test both, by podman as root on Debian 12
	@$(BIN)/pytest tests/containers $(ARGS)
	@$(BIN)/python tools/container_inputs.py > deploy/container-test.passed

format: $(DEV) ## Format and apply the safe fixes
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

fuzz: $(DEV) ## Fuzz every decoder for FUZZ_SECONDS each, where atheris has a wheel for this Python
	@test -d $(FUZZER) || $(PIP) install --only-binary :all: --no-deps --target $(FUZZER) atheris || true
	@if test -d $(FUZZER); \
	then PYTHONPATH=$(FUZZER) $(BIN)/python fuzz/campaign.py --seconds $(FUZZ_SECONDS) $(ARGS); \
	else echo "Skipped: atheris cannot be installed for this Python."; fi

docs: $(DEV) ## Write docs/operations.md and docs/configuration.md from the code itself
	@for page in operations configuration; \
	do $(BIN)/python tools/$${page}_page.py > docs/$$page.md.new && mv docs/$$page.md.new docs/$$page.md; done

bench: $(DEV) ## Run the benchmarks
	@$(BIN)/python benchmarks/run.py $(ARGS)

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .venv-* .pyright.log .coverage .fuzz .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist

# The link dangles when its Python was removed; then make sees no file and builds the environment anew.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "$(PYTHON) is missing or older than 3.11. Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	|| { echo "$(PYTHON) cannot create environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)

$(RUNTIME): pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(DEV): clients/python/pyproject.toml $(RUNTIME)
	$(PIP) install --editable '.[dev]' --editable clients/python
	@touch $@
