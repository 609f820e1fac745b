# Every target builds its prerequisites if they are missing or out of date.
# To use another Python in its own environment: make test PYTHON=python3.13 VENV=.venv-3.13

PYTHON ?= python3
VENV ?= .venv
# Passed to the program: make test ARGS="-k hessian -x"
ARGS ?=
FUZZ_SECONDS ?= 60
EXPLORE_SECONDS ?= 600
SOAK_SECONDS ?= 600
ATTACK_SECONDS ?= 1800

BIN := $(VENV)/bin
SDK_VENV := .venv-$(notdir $(PYTHON))
PIP := -m pip --disable-pip-version-check --quiet
# uv takes seconds for what takes pip minutes; pip installs what uv cannot, as from a mirror in pip's settings.
install = { { test -x $(1)/bin/uv || $(1)/bin/python $(PIP) install uv; } && \
	$(1)/bin/uv pip install --quiet --python $(1) $(2); } 2>/dev/null || $(1)/bin/python $(PIP) install $(2)
RUNTIME := $(VENV)/.runtime
TEST := $(VENV)/.test
DEV := $(VENV)/.dev
RELEASE := $(VENV)/.release
DOCS := $(VENV)/.docs
# Each worker collects all tests, so there is none more than cores. An idle one takes tests from the others.
PARALLEL = -n $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)') --dist worksteal
# For tests that legitimately take longer than the time after which a test counts as hung.
PATIENT := -o faulthandler_timeout=3600
FUZZER := $(VENV)/fuzzer
TOOLS := $(VENV)/tools
PAGE := clients/page
PAGE_TOOLS := $(PAGE)/node_modules/.made
AUTOGRAD_VERSION := 1.9.1
AUTOGRAD := $(VENV)/autograd-$(AUTOGRAD_VERSION)
GUIDE := service/gradwire_service/static/guide
ANSWERS := service/gradwire_service/examples/answers.json
# Container images set it; then each of the many processes that tests start would compile every module.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup serve test test-all explore gpu-test environment sdk-environment generators page-tools sdk-test autograd-test fleet-test container-test soak attacks coverage check types lint hooks format fuzz docs docs-site page bench lock release clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(DEV) ## Install all distributions, editable, with all tools into .venv (2.7 GB)

serve: $(RUNTIME) ## Start the service on 127.0.0.1:8000 (installs only the runtime)
	@exec $(BIN)/gradwire-server serve $(ARGS)

test: $(TEST) ## Run the tests that every change needs, on all cores, in some three minutes
	@$(BIN)/pytest $(PARALLEL) --effort=quick $(ARGS)

test-all: $(TEST) ## Run all tests, as a release needs them; ARGS="--only 'TensorFlow names'" a stage of tools/stages.py alone
	@$(BIN)/python tools/run_stages.py $(ARGS)

explore: $(DEV) ## Run random tests with new examples for EXPLORE_SECONDS, and save what fails in tests/found
	@$(BIN)/python tools/explore.py --seconds $(EXPLORE_SECONDS) $(ARGS)

gpu-test: $(TEST) ## Test what needs an NVIDIA GPU, where there is one
	@$(BIN)/pytest --gpu tests/gpu tests/engine/gpu/cupy/test_executable.py $(ARGS)

environment: $(DEV) ## Install what most stages of test-all run in

sdk-environment: $(SDK_VENV)/.test ## Install what the SDK's tests need, for another Python

generators: $(TOOLS)/.made ## Install the tools of others that generate clients

sdk-test: $(SDK_VENV)/.test ## Test the SDK with another Python, except the adapters: make sdk-test PYTHON=python3.13
	@$(SDK_VENV)/bin/pytest -n auto -o norecursedirs='.* adapters' tests/clients $(ARGS)

autograd-test: $(TEST) ## Run autograd's own tests through Gradwire
	@test -d $(AUTOGRAD) || { mkdir -p $(AUTOGRAD).new && \
	$(BIN)/python $(PIP) download --no-deps --no-binary autograd --dest $(AUTOGRAD).new autograd==$(AUTOGRAD_VERSION) && \
	tar -xzf $(AUTOGRAD).new/autograd-$(AUTOGRAD_VERSION).tar.gz -C $(AUTOGRAD).new && \
	mv $(AUTOGRAD).new/autograd-$(AUTOGRAD_VERSION) $(AUTOGRAD) && rm -r $(AUTOGRAD).new; }
	@AUTOGRAD_SOURCES=$(AUTOGRAD) $(BIN)/pytest $(PATIENT) -s tests/clients/test_autograd_suite.py $(ARGS)

fleet-test: $(DEV) ## Run only the tests of running services: fleets, faults, load (nginx and Redis if installed)
	@$(BIN)/pytest $(PATIENT) tests/fleet $(ARGS)

soak: $(DEV) ## Load a service for SOAK_SECONDS and look for growing memory, files, threads or tasks
	@FLEET_SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/pytest $(PATIENT) tests/fleet/test_soak.py -rA $(ARGS)

attacks: $(DEV) ## Run every attack on a service, alone and behind nginx, then random ones for ATTACK_SECONDS during ordinary load (as root, for control groups)
	@FLEET_ATTACK_SECONDS=$(ATTACK_SECONDS) $(BIN)/pytest $(PATIENT) tests/fleet/test_attacks.py tests/fleet/test_compile_bombs.py -rA $(ARGS)

coverage: $(DEV) ## Run the tests and report the branches that no test takes
	@$(BIN)/pytest $(PARALLEL) --effort=thorough --cov --cov-report=term -o norecursedirs='.* benchmarks tests/cluster containers fleet generators' $(ARGS)

check: $(DEV) ## Check types and lint, at once
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync types lint

types: $(DEV) ## Check types
	$(BIN)/mypy

lint: $(DEV) ## Lint, check format, sizes, import directions and that the public API is typed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/lint_imports.py --no-logo
	$(BIN)/python tools/tokens.py
	@for package in gradwire gradwire.tf gradwire.tfe; \
	do case $$package in gradwire) first=python;; *) first=tensorflow;; esac; \
	PYTHONPATH=clients/$$first VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(BIN)):$$PATH $(BIN)/pyright --verifytypes $$package --ignoreexternal \
	> .pyright.log || { grep -E 'error:|score' .pyright.log; exit 1; }; done

container-test: $(DEV) ## Build the image, start the compose file and test both (with podman, as root, on Debian 12)
	@$(BIN)/pytest $(PATIENT) tests/containers $(ARGS)

hooks: $(DEV) ## Have git check each commit: see .pre-commit-config.yaml
	@$(BIN)/pre-commit install

format: $(DEV) ## Format and apply the safe fixes
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

fuzz: $(TEST) ## Compare machine code with NumPy on random programs for FUZZ_SECONDS, then fuzz every decoder for as long, where atheris has a wheel for this Python
	@$(BIN)/python fuzz/replays.py --seconds $(FUZZ_SECONDS)
	@test -d $(FUZZER) || $(BIN)/python $(PIP) install --only-binary :all: --no-deps --target $(FUZZER) atheris || true
	@if test -d $(FUZZER); \
	then PYTHONPATH=$(FUZZER) $(BIN)/python fuzz/campaign.py --seconds $(FUZZ_SECONDS) $(ARGS); \
	else echo "Skipped: atheris cannot be installed for this Python."; fi

docs: $(TEST) ## Generate operations.md, configuration.md and tensorflow.md of docs/reference and the example responses of /openapi.json from the code
	@for page in operations configuration tensorflow; \
	do file=docs/reference/$$page.md; PYTHONPATH=. $(BIN)/python tools/$${page}_page.py > $$file.new && mv $$file.new $$file; done
	@$(BIN)/python tools/example_answers.py > $(ANSWERS).new && mv $(ANSWERS).new $(ANSWERS)

docs-site: $(DOCS) ## Build the guide, docs/ as a website, which the service then serves at /guide
	@$(BIN)/python tools/guide.py $(GUIDE)

page: $(PAGE_TOOLS) ## Build the page of the service from clients/page (needs Node.js 20 or newer)
	@cd $(PAGE) && npm run --silent check && npm run --silent build

# What is built is in the package, so a machine without Node.js can test all else.
page-tools: ## Install what builds and tests the page, where there is Node.js
	@command -v npm >/dev/null && $(MAKE) --no-print-directory $(PAGE_TOOLS) \
	|| echo "The page's tools could not be installed: tests that need them are skipped."

bench: $(DEV) ## Run the benchmarks
	@$(BIN)/python benchmarks/run.py $(ARGS)

LOCK = $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

lock: $(RELEASE) ## Pin the image's dependencies in deploy/image; ARGS=--upgrade for newer versions
	@$(LOCK) $(ARGS) pyproject.toml --output-file deploy/image/requirements.txt >/dev/null
	@$(LOCK) $(ARGS) --extra cuda13 --constraint deploy/image/requirements.txt pyproject.toml --output-file deploy/image/gpu.txt >/dev/null
	@$(LOCK) $(ARGS) --extra dask --constraint deploy/image/requirements.txt pyproject.toml --output-file deploy/image/dask.txt >/dev/null
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	| $(LOCK) $(ARGS) - --output-file deploy/image/build.txt >/dev/null
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' \
	| $(LOCK) $(ARGS) - --output-file deploy/image/docs.txt >/dev/null

release: $(RELEASE) ## Build and check all distributions into dist/: make release REPOSITORY=https://host/owner/gradwire
	@$(BIN)/python tools/release.py $(REPOSITORY)

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .venv-* .pyright.log .coverage .fuzz .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist $(GUIDE)

# If its Python was removed, the link dangles: make sees no file and rebuilds the environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "$(PYTHON) is missing or older than 3.11. Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	|| { echo "$(PYTHON) cannot create environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)

$(RUNTIME): pyproject.toml | $(BIN)/python
	@$(call install,$(VENV),--editable .)
	@touch $@

$(TEST): clients/python/pyproject.toml clients/command/pyproject.toml clients/tensorflow/pyproject.toml $(RUNTIME)
	@$(call install,$(VENV),--editable '.[test]' --editable clients/python --editable clients/command --editable clients/tensorflow)
	@touch $@

# PyTorch by pip: its settings may name a build without CUDA.
$(DEV): $(TEST)
	@$(BIN)/python $(PIP) install --no-compile 'torch==$(shell sed -n 's/.*"torch==\([0-9.]*\)".*/\1/p' pyproject.toml)'
	@$(call install,$(VENV),--editable '.[dev]')
	@touch $@

$(DOCS): $(RUNTIME)
	@$(call install,$(VENV),--editable '.[docs]')
	@touch $@

$(RELEASE): $(RUNTIME)
	@$(call install,$(VENV),--editable '.[release]')
	@touch $@

$(TOOLS)/.made: tests/generators/requirements.txt tests/generators/package-lock.json | $(BIN)/python
	@$(PYTHON) -m venv --clear $(TOOLS)
	@cp tests/generators/package.json tests/generators/package-lock.json $(TOOLS)
	@{ $(call install,$(TOOLS),--requirement tests/generators/requirements.txt); } \
	&& (cd $(TOOLS) && npm ci --silent --no-audit --no-fund) && touch $@ \
	|| echo "Some tools of others could not be installed: tests that need them are skipped."

$(PAGE_TOOLS): $(PAGE)/package.json $(PAGE)/package-lock.json
	@cd $(PAGE) && npm ci --silent --no-audit --no-fund
	@touch $@

$(SDK_VENV)/.test: clients/python/pyproject.toml clients/command/pyproject.toml clients/tensorflow/pyproject.toml pyproject.toml
	@$(PYTHON) -m venv --clear $(SDK_VENV)
	@$(call install,$(SDK_VENV),--editable '.[dask]' --editable 'clients/python[test]' --editable clients/command --editable 'clients/tensorflow[hdf5]' --editable 'clients/tensorflow[pictures]' --editable 'clients/tensorflow[tensorboard]')
	@touch $@
