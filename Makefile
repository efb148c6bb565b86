# Copse: `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(or $(shell command -v python3.11),$(shell command -v python3),python3)

CRATE := index/native
CARGO_MANIFEST := $(CRATE)/Cargo.toml
PEERS_MANIFEST := bench/native/Cargo.toml
RUST_SOURCES := $(CARGO_MANIFEST) $(wildcard $(CRATE)/*.rs) $(shell find $(CRATE)/src -name '*.rs')
RUST_NEEDED := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' $(CARGO_MANIFEST))
RUST_FOUND := $(shell rustc --version 2>/dev/null | cut -d' ' -f2)
CARGO := $(shell command -v cargo)
# The bindings are built for the interpreter of the environment.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# Compiled modules are kept, whatever the environment says: a service starts half a second sooner.
export PYTHONDONTWRITEBYTECODE :=

# Twice the cores: half of the time a test waits for a process that it has started.
TEST_PROCESSES ?= $(shell echo $$((2 * $$(nproc))))

SOURCES = $(wildcard app bench campaigns console index loadtest migrations spark testkit tests)

.PHONY: help setup run console stats test test-long test-old-spark fuzz fuzz-http audit lint format bench bench-quick bench-papers bench-parse bench-feed bench-start bench-http soak loadtest faults pictures clean FORCE

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.runtime ## Create .venv, install Copse into it and build the native core

run: $(VENV)/.runtime ## Serve on 127.0.0.1:8080 (PORT=…) with the console on the next port (CONSOLE=0: without)
	@COPSE_LOG_FORMAT="$${COPSE_LOG_FORMAT:-text}" exec $(BIN)/copse serve --development \
	  $(if $(filter 0,$(CONSOLE)),,--console) $(if $(PORT),--port $(PORT))

console: $(VENV)/.runtime ## Serve the console alone on 127.0.0.1:8081 (PORT=…), for the API at API_URL
	@exec $(BIN)/copse console $(if $(PORT),--port $(PORT)) $(if $(API_URL),--api-url $(API_URL))

stats: $(VENV)/.spark java ## Build the statistics of a day of IMPRESSIONS into DATABASE_URL (DATE=…, default yesterday)
	@[ -n "$(IMPRESSIONS)" ] && [ -n "$(DATABASE_URL)" ] || { \
	  echo "pass the log and the database: make stats IMPRESSIONS=DIR DATABASE_URL=URL [DATE=2026-11-16]" >&2; exit 2; }
	@$(BIN)/python -m spark selectivity --impressions '$(IMPRESSIONS)' --database-url '$(DATABASE_URL)' \
	  $(if $(DATE),--date $(DATE)) $(if $(DAYS),--days $(DAYS))

test: $(VENV)/.dev ## Run all tests, on a real Postgres and Redis that they start themselves
ifneq ($(CARGO),)
	cargo test --quiet --manifest-path $(CARGO_MANIFEST)
	cargo test --quiet --no-default-features --manifest-path $(PEERS_MANIFEST)
	$(BIN)/python -m bench.build
else
	@echo "cargo is not installed: the tests of the native core are NOT run"
endif
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

test-long: $(VENV)/.dev ## Run the slow tests, and the property tests with 10,000 examples each
	$(BIN)/pytest -m long
	HYPOTHESIS_PROFILE=long $(BIN)/pytest -m laws

test-old-spark: $(VENV)/.spark-3.5 ## Run the tests of the Spark jobs on PySpark 3.5, the oldest that they work with
	$(VENV)/spark-3.5/bin/python -m pytest tests/spark -W 'ignore:distutils:DeprecationWarning' \
	  -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning # PySpark's own sockets

fuzz: $(VENV)/.dev ## Compare the engines on random histories for MINUTES (default 30)
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),30)

fuzz-http: $(VENV)/.dev ## Send malformed and hostile requests to the match routes for MINUTES (default 30)
	$(BIN)/python -m tests.security.fuzz_http --minutes $(or $(MINUTES),30)

audit: $(VENV)/.audit ## Check the dependencies for known vulnerabilities; fails if it finds any or cannot check
	$(BIN)/python -m tests.security.audit

lint: $(VENV)/.dev ## Check style, types, imports, migrations, Rust code, the stub of the core, deployment files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports
	@echo "alembic check"; directory=$$(mktemp -d); trap 'rm -rf "$$directory"' EXIT; \
	  export COPSE_DATABASE_URL="sqlite:///$$directory/lint.sqlite3"; \
	  $(BIN)/alembic upgrade head && $(BIN)/alembic check
ifneq ($(CARGO),)
	cargo fmt --check --manifest-path $(CARGO_MANIFEST)
	cargo clippy --quiet --all-targets --manifest-path $(CARGO_MANIFEST) -- -D warnings
	cargo clippy --quiet --all-targets --all-features --manifest-path $(CARGO_MANIFEST) -- -D warnings
	cargo fmt --check --manifest-path $(PEERS_MANIFEST)
	cargo clippy --quiet --all-targets --manifest-path $(PEERS_MANIFEST) -- -D warnings
else
	@echo "cargo is not installed: the Rust code is NOT checked"
endif
	@if compgen -G 'index/_native*.so' >/dev/null; then set -x; \
	  $(BIN)/stubtest index._native; \
	else echo "the native core is not built: its stub is NOT checked"; fi
	BIN=$(BIN) deploy/check.sh

format: $(VENV)/.dev ## Format the sources and apply the automatic fixes of the linter
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
ifneq ($(CARGO),)
	cargo fmt --manifest-path $(CARGO_MANIFEST)
	cargo fmt --manifest-path $(PEERS_MANIFEST)
endif

bench: $(VENV)/.bench ## Run the benchmarks of the papers and write docs/benchmarks.md (FULL=1: up to a million)
	$(BIN)/python -m bench sweep $(if $(FULL),--full)

bench-quick: $(VENV)/.bench ## Run a short version of bench, about a minute, and print the results
	$(BIN)/python -m bench sweep --quick

bench-papers: $(VENV)/.bench ## Run the papers' engines on their workloads and write docs/papers.md (QUICK=1: print a small version)
	$(BIN)/python -m bench papers $(if $(QUICK),--quick)

bench-parse: $(VENV)/.dev ## Measure expressions parsed and checked per second
	$(BIN)/python -m bench parse

bench-feed: $(VENV)/.dev ## Measure the delay from a write to every worker, with Redis and without
	$(BIN)/python -m bench feed

bench-start: $(VENV)/.dev ## Measure the start of a worker (CAMPAIGNS=…, default a million)
	$(BIN)/python -m bench start $(if $(CAMPAIGNS),--campaigns $(CAMPAIGNS))

bench-http: $(VENV)/.dev ## Measure a match over HTTP against a no-op (CAMPAIGNS=…, default 100,000)
	$(BIN)/python -m bench http --campaigns $(or $(CAMPAIGNS),100000)

soak: $(VENV)/.dev ## Match and write at once for MINUTES (default 10); fails on errors, memory growth or lag
	$(BIN)/python -m bench soak --minutes $(or $(MINUTES),10)

loadtest: $(VENV)/.dev ## Load-test a new service with Locust: SCENARIO=match|openrtb|campaign_churn|mixed, CAMPAIGNS=…
	$(BIN)/python -m loadtest $(if $(SCENARIO),--scenario $(SCENARIO)) $(if $(CAMPAIGNS),--campaigns $(CAMPAIGNS)) \
	  $(if $(USERS),--users $(USERS)) $(if $(DURATION),--seconds $(DURATION)) $(if $(WORKERS),--workers $(WORKERS)) \
	  $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(RATE),--rate $(RATE)) $(if $(WRITES),--writes $(WRITES)) \
	  $(if $(SEED),--seed $(SEED))

faults: $(VENV)/.dev ## Inject faults into a running service for MINUTES (default 5) and check every answer (SEED=…)
	$(BIN)/python -m tests.faults --seed $(or $(SEED),1) --minutes $(or $(MINUTES),5)

pictures: $(VENV)/.dev ## Make the pictures of docs/console.md in a real Chromium
	$(BIN)/python -m tests.console.pictures

clean: ## Remove .venv, build output and caches
	rm -rf $(VENV) build dist *.egg-info $(CRATE)/target index/_native*.so
	rm -rf bench/.cache bench/native/target bench/_peers*.so
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- setup steps -----------------------------------------------------------------------------
#
# Each step leaves a stamp in .venv and runs again only when a file before it is newer:
#
#   .created ─▶ .toolchain ─▶ .runtime ─▶ .dev
#               (rustc -V)    (the package, its dependencies, the native core)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Copse needs Python 3.11 or newer; choose one with: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  install="apt-get install -y python3-venv"; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Python's venv module is missing: $$install"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$install -qq >/dev/null; \
	  else echo "Python's venv module is missing; install it with: sudo $$install" >&2; exit 1; fi; }
	@echo "Creating the virtual environment in $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# Holds the version of Rust, so that the core is built again when Rust is installed or updated.
$(VENV)/.toolchain: FORCE | $(VENV)/.created
	@[ "$$(cat $@ 2>/dev/null)" = "rustc $(RUST_FOUND)" ] || echo "rustc $(RUST_FOUND)" > $@

# The extension is optional, so a failed build is silent: look for the library, and print the reason.
$(VENV)/.runtime: pyproject.toml $(RUST_SOURCES) $(VENV)/.created $(VENV)/.toolchain
	@echo "Installing Copse and building its native core (about a minute the first time)"
	@rm -f index/_native*.so
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[console]'
	@if compgen -G 'index/_native*.so' >/dev/null; then \
	  echo "The native core is built."; \
	elif [ -z "$(RUST_FOUND)" ]; then \
	  echo "The native core is NOT built: Rust is not installed."; \
	  echo "Copse works without it, but slower. Install Rust $(RUST_NEEDED) or newer (rustup.rs) and run: make setup"; \
	elif [ "$$(printf '%s\n' $(RUST_NEEDED) $(RUST_FOUND) | sort -V | head -1)" != $(RUST_NEEDED) ]; then \
	  echo "The native core is NOT built: it needs Rust $(RUST_NEEDED) or newer, found $(RUST_FOUND)."; \
	  echo "Copse works without it, but slower. Update Rust (rustup.rs) and run: make setup"; \
	else \
	  cargo build --release --features python --manifest-path $(CARGO_MANIFEST) || true; \
	  echo "The native core is NOT built, for the reason above. Copse works without it, but slower."; \
	fi
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.runtime
	@echo "Installing the development tools"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[console,dev,loadtest,otel,spark]'
	@touch $@

$(VENV)/.audit: pyproject.toml | $(VENV)/.runtime
	@echo "Installing the vulnerability scanner"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[audit]'
	@touch $@

$(VENV)/.spark: pyproject.toml | $(VENV)/.runtime
	@echo "Installing Spark (half a gigabyte)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[spark]'
	@touch $@

# The packages of the development environment, but for an older Spark in front of them.
$(VENV)/.spark-3.5: $(VENV)/.dev
	@echo "Installing PySpark 3.5 beside it (half a gigabyte)"
	@$(PYTHON) -m venv --clear $(VENV)/spark-3.5
	@$(VENV)/spark-3.5/bin/pip install --quiet --disable-pip-version-check pyspark==3.5.7
	@for path in '$(CURDIR)' "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"; do \
	  echo "$$path"; done > "$$($(VENV)/spark-3.5/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/zz-copse.pth"
	@touch $@

.PHONY: java
java:
	@command -v java >/dev/null || [ -n "$${JAVA_HOME:-}" ] || { \
	  install="apt-get install -y openjdk-17-jre-headless"; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Java is missing: $$install"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$install -qq >/dev/null; \
	  else echo "Spark needs Java 17; install it with: sudo $$install" >&2; exit 2; fi; }

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	@echo "Installing the plotting libraries"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@
