# `make lab` and `make test` are all a newcomer needs; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
BUNDLE := agent_nb/static/widget.js
JS_SOURCES := $(shell find js/src js/package.json js/package-lock.json js/build.mjs -type f 2>/dev/null)

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

env: $(STAMP) ## make the virtual environment in .venv

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q -U "pip>=25.1"
	AGENT_NB_SKIP_BUILD=1 $(PY) -m pip install -q -e . --group dev
	touch $@

js/node_modules/.installed: js/package.json js/package-lock.json
	cd js && npm ci --no-audit --no-fund --loglevel=error
	touch $@

build: $(BUNDLE) ## build the widget's page

$(BUNDLE): js/node_modules/.installed $(JS_SOURCES)
	cd js && npm run --silent build

.PHONY: help env build
