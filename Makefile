# Every target builds its prerequisites if they are missing or out of date.
# To use another Python in its own environment: make test PYTHON=python3.13 VENV=.venv-3.13

PYTHON ?= python3
VENV ?= .venv
# Passed to the program: make test ARGS="-k hessian -x"
ARGS ?=
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 600
ATTACK_SECONDS ?= 1800

BIN := $(VENV)/bin
SDK_VENV := .venv-$(notdir $(PYTHON))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests import few of their packages' many modules: each is compiled when it is first imported.
LAZILY := --no-compile
RUNTIME := $(VENV)/.runtime
TEST := $(VENV)/.test
DEV := $(VENV)/.dev
RELEASE := $(VENV)/.release
DOCS := $(VENV)/.docs
# With one worker more than there are cores: while a test waits, those of another go on. An idle worker takes
# tests from the others.
PARALLEL = -n $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)') --dist worksteal
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
# For each version, the first interpreter found that can create environments.
OTHER_PYTHONS = $(foreach version,3.12 3.13 3.14,$(shell \
	for one in "$$(command -v python$(version))" $(wildcard $(HOME)/.pyenv/versions/$(version).*/bin/python$(version)); \
	do "$$one" -c 'import ensurepip, venv' 2>/dev/null && echo "$$one" && break; done))

# Container images set it; then each of the many processes that tests start would compile every module.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup serve test gpu-test test-all test-rest environments sdk-test autograd-test fleet-test soak attacks coverage check types lint format fuzz docs docs-site bench lock release clean container-test page page-tools

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(DEV) ## Install all distributions, editable, with all tools into .venv (2.7 GB)

serve: $(RUNTIME) ## Start the service on 127.0.0.1:8000 (installs only the runtime)
	@exec $(BIN)/gradwire-server serve $(ARGS)

# Long proof of what ordinary mistakes do not break first: `make test` leaves it to `make test-rest`.
LONG := tests/clients/tensorflow/test_corpus.py tests/clients/tensorflow/test_scripts.py \
	tests/test_command_page.py tests/engine/frontends/test_printed.py \
	tests/engine/test_extreme_integers.py tests/engine/test_interrupted.py \
	tests/engine/backends/cupy tests/engine/backends/nvptx tests/engine/backends/llvm/test_functions.py \
	tests/service/cluster/test_lost_scheduler.py \
	tests/service/store/test_damage.py tests/service/store/test_full_disk.py
test: $(TEST) ## Run the tests, on all cores
	@$(BIN)/pytest $(PARALLEL) $(addprefix --ignore=,$(LONG)) $(ARGS)

gpu-test: $(TEST) ## Test what needs an NVIDIA GPU, where there is one
	@$(BIN)/pytest tests/gpu tests/engine/backends/cupy/test_executable.py $(ARGS)

test-all: ## Run all tests: `make test` with more random examples, then `make test-rest`
	@$(MAKE) --no-print-directory test LONG= ARGS='--hypothesis-profile=thorough $(ARGS)'; status=$$?; \
	$(MAKE) --no-print-directory test-rest && exit $$status

# Tests of services that measure time or load both cores: they run last, one at a time.
TIMED := $(patsubst %,tests/fleet/test_%.py,attacks cancel chaos compile_bombs crash drain faults hung isolation load overload soak)
# The other tests of services. Each file is one worker's, and the longest by far comes first.
FLEETS := tests/fleet/test_schema.py $(filter-out tests/fleet/test_schema.py $(TIMED),$(wildcard tests/fleet/test_*.py))
# The tests of operations and of differentiation that ask engines: others call kernels one by one.
ASKING = $(shell grep -lwE 'ask|Engine' tests/engine/ops/test_*.py tests/engine/autodiff/test_*.py)
# TensorFlow's names are called with the newest of the other Pythons alone.
# Playwright has an event loop that runs all the time, beside which other tests could run none.
# PyTorch, JAX and browsers have threads of their own: no worker more than there are cores.
# Container tests take minutes: they run only if their inputs changed.
test-rest: environments ## Run the tests that `make test` leaves out: long ones, the other kind of processor, the reference and the native backend, adapters, notebooks, examples, generated clients, the page, the guide, the Helm chart, a Dask cluster, fleets, containers, other Pythons
	@status=0; \
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile=half $(LONG) $(ARGS) || status=1; \
	$(BIN)/pytest $(PARALLEL) --processor=other tests/engine/*.py tests/engine/backends tests/engine/optimize $(addprefix --ignore=,tests/engine/backends/llvm $(LONG)) $(ARGS) || status=1; \
	$(BIN)/pytest $(PARALLEL) --backend=reference tests/engine/*.py $(ASKING) tests/engine/compile tests/engine/record tests/engine/recorded $(addprefix --ignore=,$(LONG)) $(ARGS) || status=1; \
	$(BIN)/pytest $(PARALLEL) --backend=native $(ASKING) tests/engine/test_replays.py tests/engine/test_concurrency.py tests/engine/test_recurring.py tests/engine/compile tests/engine/recorded $(ARGS) || status=1; \
	$(BIN)/pytest $(PARALLEL) -n auto tests/clients/adapters tests/clients/display tests/examples tests/generators tests/cluster tests/service/cluster tests/benchmarks $(ARGS) || status=1; \
	$(BIN)/pytest $(PARALLEL) -n auto tests/guide tests/browser $(ARGS) || status=1; \
	for other in $(OTHER_PYTHONS); \
	do less='$(addprefix --ignore=,$(filter tests/clients/%,$(LONG)))'; \
	test $$other = $(lastword $(OTHER_PYTHONS)) || less=--ignore=tests/clients/tensorflow; \
	$(MAKE) --no-print-directory sdk-test PYTHON=$$other ARGS="$$less $(ARGS)" || status=1; done; \
	if test "$$(cat deploy/container-test.passed)" = "$$($(BIN)/python tools/container_inputs.py)"; \
	then echo "Skipped: the containers' tests have passed on these very files."; \
	elif test $$(id -u) != 0 || ! command -v podman buildah mmdebstrap >/dev/null; \
	then echo "Skipped: the containers' tests need root, podman, buildah and mmdebstrap."; \
	else timeout 600 $(MAKE) --no-print-directory container-test || status=1; fi; \
	$(BIN)/pytest $(PATIENT) -n auto --dist loadfile --no-loadscope-reorder $(FLEETS) $(ARGS) || status=1; \
	$(BIN)/pytest $(PATIENT) $(TIMED) $(ARGS) || status=1; \
	exit $$status

# What fails here is made again, and fails again, where it is needed.
environments: $(TEST) ## Make what `make check` and `make test-rest` need, several at once
	@$(MAKE) --no-print-directory --jobs=2 $(DEV) $(TOOLS)/.made page-tools & \
	for other in $(OTHER_PYTHONS); \
	do $(MAKE) --no-print-directory PYTHON=$$other .venv-$$(basename $$other)/.test & done; wait
	@$(MAKE) --no-print-directory $(DEV)

sdk-test: $(SDK_VENV)/.test ## Test the SDK with another Python, except the adapters: make sdk-test PYTHON=python3.13
	@$(SDK_VENV)/bin/pytest $(PARALLEL) -o norecursedirs='.* adapters' tests/clients $(ARGS)

autograd-test: $(TEST) ## Run autograd's own tests through Gradwire
	@test -d $(AUTOGRAD) || { mkdir -p $(AUTOGRAD).new && \
	$(PIP) download --no-deps --no-binary autograd --dest $(AUTOGRAD).new autograd==$(AUTOGRAD_VERSION) && \
	tar -xzf $(AUTOGRAD).new/autograd-$(AUTOGRAD_VERSION).tar.gz -C $(AUTOGRAD).new && \
	mv $(AUTOGRAD).new/autograd-$(AUTOGRAD_VERSION) $(AUTOGRAD) && rm -r $(AUTOGRAD).new; }
	@AUTOGRAD_SOURCES=$(AUTOGRAD) $(BIN)/pytest $(PATIENT) -s tests/clients/test_autograd_suite.py $(ARGS)

fleet-test: $(DEV) ## Run only the tests of running services: fleets, faults, load (nginx and Redis if installed)
	@FLEET_OVERLOAD_SECONDS=20 $(BIN)/pytest $(PATIENT) tests/fleet $(ARGS)

soak: $(DEV) ## Load a service for SOAK_SECONDS and look for growing memory, files, threads or tasks
	@FLEET_SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/pytest $(PATIENT) tests/fleet/test_soak.py -rA $(ARGS)

attacks: $(DEV) ## Run every attack on a service, alone and behind nginx, then random ones for ATTACK_SECONDS during ordinary load (as root, for control groups)
	@FLEET_ATTACK_SECONDS=$(ATTACK_SECONDS) $(BIN)/pytest $(PATIENT) tests/fleet/test_attacks.py tests/fleet/test_compile_bombs.py -rA $(ARGS)

coverage: $(DEV) ## Run the tests and report the branches that no test takes
	@$(BIN)/pytest $(PARALLEL) --cov --cov-report=term -o norecursedirs='.* benchmarks tests/cluster containers fleet generators' $(ARGS)

check: $(DEV) ## Check types and lint, at once
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync types lint

types: $(DEV) ## Check types
	$(BIN)/mypy

lint: $(DEV) ## Lint, check format, import directions and that the public API is typed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/lint_imports.py --no-logo
	@for package in gradwire gradwire.tf gradwire.tfe; \
	do case $$package in gradwire) first=python;; *) first=tensorflow;; esac; \
	PYTHONPATH=clients/$$first VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(BIN)):$$PATH $(BIN)/pyright --verifytypes $$package --ignoreexternal \
	> .pyright.log || { grep -E 'error:|score' .pyright.log; exit 1; }; done

container-test: $(DEV) ## Build the image, start the compose file and test both (with podman, as root, on Debian 12)
	@$(BIN)/pytest $(PATIENT) tests/containers $(ARGS)
	@$(BIN)/python tools/container_inputs.py > deploy/container-test.passed

format: $(DEV) ## Format and apply the safe fixes
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

fuzz: $(TEST) ## Compare machine code with NumPy on random programs for FUZZ_SECONDS, then fuzz every decoder for as long, where atheris has a wheel for this Python
	@$(BIN)/python fuzz/replays.py --seconds $(FUZZ_SECONDS)
	@test -d $(FUZZER) || $(PIP) install --only-binary :all: --no-deps --target $(FUZZER) atheris || true
	@if test -d $(FUZZER); \
	then PYTHONPATH=$(FUZZER) $(BIN)/python fuzz/campaign.py --seconds $(FUZZ_SECONDS) $(ARGS); \
	else echo "Skipped: atheris cannot be installed for this Python."; fi

docs: $(TEST) ## Generate operations.md, configuration.md and tensorflow.md of docs/reference and the example responses of /openapi.json from the code
	@for page in operations configuration tensorflow; \
	do file=docs/reference/$$page.md; $(BIN)/python tools/$${page}_page.py > $$file.new && mv $$file.new $$file; done
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
	@$(LOCK) $(ARGS) --extra native pyproject.toml --output-file deploy/image/requirements.txt >/dev/null
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
	$(PIP) install --editable '.[native]'
	@touch $@

$(TEST): clients/python/pyproject.toml clients/tensorflow/pyproject.toml $(RUNTIME)
	$(PIP) install --editable '.[test]' --editable 'clients/python[cli]' --editable clients/tensorflow
	@touch $@

$(DEV): $(TEST)
	$(PIP) install $(LAZILY) --editable '.[dev]'
	@touch $@

$(DOCS): $(RUNTIME)
	$(PIP) install --editable '.[docs]'
	@touch $@

$(RELEASE): $(RUNTIME)
	$(PIP) install --editable '.[release]'
	@touch $@

$(TOOLS)/.made: tests/generators/requirements.txt tests/generators/package-lock.json | $(BIN)/python
	@$(PYTHON) -m venv --clear $(TOOLS)
	@cp tests/generators/package.json tests/generators/package-lock.json $(TOOLS)
	@$(TOOLS)/bin/python -m pip --disable-pip-version-check --quiet install $(LAZILY) --requirement tests/generators/requirements.txt \
	&& (cd $(TOOLS) && npm ci --silent --no-audit --no-fund) && touch $@ \
	|| echo "Some tools of others could not be installed: tests that need them are skipped."

$(PAGE_TOOLS): $(PAGE)/package.json $(PAGE)/package-lock.json
	@cd $(PAGE) && npm ci --silent --no-audit --no-fund
	@touch $@

$(SDK_VENV)/.test: clients/python/pyproject.toml clients/tensorflow/pyproject.toml pyproject.toml
	@$(PYTHON) -m venv --clear $(SDK_VENV)
	@$(SDK_VENV)/bin/python -m pip --disable-pip-version-check --quiet install $(LAZILY) --editable . --editable 'clients/python[test]' --editable 'clients/tensorflow[pictures]'
	@touch $@
