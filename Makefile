# The one door to everything that people and CI run here. `make` lists the targets.
#
# Needs Python 3.11 or newer with its venv module, git and make; bubblewrap to fence what runs.
# Everything else comes from requirements.lock into .venv, nothing is installed elsewhere.

PYTHON ?= python3
MINUTES ?=
VENV := .venv
BIN := $(VENV)/bin
PROSE := bot engine stores tests

# One stamp a content: an edited lock makes the environment again, a new checkout time does not.
STAMP := $(VENV)/stamp-$(shell cat requirements.lock pyproject.toml | cksum | tr ' ' '-')

# Without the real CLIs their tests are left out, and pytest counts them as deselected. CI may not.
CLAUDE := .agents/claude/node_modules/.bin/claude
SOME := $(if $(or $(CI),$(wildcard $(CLAUDE))),,-m "not real_agent")

# A file's tests stay together, since many share what they set up; long ones begin first (tests/conftest.py).
# Three for two cores, since they wait for processes that wait for each other a third of their time.
SPREAD := --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help venv agents demo test cover lint check bench soak lock clean

help:
	@echo "make venv     the environment, from requirements.lock, in .venv"
	@echo "make demo     play a whole goal here, from a message to a push, with nobody's account"
	@echo "make test     the tests (with real agent CLIs too, once 'make agents' was run)"
	@echo "make cover    the tests, and which branches they never took"
	@echo "make lint     format, lint, types, Python 3.9 for the node, doors between rooms"
	@echo "make check    lint and test"
	@echo "make agents   bring the pinned real agent CLIs into .agents (some hundred megabytes)"
	@echo "make bench    measure ourselves against the floor of this machine"
	@echo "make soak     all that takes long, until it is stopped; bounded: make soak MINUTES=20"
	@echo "make lock     pin requirements.in into requirements.lock again"
	@echo "make clean    remove .venv and caches (.agents stays)"

venv: $(STAMP)

$(STAMP):
	@$(PYTHON) -c '' 2>/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one:" \
	    "make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Quarterdeck needs Python 3.11 or newer, and $(PYTHON) is" \
	    "`$(PYTHON) -c 'import platform; print(platform.python_version())'`." \
	    "Name a newer one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian and Ubuntu:" \
	    "sudo apt install python3-venv" >&2; exit 1; }
	@echo "making $(VENV) from requirements.lock ..."
	@$(BIN)/python -c 'import pip' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@rm -f $(VENV)/stamp-*
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

agents:
	@sh scripts/agents.sh

demo: venv
	@$(BIN)/quarterdeck demo --play

test: venv
	@$(BIN)/python -m pytest -n 3 $(SPREAD) $(SOME) $(ARGS)

cover: venv
	@$(BIN)/python -m pytest -n 3 $(SPREAD) --cov --cov-report=term $(SOME) $(ARGS)

lint: venv
	@$(BIN)/ruff format --check --quiet $(PROSE)
	@$(BIN)/ruff check --quiet $(PROSE)
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/vermin --quiet --no-tips --target=3.9- --violations engine/node $(wildcard bot/alarm.py)
	@$(BIN)/python -m pytest -p no:cacheprovider tests/test_doors.py
	@echo "lint: nothing to say"

check: lint test

bench: venv
	@$(BIN)/python -m tests.bench $(ARGS)

soak: venv
	@$(BIN)/python -m tests.soak $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

lock: venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	@$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-annotate \
	  --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	  --output-file requirements.lock requirements.in

clean:
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage build dist *.egg-info
	@find $(PROSE) -name __pycache__ -type d -prune -exec rm -rf {} +
