# `make lab` and `make test` are all a newcomer needs; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
SITE_VENV := .venv-site
PEERS_VENV := .venv-peers
GRADERS_VENV := .venv-graders
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
BUNDLE := agent_nb/static/widget.js
EXTENSIONS := $(VENV)/share/jupyter/labextensions
JS_SOURCES := $(shell find js/src js/lab agent_nb/pages/policy.json js/package.json js/package-lock.json js/build.mjs -type f 2>/dev/null)

# Jupyter refuses to start as root, as in a container, unless told that it is meant.
ROOT_FLAG := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)

# Container images set it, and every kernel that a test starts would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

env: $(STAMP) ## make the virtual environment in .venv

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q -U "pip>=25.1"
	AGENT_NB_SKIP_BUILD=1 $(PY) -m pip install -q -e . --group dev
	@# JupyterLab's extension as it is built here, not a copy from the installation.
	mkdir -p $(EXTENSIONS) && rm -rf $(EXTENSIONS)/agent-nb && ln -s "$(CURDIR)/agent_nb/static/lab" $(EXTENSIONS)/agent-nb
	touch $@

js/node_modules/.installed: js/package.json js/package-lock.json
	cd js && npm install --no-save --no-audit --no-fund --loglevel=error
	touch $@

build: $(BUNDLE) ## build the widget's page

$(BUNDLE): js/node_modules/.installed $(JS_SOURCES)
	cd js && npm run --silent build

lab: env build ## open JupyterLab on the first notebook
	@$(VENV)/bin/jupyter trust notebooks/*.ipynb >/dev/null  # so that the saved pages show before anything is run
	$(VENV)/bin/jupyter lab $(ROOT_FLAG) --LabApp.default_url=/lab/tree/notebooks/01_first_run.ipynb

chromium: env ## make sure there is a Chromium or Chrome for the browser tests
	@$(PY) -m tests.support.browser >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium; } || \
	  echo "No browser found: the tests in a browser are skipped, those of \`make test-hosts\` fail. Install Chromium or Chrome, or run \`$(PY) -m playwright install chromium\`."

PYTEST := $(PY) -m pytest -p no:nbval -m "not wide and not hosts and not faults and not trust and not agents"

test: env build chromium ## run the tests: Python, page, notebooks (the wide looks: test-wide)
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=line test-programs test-page test-lessons test-unit

test-python: test-programs test-unit ## the tests in Python

test-programs: env build chromium ## tests with kernels, JupyterLab and Chromium
	$(PYTEST) $(addprefix tests/,lab browser kernel hosts faults) -n 2 --dist loadfile --no-loadscope-reorder

# Four processes, which give memory back: all tests in one would take 800 MB. The last three end at the same time.
UNIT_PYTEST := MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=1000000 $(PYTEST)
ENGINE := tests/unit/engine tests/unit/providers tests/unit/tools
RUNS := tests/unit/acp tests/unit/cassette tests/unit/classroom tests/unit/render tests/unit/run
test-unit: test-unit-engine test-unit-notebook test-unit-runs test-unit-other ## tests that start nothing but local servers
test-unit-engine: env build
	$(UNIT_PYTEST) $(ENGINE)
test-unit-notebook: env build
	$(UNIT_PYTEST) tests/unit/notebook
test-unit-runs: env build
	$(UNIT_PYTEST) $(RUNS)
test-unit-other: env build
	$(UNIT_PYTEST) tests/unit $(addprefix --ignore=,tests/unit/notebook $(ENGINE) $(RUNS))

test-page: build ## the page's own tests
	cd js && npm test --silent

test-lessons: env build ## every notebook, with the outputs it was saved with
	$(PY) -m pytest --nbval notebooks --nbval-sanitize-with tests/nbval.cfg -p no:asyncio -p tests.support.patient_nbval

test-wide: env build chromium ## more looks in the browser: every demo page, stack, arrangement and frozen form; Dask and ipyparallel clusters; many examples of each property
	$(PY) -m pytest tests -p no:nbval -m wide -n 2 --dist loadfile
	$(PY) -m pytest tests/unit -p no:nbval -m hypothesis --hypothesis-profile=wide

test-hosts: env build chromium $(SITE_VENV)/.installed ## other front ends: JupyterLite, marimo, notebooks without widgets
	$(PY) -m pytest tests/hosts -p no:nbval -m hosts

test-faults: env build ## break every event of a run, kill kernels, fill the disk, set the clock back; prints a table
	$(PY) -m pytest tests/faults -p no:nbval -m faults -n 2 --maxschedchunk 1

test-agents: env ## real outside agents, from npm into a cache, against the server of the tests
	$(PY) -m tests.support.agents.real
	$(PY) -m pytest tests/agents -p no:nbval -m agents

test-trust: env build chromium ## attack every promise of docs/internals/security.md, and print them with the results
	$(PY) -m docs.scripts.trust

test-leaks: env build ## keys planted everywhere, a hostile model, and a search of all that leaves the kernel
	$(PY) -m pytest tests/wide/test_leaks.py -p no:nbval

test-graders: env build $(GRADERS_VENV)/.installed ## `--check` cells under nbgrader and Otter, in an environment of their own
	$(PY) -m pytest tests/wide/test_graders.py -p no:nbval

$(GRADERS_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(GRADERS_VENV)
	$(GRADERS_VENV)/bin/python -m pip install -q -U "pip>=25.1"
	AGENT_NB_SKIP_BUILD=1 $(GRADERS_VENV)/bin/python -m pip install -q -e . --group graders
	touch $@

supply-chain: env ## dependencies with licences, sizes and import times; known vulnerabilities; the stacks' files; two equal builds
	$(PY) -m pip install -q pip-audit
	$(PY) -m docs.scripts.supply_chain

quality: env ## write docs/internals/quality.md from the figures that the benches and wide tests left in build/quality
	$(PY) -m docs.scripts.quality

notebooks: env build ## run every lesson again and save it with its outputs
	$(PY) -m docs.scripts.execute_notebooks

test-binder: env ## build Binder's environment from binder/ and run every lesson in it
	$(PY) -m docs.scripts.binder

test-matrix: env build ## other Pythons, kernels and the lowest versions of our dependencies; MATRIX="--only 3.12" for some
	$(PY) -m docs.scripts.matrix $(MATRIX)

site: $(SITE_VENV)/.installed build ## build the static site with live lessons; with OFFLINE=1 one that needs no other host
	$(SITE_VENV)/bin/python -m docs.scripts.site $(if $(OFFLINE),--offline)

site-lock: $(SITE_VENV)/.installed build ## take the newest releases of what the site's Python loads, and write down their hashes
	$(SITE_VENV)/bin/python -m docs.scripts.site --renew-lock

$(SITE_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(SITE_VENV)
	$(SITE_VENV)/bin/python -m pip install -q -U "pip>=25.1"
	$(SITE_VENV)/bin/python -m pip install -q --group site
	touch $@

events: env ## write js/src/run/events.ts and agent_nb/run/feature_values.py from the Python classes
	$(PY) -m docs.scripts.write_events

reference: env ## write docs/reference.md from the code
	$(PY) -m docs.scripts.reference

try: env ## run one small prompt with your own key: make try MODEL=gemini:gemini-4-argon; with TASKS=1, ten small tasks; with TASKS=data, twelve questions about tables, or with DATA=folder the closed questions there
	@$(if $(MODEL),,$(error Name a model: make try MODEL=gemini:gemini-4-argon))$(PY) -m docs.scripts.$(if $(TASKS),$(if $(filter data,$(TASKS)),$(if $(DATA),try_closed,try_data),try_tasks),try_model) "$(MODEL)" $(if $(DATA),--folder "$(DATA)")

screenshot: env build chromium ## take the pictures of the docs from real runs
	$(PY) -m docs.scripts.screenshot

fuzz: env ## the property tests, for much longer
	$(PY) -m pytest -p no:nbval tests/unit/tools/test_partial.py tests/unit/engine/test_loop.py tests/unit/files/test_diffs.py tests/unit/run/test_encoder.py tests/unit/notebook/live/test_stream.py tests/unit/cassette/test_property.py --hypothesis-profile=fuzz

bench: env build ## what it costs: one page of figures, as ratios in one run; BENCH="providers many" for some
	$(PY) -m benchmarks $(BENCH)

soak: env build chromium ## many runs with the page open: what stays behind; SOAK="--runs 60" for fewer
	$(PY) -m benchmarks.soak $(SOAK)

bench-peers: $(PEERS_VENV)/.installed ## the other agent libraries that `make bench` measures beside ours

$(PEERS_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install -q -U "pip>=25.1"
	$(PEERS_VENV)/bin/python -m pip install -q --group peers
	touch $@

check: env js/node_modules/.installed ## lint and types, Python and TypeScript
	$(VENV)/bin/ruff check agent_nb tests benchmarks docs js
	$(VENV)/bin/ruff format --check agent_nb tests benchmarks docs js
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(PY) -m docs.scripts.import_circles
	cd js && npm run --silent check

format: env js/node_modules/.installed ## put the code in shape
	$(VENV)/bin/ruff check --fix agent_nb tests benchmarks docs js
	$(VENV)/bin/ruff format agent_nb tests benchmarks docs js
	cd js && npm run --silent format

clean: ## remove what was built
	rm -rf $(VENV) $(SITE_VENV) $(PEERS_VENV) $(GRADERS_VENV) .venv-matrix js/node_modules agent_nb/static/*.js dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis


.PHONY: help env build lab chromium test test-python test-programs test-unit test-unit-engine test-unit-notebook test-unit-runs test-unit-other test-page test-lessons test-wide test-hosts test-faults test-agents test-leaks test-graders supply-chain quality notebooks test-binder test-matrix site site-lock events screenshot reference try fuzz bench soak bench-peers check format clean
