# The commands of insertcoin; `make` lists them. Every target that needs the set-up runs it first.
#
#   PYTHON=python3.12 make setup     make .venv from another Python than python3
#   DEBUG=1, MARCH=x86-64-v3, SANITIZE=address: another build of the extensions, see setup.py
#   ARGS="--seed 2" make breakout    more arguments for the target's command

VENV := .venv
BIN := $(VENV)/bin
# If .venv works, use its Python, unless PYTHON names another. In a half-removed one python may be a link to the Python outside.
OWN := import sys; sys.exit(sys.prefix == sys.base_prefix)
PYTHON ?= $(shell $(BIN)/python -c '$(OWN)' 2>/dev/null && echo $(BIN)/python || echo python3)
GAME ?= breakout
ARGS ?=
WORKERS ?= auto
# Another choice of tests: TESTS='-m slow tests/envs_c'.
TESTS ?=
TYPESCRIPT := typescript@7.0.2

.DEFAULT_GOAL := help
.PHONY: help setup dev venv cuda breakout test learn lint types pages docs arcade bench mutants asm sanitize crafted fuzz wheel isa peers bench-compare clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{printf "%-19s %s\n", $$1, $$2}'

setup: venv ## make .venv, install what training needs and insertcoin itself, build the extensions
	@$(BIN)/python tools/install.py
	@$(if $(filter setup,$(MAKECMDGOALS)),echo "set-up: done. Next: make breakout. For the commands themselves: \
	. $(BIN)/activate && insertcoin --help")

dev: venv ## the same, and install what tests, linters and pages need
	@$(BIN)/python tools/install.py dev

venv: # unless .venv is there and works
	@$(PYTHON) -c '' 2>/dev/null || { echo "insertcoin: no Python runs as '$(PYTHON)': install Python 3.11 or newer, \
	or name one, as in 'PYTHON=python3.12 make setup'" >&2; exit 1; }
	@$(PYTHON) tools/doctor.py python system
	@$(PYTHON) tools/install.py venv

cuda: setup ## install CuPy and NVRTC, which a GPU needs (and which compile the kernels without one)
	@$(BIN)/python -m pip install -q --no-input -r requirements-cuda.txt

breakout: setup ## train an agent that plays Breakout, then evaluate it
	@$(BIN)/python -m trainer breakout $(ARGS)

test: dev ## run all tests but those marked slow, gpu or learn, on several workers
	@$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal $(TESTS) $(ARGS)

learn: dev ## run the tests that train agents until they play well (marked learn)
	@$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal -m learn $(ARGS)

lint: dev ## check the style of Python and Cython sources, and which folder may import which
	@$(BIN)/ruff check .
	@PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint $(wildcard envs_c trainer tests examples benchmarks)
	@$(BIN)/lint-imports --no-logo --verbose >build/imports.log 2>&1 || { cat build/imports.log; exit 1; }
	@$(BIN)/python tools/kernel_questions.py

types: dev ## check the types of the examples and of the interfaces that they use; with npx also of the page's scripts
	@$(BIN)/mypy
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@if command -v npx >/dev/null; then npx --yes --package $(TYPESCRIPT) tsc -p envs_c/arcade; \
	else echo "types: no npx: the scripts of the arcade's page are not checked" >&2; fi

pages: dev ## write the pages that come from the sources: each game, the settings, the tree of files
	@$(BIN)/python tools/game_pages.py
	@$(BIN)/python tools/reference_pages.py

docs: pages ## write these pages, then build the site of all pages and docstrings: build/site/index.html
	@$(BIN)/python tools/build_site.py

arcade: dev ## write the page of all games and their agents for browsers: build/arcade/index.html
	@$(BIN)/python -m envs_c arcade --out build/arcade

bench: setup ## measure games and training, with the limits beside the figures
	@$(BIN)/python -m benchmarks.envs
	@$(BIN)/python -m benchmarks.train

mutants: dev ## plant faults in the sources, and count those that the tests notice; ARGS="ppo pong --sample 50"
	@$(BIN)/python -c "import cosmic_ray" 2>/dev/null || $(BIN)/python -m pip install -q --no-input -r requirements-mutants.txt
	@$(BIN)/python -m benchmarks.mutants $(ARGS)

bench-compare: setup ## measure two revisions alternately: make bench-compare REV=main (against HEAD), or REV="v1 v2"; ARGS="--games pong"
	@$(BIN)/python -m benchmarks.speed.revisions $(REV) $(ARGS)

asm: setup ## write the machine code of a game's step loop beside its C lines: make asm GAME=breakout
	@$(BIN)/python tools/asm.py $(GAME)

sanitize: dev ## run the games' tests under the address and undefined-behaviour sanitizers
	@$(BIN)/python tools/sanitize.py address
	@$(BIN)/python tools/sanitize.py undefined

crafted: dev ## restore 2,000 crafted states of each game and play on, under the same two sanitizers
	@$(BIN)/python tools/sanitize.py address crafted $(ARGS)
	@$(BIN)/python tools/sanitize.py undefined crafted $(ARGS)

fuzz: dev ## try 20,000 hostile inputs in child processes; more with ARGS="--cases 1000000"
	@$(BIN)/python -m tools.fuzz $(ARGS)

wheel: setup ## build the wheel for every CPU of this kind and every Python from 3.11 into dist/
	@$(BIN)/python tools/build_wheel.py

isa: dev ## compare the games on other CPUs and compilers with the golden checksums; ARGS="--games pong aarch64"
	@$(BIN)/python -m tools.isa $(ARGS)

peers: setup ## make build/peers, an environment with other packages, and compare insertcoin with them; ARGS="--minutes 10"
	@test -x build/peers/bin/python || $(BIN)/python -m venv build/peers
	@build/peers/bin/python -m pip install -q --no-input -r requirements-dev.txt -r requirements-peers.txt
	@build/peers/bin/python -m benchmarks.peers.puffer || echo "PufferLib is not there: its rows say so"
	@$(BIN)/python -m benchmarks.peers --python build/peers/bin/python $(ARGS)

clean: ## remove everything that these commands made, the compile cache too, except the runs of the trainer
	rm -rf $(BIN)/pip $(VENV) build dist *.egg-info __pycache__ .pytest_cache .ruff_cache .mypy_cache .import_linter_cache \
		trace.json.gz $(shell $(FIND_CACHES)) # pip first: without it the next set-up knows that .venv is not whole
	find insertcoin envs_c bridge trainer tests examples benchmarks tools \
		\( -name '*.so' -o -name '*.so.new' -o -name '*.c' -o -name __pycache__ \) -exec rm -rf {} + 2>/dev/null || true

# The compiled games from outside the package (envs_c/outside.py) lie in the user's cache folder, where platformdirs has it: a
# relative XDG_CACHE_HOME counts for nothing. Nothing is removed that lies in this checkout, or that this checkout lies in.
define FIND_CACHES
case "$$(uname):$(XDG_CACHE_HOME)" in \
	Darwin:*) set -- "$(XDG_CACHE_HOME)" "$(HOME)/Library/Caches";; \
	*:/*) set -- "$(XDG_CACHE_HOME)";; \
	*) set -- "$(HOME)/.cache";; \
esac; here="$$(pwd -P)"; \
for cache; do \
	case "$$cache" in /*) ;; *) continue;; esac; \
	folder="$$(cd "$$cache/envs_c" 2>/dev/null && pwd -P)" || continue; \
	case "$$folder/:$$here/" in "$$here"/*:* | *:"$$folder"/*) ;; *) printf '"%s" ' "$$cache/envs_c";; esac; \
done
endef
