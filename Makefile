# `make demo` for a first look, `make test` before a change is offered. Writes inside this clone only,
# beside the caches of pip and uv and ~/.cache/gristmill.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PEERS := .venv-peers
EXTRAS := .venv-extras
PY := $(VENV)/bin/python
GRISTMILL := $(VENV)/bin/gristmill
INSTALL := requirements/install.sh
# What rendering takes from the system: a drawing library and a sandbox; a browser and its fonts.
SYSTEM := requirements/system.sh libcairo2 bubblewrap
BROWSER := chromium fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji
ROOTS := pipeline synth render stages manifests
LINKS := $(ROOTS:%=build/links/gristmill/%)
PYTEST := $(PY) -m pytest
# The quick suite in two processes, one for each of two processors; as much work in the one as in the other.
QUICK := $(PYTEST) -m "not slow" -p no:cacheprovider
HALF := tests/pipeline tests/laws
LINTED := setup.py $(ROOTS) tests docs/examples
# An environment holds absolute paths: one that was moved or copied along with its clone is made anew.
MOVED := $(shell [ "$$(cat $(VENV)/.root 2>/dev/null)" = "$$(pwd -P)" ] || echo moved)

.PHONY: help setup-core setup setup-all setup-extras setup-peers demo tour lint test test-extras test-all bench lock clean moved

help:
	@echo 'make setup-core  the environment that runs the mill, in $(VENV)'
	@echo 'make setup       setup-core and what tests and linting need'
	@echo 'make setup-all   setup and setup-extras'
	@echo 'make setup-extras  an environment with every engine, in $(EXTRAS)'
	@echo 'make setup-peers other tools to compare with, in $(PEERS)'
	@echo 'make demo        collects a small real corpus and makes verified trainer shards of it'
	@echo 'make tour        the demo, pictures drawn from code, long sequences, and the plan of a run over all of it'
	@echo 'make test        setup, lint, the quick suite'
	@echo 'make test-extras tests of the engines beside the local one, and of exports in their libraries, in $(EXTRAS)'
	@echo 'make test-all    setup, lint, every test'
	@echo 'make bench       speed and memory against bare parsers and peers'
	@echo 'make lock        renews requirements/*.txt from pyproject.toml (needs uv and a registry)'
	@echo 'make clean       removes environments, caches and the demo of this clone'

setup-core: $(VENV)/.core $(LINKS)
setup: setup-core $(VENV)/.dev
setup-all: setup setup-extras
setup-peers: $(PEERS)/.peers

moved:
$(VENV)/.root: $(MOVED)
	rm -rf $(VENV)
	$(INSTALL) $(VENV)
	@pwd -P > $@

$(VENV)/.core: $(VENV)/.root requirements/core.lock.txt requirements/models.txt pyproject.toml setup.py
	$(INSTALL) $(VENV) --require-hashes -r requirements/core.lock.txt
	$(INSTALL) $(VENV) --require-hashes --no-deps -r requirements/models.txt
	$(INSTALL) $(VENV) --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core requirements/dev.lock.txt
	$(INSTALL) $(VENV) --require-hashes -r requirements/dev.lock.txt
	@touch $@

setup-extras: $(EXTRAS)/.extras $(LINKS)
EXTRAS_PINS := $(patsubst %,requirements/%.txt,extras.lock models export_check torch)
$(EXTRAS)/.extras: $(EXTRAS_PINS) pyproject.toml setup.py
	$(INSTALL) $(EXTRAS) --require-hashes -r requirements/extras.lock.txt
	$(INSTALL) $(EXTRAS) --require-hashes --no-deps -r requirements/models.txt
	$(INSTALL) $(EXTRAS) --require-hashes --no-deps -r requirements/export_check.txt
	$(INSTALL) $(EXTRAS) --require-hashes --no-deps -r requirements/torch.txt || $(INSTALL) $(EXTRAS) torch==2.13.0
	$(INSTALL) $(EXTRAS) --no-build-isolation --no-deps -e .
	@touch $@

$(PEERS)/.peers: requirements/peers.in
	$(INSTALL) $(PEERS) -r requirements/peers.in
	@touch $@

build/links/gristmill/%:
	@mkdir -p build/links/gristmill
	@ln -sfn ../../../$* $@

demo: setup-core
	@[ -e demo/input/demo-data.json ] || $(GRISTMILL) demo-data demo/input
	$(GRISTMILL) classifier demo demo/input --out demo/models
	$(GRISTMILL) run pipeline/recipes/demo.yaml --out demo/out
	$(GRISTMILL) verify demo/out
	@$(GRISTMILL) ls demo/out
	@echo
	@echo 'The trainer shards lie in demo/out. What to look at next:'
	@echo '  $(GRISTMILL) ls demo/out                        datasets, steps, what each kept and dropped'
	@echo '  $(GRISTMILL) trace demo/out --grep TEXT         why a document was kept, changed or dropped'
	@echo '  $(GRISTMILL) plan pipeline/recipes/demo.yaml --out demo/out    the steps, and what a second run would reuse'
	@echo '  $(GRISTMILL) plan pipeline/recipes/plans/demo.yaml --plots demo/plots    what a trainer reads of it'

# What takes longer than a demo: pictures drawn from code, rows of 1M tokens, long sequences with planted tasks.
tour: setup demo
	$(SYSTEM)
	$(GRISTMILL) run pipeline/recipes/tour.yaml --out demo/tour
	$(GRISTMILL) verify demo/tour --deep
	$(GRISTMILL) render sheet demo/tour/pairs --out demo/sheets
	$(GRISTMILL) plan pipeline/recipes/plans/tour.yaml --plots demo/plots
	$(GRISTMILL) show demo/tour/long_1m --tasks
	@echo
	@echo 'What to look at next:'
	@echo '  demo/sheets                                        pictures with their boxes and points'
	@echo '  demo/plots                                         what a trainer reads of it'
	@echo '  $(GRISTMILL) show demo/tour/long_64k --row 0 --map    where the evidence of planted tasks stands'

lint: setup
	$(VENV)/bin/ruff check $(LINTED)
	$(VENV)/bin/ruff format --check $(LINTED)
	$(VENV)/bin/pyright

test: setup lint
	$(SYSTEM)
	$(PY) -m tests.warm
	$(QUICK) $(HALF) & half=$$!; $(QUICK) --ignore tests/extras $(HALF:%=--ignore %) tests; rest=$$?; wait $$half && exit $$rest

test-extras: setup-extras
	$(SYSTEM) $(BROWSER)
	$(EXTRAS)/bin/python -m tests.warm
	$(EXTRAS)/bin/python -m pytest -m "not slow" tests/extras

test-all: setup-all lint
	$(SYSTEM) $(BROWSER)
	$(PY) -m tests.warm
	$(PYTEST) --ignore tests/extras
	$(EXTRAS)/bin/python -m pytest tests/extras

bench: setup-all
	$(SYSTEM) $(BROWSER)
	$(PY) tests/bench/run.py

# No index URL and no comment on the origin: any registry that holds the hashed files will do.
COMPILE := PATH="$(VENV)/bin:$$PATH" uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --custom-compile-command "make lock"
DEV := --extra dev --extra code --extra compat --extra datatrove --extra onnx --extra semantic --extra svg
HEAVY := --extra ray --extra s3 --extra spark --extra java --extra web
lock:
	$(COMPILE) -c requirements/constraints.in pyproject.toml -o requirements/core.lock.txt
	$(COMPILE) $(DEV) -c requirements/core.lock.txt pyproject.toml -o requirements/dev.lock.txt
	$(COMPILE) $(DEV) $(HEAVY) -c requirements/core.lock.txt pyproject.toml requirements/extras.in -o requirements/extras.lock.txt
	$(COMPILE) --no-deps requirements/models.in -o requirements/models.txt
	$(COMPILE) --no-deps requirements/export_check.in -o requirements/export_check.txt
	$(COMPILE) requirements/uv.in -o requirements/uv.txt
	$(MAKE) setup setup-extras
	$(EXTRAS)/bin/python -m tests.licenses_table

clean:
	rm -rf $(VENV) $(EXTRAS) $(PEERS) build dist demo .pytest_cache .ruff_cache .hypothesis *.egg-info
	find $(ROOTS) tests -name __pycache__ -type d -exec rm -rf {} +
