# make study: an environment in .venv, then the first study. make test: the same, then lint, types, docs and tests.
# make test-slow: the tests of more than eight seconds each. CI runs both. make dist: sdist and wheel in dist/, tried in empty
# environments of PYTHONS, with the newest and the oldest dependencies.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: study test test-slow dist
study: .venv/ready
	$(BIN)/python train.py +experiment=hatespeech_en

test: .venv/ready
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	$(BIN)/mkdocs build --strict --quiet --site-dir $$(mktemp -d)
	$(BIN)/pytest

test-slow: .venv/ready
	$(BIN)/pytest -m "slow and not stress and not engines"

PYTHONS ?= $(PYTHON)
dist: .venv/ready
	$(BIN)/python -m tests.dist dist $(PYTHONS) --study

.venv/ready: requirements.lock tests/peers.txt pyproject.toml
	@echo "installing into .venv, once: torch 2.13.0, the $$(grep -c "^[a-z]" requirements.lock) packages of requirements.lock, tests/peers.txt, this folder"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install torch==2.13.0
	$(BIN)/pip install -r requirements.lock
	$(BIN)/pip install --no-deps -e . -r tests/peers.txt
	touch $@
