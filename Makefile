# The commands of insertcoin; `make` alone lists them. Every one that needs the set-up does it first.
#
#   PYTHON=python3.12 make setup     another Python than python3 for .venv
#   DEBUG=1, MARCH=x86-64-v3, SANITIZE=address: another build of the extensions, see setup.py
#   ARGS="--seed 2" make breakout    more arguments for what the target runs

VENV := .venv
BIN := $(VENV)/bin
# A .venv that works goes on with its own Python, unless PYTHON names another.
PYTHON ?= $(shell $(BIN)/python -c '' 2>/dev/null && echo $(BIN)/python || echo python3)
GAME ?= breakout
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup cuda breakout test learn lint bench asm sanitize clean

help: ## list the commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

setup: ## make .venv, install the pinned dependencies, build the extensions
	@$(PYTHON) -c '' 2>/dev/null || { echo "insertcoin: no Python runs as '$(PYTHON)': install Python 3.11 or newer, \
	or name one, as in 'PYTHON=python3.12 make setup'" >&2; exit 1; }
	@$(PYTHON) tools/preflight.py python && $(PYTHON) tools/prepare.py

cuda: setup ## install CuPy and NVRTC, which a GPU needs (and which compile the kernels without one)
	@$(BIN)/python -m pip install -q --no-input -r requirements-cuda.txt

breakout: setup ## train an agent that plays Breakout, then evaluate it
	@$(BIN)/python -m trainer breakout $(ARGS)

test: setup ## run all tests but those marked slow, gpu or learn
	@$(BIN)/python -m pytest $(ARGS)

learn: setup ## run the tests that train agents until they play well (marked learn)
	@$(BIN)/python -m pytest -m learn $(ARGS)

lint: setup ## check the style of Python and Cython sources
	@$(BIN)/ruff check .
	@PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint $(wildcard envs_c trainer tests examples benchmarks)

bench: setup ## measure games and training, with the limits beside the figures
	@$(BIN)/python -m benchmarks.envs
	@$(BIN)/python -m benchmarks.train

asm: setup ## write the machine code of a game's step loop beside its C lines: make asm GAME=breakout
	@$(BIN)/python tools/asm.py $(GAME)

sanitize: setup ## run the games' tests under the address and undefined-behaviour sanitizers
	@$(BIN)/python tools/sanitize.py address
	@$(BIN)/python tools/sanitize.py undefined

clean: ## remove all that these commands made, but for the runs of the trainer
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find envs_c bridge trainer tests examples benchmarks tools \
		\( -name '*.so' -o -name '*.c' -o -name __pycache__ \) -exec rm -rf {} + 2>/dev/null || true
