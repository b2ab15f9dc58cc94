# Every target makes the environment it needs (.venv) and is quick where it exists. Only Python >= 3.10 is needed.
#   make PYTHON=python3.12 test     another interpreter
#   make test ARGS="-k softmax"     arguments for pytest
#   SEED=1a2b3c4d make test         the sample of cases that a run with this seed had
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
ARGS   ?=
WORKERS ?= 2
# Each worker keeps a contiguous half of the tests, which share modules and kernels, until the other one has no more.
PARALLEL := -n $(WORKERS) --dist worksteal
export VENV
# Without bytecode files, each process that a test starts compiles the compiler's sources: seconds each time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all oracle ecosystem check format bench docs docs-serve explorer clean

help:
	@echo "make demo     compile and run the tutorial kernels, with a look at every stage"
	@echo "make test     the test suite; of tests with very many cases, a sample that the sources determine"
	@echo "make test-all the test suite with all cases"
	@echo "make oracle   the test suite with Triton 3.9 at hand, which reads and compiles what we print (1.3 GB; no GPU)"
	@echo "make ecosystem  packages and tools that use Triton, from PyPI, on this compiler (own environment, 1.5 GB; half an hour)"
	@echo "make check    format, lint, types, import contract, structure, spelling, ratchets, compile-time budgets"
	@echo "make format   rewrite the sources as 'make check' wants them"
	@echo "make bench    the table of CPU figures in docs/performance.md, measured here"
	@echo "make docs     the pages of docs/ that come from the sources, and the site in build/site/html, strictly checked"
	@echo "make docs-serve  the site on a local port, built anew while pages change"
	@echo "make explorer build the page of the explorer from explorer/ (needs Node >= 20.19 and npm; nothing else does)"
	@echo "make clean    remove the environment and everything built"

demo:
	@$(PYTHON) scripts/environment.py demo
	@$(BIN)/python -m tritium demo

test:
	@$(PYTHON) scripts/environment.py test
	@$(BIN)/python -m pytest -q $(PARALLEL) $(ARGS)

test-all:
	@$(PYTHON) scripts/environment.py test
	@$(BIN)/python -m pytest -q $(PARALLEL) --all $(ARGS)

# Triton's wheel needs Linux on x86-64 and Python >= 3.11; it gets an environment of its own, away from ours.
oracle:
	@$(PYTHON) scripts/environment.py test
	@test -x .venv-triton/bin/python || $(PYTHON) -m venv .venv-triton
	@.venv-triton/bin/python -c "import triton" 2>/dev/null || .venv-triton/bin/python -m pip install -q "triton==3.9.*"
	@TRITIUM_TEST_TRITON=$(CURDIR)/.venv-triton/bin/python $(BIN)/python -m pytest -q $(PARALLEL) $(ARGS)

# Clients are installed without their requirements, which name Triton: ours answers for it. The environment is their own.
ecosystem:
	@VENV=.venv-ecosystem $(PYTHON) scripts/environment.py demo
	@.venv-ecosystem/bin/python -m pip install -q --no-deps -r tests/conformance/ecosystem.txt
	@.venv-ecosystem/bin/python -m tests.conformance.ecosystem $(ARGS)

check:
	@$(PYTHON) scripts/environment.py check
	@$(BIN)/python scripts/check.py

format:
	@$(PYTHON) scripts/environment.py check
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench:
	@$(PYTHON) scripts/environment.py bench
	@$(BIN)/python benchmarks/run_all.py

docs:
	@$(PYTHON) scripts/environment.py test
	@$(BIN)/python -m scripts.docs
	@$(PYTHON) scripts/environment.py docs
	@$(BIN)/python -m scripts.site build

docs-serve:
	@$(PYTHON) scripts/environment.py docs
	@$(BIN)/python -m scripts.site serve

# The built page is committed: only a change of explorer/ needs npm. The same sources give the same bytes.
explorer:
	@cd explorer && npm ci --silent && npm run --silent build

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
