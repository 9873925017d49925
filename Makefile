# make demo    the whole job on a simulated NPU host, in a fresh virtual environment
# make test    all tests
# make check   what CI runs: lint, types, imports, test
# PYTHON=...   the interpreter to start from (Python >= 3.10); VENV=... where the environment goes

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
ADVISORIES ?= https://pypi.org/pypi
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint types imports audit check clean

demo: $(VENV)/.installed
	@$(BIN)/mindspeed-mm-train-profiler demo $(DEMO)

# CPython before 3.11.9 can fail in ast.parse when the garbage collector runs inside it (gh-106905), which pytest's
# rewriting of imported modules meets now and then: they are rewritten once, with the collector off, and kept as bytecode.
test: $(VENV)/.installed-dev
	@unset PYTHONDONTWRITEBYTECODE; $(BIN)/python -c "import gc; gc.disable(); import pytest; \
		raise SystemExit(pytest.main(['--collect-only', '-q', '-q', '-p', 'no:xdist']))" >/dev/null
	@unset PYTHONDONTWRITEBYTECODE; $(BIN)/python -m pytest -q -n $(JOBS) $(TESTS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Known vulnerabilities of everything that an installation brings. An index without a record for every version (mirrors)
# is asked for its records of the newest ones; what could not be asked is an error, not a clean result.
audit: $(VENV)/.installed
	@$(PIP) install 'pip-audit>=2.7'
	$(BIN)/pip-audit --strict --skip-editable || $(BIN)/python scripts/advisories.py $(ADVISORIES)

# The package is this folder under another name: a link gives mypy the name.
types: $(VENV)/.installed-dev
	@mkdir -p .types && ln -sfn .. .types/mindspeed_mm_train_profiler
	cd .types && MYPYPATH=. $(if $(filter /%,$(BIN)),,../)$(BIN)/mypy --config-file ../pyproject.toml --cache-dir ../.mypy_cache \
		-p mindspeed_mm_train_profiler --exclude '/(tests|benchmarks|evals|build|\.venv|\.types)/'

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports --cache-dir .import_linter_cache

check: lint types imports test

# --- the environment; made once, and again when pyproject.toml changes ---

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
		echo "Python >= 3.10 is needed; '$(PYTHON)' is not. Name another one: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || $(PYTHON) -c 'import virtualenv' 2>/dev/null || { \
		echo "'$(PYTHON)' can make no virtual environment: it lacks venv or ensurepip (Debian, Ubuntu: apt install python3-venv), and virtualenv." >&2; exit 1; }
	@if $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null; then $(PYTHON) -m venv --clear $(VENV); \
		else $(PYTHON) -m virtualenv -q --clear $(VENV); fi
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@echo "installing into $(VENV) (once)"
	@$(PIP) install --editable '.[report]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "installing the tools of development into $(VENV) (once)"
	@$(PIP) install --editable '.[dev,report]'
	@touch $@

clean:
	rm -rf $(VENV) .types .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
