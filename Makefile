# One verb, one target. `make` alone lists them.
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Tests run on all cores; a worker that has none left takes from another.
SPREAD := -n auto --maxprocesses 8 --dist worksteal
# A test that hangs shows where, and fails.
BOUND := -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true
DOCKERFILES := docker/Dockerfile

# Tests and benchmarks start hundreds of processes: without this, each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-quick coverage record lint types bench bench-quick bench-versus openapi openapi-check clients test-clients face face-check pictures pictures-check docs walk parity planned ptsuite wild array-api check fuzz hostile asking streams device cuda-compile gpu hangs faults faults-cluster bench-cluster soak gradcheck peer replay leak sleeping loop first-gradient packages test-docker test-browser clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv with all that serving and developing need

$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make setup: no $(PYTHON) here; gradd needs Python 3.11 or newer" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "make setup: gradd needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V); try make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	    { echo "make setup: $(PYTHON) has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet --editable '.[server,jit]' --group dev --group demo
	$(PY) -m gradd_engine.kernels
	@touch $@

demo: $(STAMP) ## train a digits classifier in a daemon, from a process of its own
	@$(PY) examples/demo.py

test: $(STAMP) ## run the tests; what was skipped is listed with its reason
	$(PY) $(UNDER) -m pytest -rs $(SPREAD) $(BOUND) $(TESTS)

test-quick: $(STAMP) ## run a share of each room (tests/quick.txt), in under a minute
	$(PY) -m pytest -q -rs $(SPREAD) @tests/quick.txt

coverage: $(STAMP) ## `make test`, then which share of each package's lines it ran; BAR= fails below it
	rm -rf build/coverage
	mkdir -p build/coverage
	$(MAKE) test UNDER='-m coverage run'
	$(PY) -m coverage combine -q
	$(PY) -m tests.covered $(if $(BAR),--bar $(BAR))

record: $(STAMP) ## record what PyTorch answers the tests, for where it is not installed
	$(PY) -m pytest -q -m oracle --record $(TESTS)

lint: $(STAMP) types openapi-check face-check pictures-check ## check style, types, import contracts, Dockerfiles, what is generated
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports --no-cache
	$(VENV)/bin/hadolint $(DOCKERFILES)
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.compose-spec docker/compose*.yaml

types: $(STAMP) ## check types (mypy --strict)
	$(VENV)/bin/mypy

openapi: $(STAMP) ## write openapi.yaml from the routes, and the TypeScript client's types from it
	$(PY) -m gradd_server.openapi > openapi.yaml.new
	mv openapi.yaml.new openapi.yaml
	$(PY) -m tools.typescript

clients: $(STAMP) ## generate the clients for Go, Rust and Java into build/clients (needs Java to run)
	$(PY) -m pip install --quiet --group clients
	$(VENV)/bin/openapi-generator-cli batch clients/*.yaml

test-clients: $(STAMP) ## generate clients, compile and run docs/clients.md; GRADD_CRATES=, GRADD_JARS=, GRADD_NODE_MODULES= folders
	$(PY) -m pip install --quiet --group clients
	$(PY) -m pytest -rsP -n0 --durations=10 tests/clients

openapi-check: $(STAMP) ## fail where openapi.yaml is stale
	@$(PY) -m gradd_server.openapi | cmp - openapi.yaml || { echo "openapi.yaml is stale: make openapi" >&2; exit 1; }
	@$(PY) -m tools.typescript --check

face: $(STAMP) ## write the stubs (.pyi) and docs/ops.md from the declarations
	$(PY) -m tools.face

face-check: $(STAMP) ## fail where a stub or docs/ops.md is stale
	@$(PY) -m tools.face --check || { echo "make face" >&2; exit 1; }

pictures: $(STAMP) ## draw docs/pictures from the code
	$(PY) -m tools.pictures

pictures-check: $(STAMP) ## fail where a picture is stale
	@$(PY) -m tools.pictures --check

walk: $(STAMP) ## run the commands that pages of docs/ show; write what they print, and pictures: PAGES=, else all
	$(PY) -m tools.walk $(PAGES)

docs: $(STAMP) ## build the docs' site in build/site, with pages from the code; a warning fails
	$(PY) -m tools.site build/site

parity: $(STAMP) ## write docs/parity.md from the semantics tests, docs/parity-ops.md from samples of every operator
	$(PY) -m tests.semantics.parity --write
	$(PY) -m tests.parity --write

planned: $(STAMP) ## write into docs/speed.md which loops are planned
	$(PY) -m tests.runtime.plan.ways --write

ptsuite: $(STAMP) ## run PyTorch's own tests: PYTORCH_TESTS= its folder test, URL= a daemon (else in process)
	@test -n "$(PYTORCH_TESTS)" || { echo "make ptsuite: PYTORCH_TESTS=<the folder test of a checkout of PyTorch>" >&2; exit 2; }
	$(PY) -m tests.ptsuite $(PYTORCH_TESTS) $(if $(URL),--url $(URL))

wild: $(STAMP) ## run public scripts with gradd in torch's place: WILD= a folder of checkouts; writes docs/wild.md
	@test -n "$(WILD)" || { echo "make wild: WILD=<a folder with checkouts, as owner/name>" >&2; exit 2; }
	$(PY) -m tests.wild $(WILD) --write docs/wild.md $(if $(URL),--url $(URL))

array-api: $(STAMP) ## run the array API standard's tests: ARRAY_API_TESTS= a checkout of data-apis/array-api-tests
	@if [ -n "$(ARRAY_API_TESTS)" ]; then $(PY) -m tests.array_api $(ARRAY_API_TESTS); \
	else echo "make array-api: skipped, ARRAY_API_TESTS=<a checkout of data-apis/array-api-tests> is not given"; fi

check: lint test ## everything that continuous integration checks

fuzz: $(STAMP) ## 20,000 generated frames; 50,000 random programs, planned and eager, 20,000 swept; 2,000 loops beside torch, 20,000 with a trail and without, 2,000 in several sessions
	GRADD_FUZZ=20000 $(PY) -m pytest -rs tests/protocol/test_fuzz.py
	$(PY) -m tests.runtime.fuzz 50000
	GRADD_SWEEPS=20000 $(PY) -m pytest -rs $(SPREAD) tests/runtime/plan/test_sweep.py
	GRADD_LOOPS=2000 $(PY) -m pytest -rs tests/congruence/test_loops.py
	GRADD_TRAILS=20000 $(PY) -m pytest -rs $(SPREAD) tests/client/test_trail.py
	GRADD_TRAIL_SAMPLES=4 $(PY) -m pytest -rs $(SPREAD) tests/client/test_trail_samples.py
	GRADD_TURNED=5000 $(PY) -m pytest -rs tests/client/test_turned.py
	GRADD_REPLICAS=2000 $(PY) -m pytest -rs $(SPREAD) tests/client/test_parallel.py
	GRADD_FUNCTIONS=20000 $(PY) -m pytest -rs tests/client/test_function_programs.py

hostile: $(STAMP) ## 200 hostile calls of every op, eager and planned; compiled kernels also with bounds checks
	$(PY) -m tests.hostile
	$(PY) -m tests.hostile --bounds --cases 60
	$(PY) -m tests.hostile.costs

asking: $(STAMP) ## run the client's and the semantics' tests as in a script that derives a class from Tensor
	$(PY) -m pytest -rs $(SPREAD) --asking tests/client tests/semantics

streams: $(STAMP) ## 4,000 random loops that draw random numbers; the client's and the semantics' tests, asking each session where its stream is
	GRADD_STREAMS=4000 $(PY) -m pytest -rs tests/client/test_stream.py
	$(PY) -m pytest -rs $(SPREAD) --streams tests/client tests/semantics

device: $(STAMP) ## on a strict stand-in for CuPy: samples of all ops, 400 random programs, 300 random loops as CUDA graphs, the semantics tests, the examples; prints who waits
	GRADD_DEVICE=all $(PY) -m pytest -rs tests/device
	$(PY) -m tests.device.runs
	$(PY) -m tests.device.programs 400
	$(PY) -m tests.device.graphs 300
	$(PY) -m tests.device.loops
	$(PY) -m pytest -rs $(SPREAD) --standin tests/semantics tests/examples

cuda-compile: $(STAMP) ## compile the device kernels by NVRTC for sm_80, sm_90 and sm_100; run them all as host code, bounds checked
	$(PY) -m pip install --quiet --group cuda-compile
	$(PY) -m tests.cuda.compile
	GRADD_CUDA=all GRADD_FUSED=200 $(PY) -m pytest -rs tests/cuda tests/device/test_standin.py

gpu: ## on a machine with a GPU, in ten minutes: tests, compute-sanitizer, benchmarks beside torch; goes on where it was cut; PART=, GPU_PYTHON=
	@$(PYTHON) -m tools.gpu $(PART)

hangs: $(STAMP) ## 120 seeded faults (stopped processes, silent networks) in every blocking call; 40,000 malformed messages
	GRADD_HANGS=120 $(PY) -m pytest -rs tests/client/test_hangs.py
	GRADD_MALFORMED=40000 $(PY) -m pytest -rs tests/runtime/session/test_malformed.py

faults: $(STAMP) ## 200 kills, 240 at named places, 100,000 batches over a bad network, 5,000 random histories, 5,000 of a record with several holders, failing disks, lost power, fuzzed frames, a hostile tenant; prints what it counted
	GRADD_CANCELS=200 GRADD_PARALLEL_KILLS=20 GRADD_KILLS=200 GRADD_KILLS_CLIENTS=8 GRADD_KILLS_DAEMONS=4 GRADD_FAULTS=3 GRADD_FAILPOINTS=20 GRADD_BATCHES=100000 GRADD_HISTORIES=5000 GRADD_RECORDS=100 GRADD_HOLDERS=5000 \
	    GRADD_FLIPS=10000 GRADD_CUTS=1000 GRADD_POWER=60 GRADD_STREAMED=100000 GRADD_STRANGERS=5000 GRADD_REQUESTS=50 $(PY) -m pytest -rs --durations=15 $(SPREAD) tests/faults tests/runtime/store
	GRADD_NEIGHBOURS=1 $(PY) -m pytest -n0 tests/faults/test_hostile_tenant.py

faults-cluster: $(STAMP) ## 50 faults of nodes, hosts, engine processes, fronts and the head of a Ray cluster under 6 clients; 1,000 sessions opened, moved and drained; an upgrade
	$(PY) -m pip install --quiet --group cluster --group s3
	GRADD_NODE_FAULTS=50 GRADD_NODE_CLIENTS=6 GRADD_NODE_SESSIONS=1000 $(PY) -m pytest -rs tests/faults/test_cluster.py tests/faults/test_cluster_upgrade.py tests/faults/test_by_hand.py
	GRADD_NODE_STORE=objects GRADD_NODE_FAULTS=20 GRADD_NODE_CLIENTS=4 $(PY) -m pytest -rs tests/faults/test_cluster.py

bench-cluster: $(STAMP) ## what the way to another node costs: a + b and an MLP step beside `workers`, in turn
	$(PY) -m pip install --quiet --group cluster
	$(PY) -m benchmarks.cluster

soak: $(STAMP) ## more of `make faults`, for hours: 2,000 kills, 1,000,000 batches, 20,000 histories, 50,000 of several holders, every cut, 20,000 turned bits
	GRADD_CANCELS=2000 GRADD_PARALLEL_KILLS=100 GRADD_KILLS=2000 GRADD_KILLS_CLIENTS=8 GRADD_KILLS_DAEMONS=8 GRADD_FAULTS=40 GRADD_FAILPOINTS=200 GRADD_BATCHES=1000000 GRADD_HISTORIES=20000 GRADD_RECORDS=2000 GRADD_HOLDERS=50000 \
	    GRADD_FLIPS=20000 GRADD_CUTS=100000 GRADD_POWER=1000 GRADD_STREAMED=1000000 GRADD_STRANGERS=50000 GRADD_REQUESTS=700 $(PY) -m pytest -rs --durations=15 $(SPREAD) tests/faults tests/runtime/store
	GRADD_NEIGHBOURS=20 $(PY) -m pytest -n0 tests/faults/test_hostile_tenant.py

gradcheck: $(STAMP) ## gradcheck and gradgradcheck of every differentiable op, in a daemon
	$(PY) -m tests.ops.gradcheck
	$(PY) -m tests.ops.transformed

peer: $(STAMP) ## PyTorch's own operator samples beside ours (needs the oracle and expecttest)
	$(PY) -m tests.ops.peer_samples

replay: $(STAMP) ## tests, op samples and random programs, repeated and cut, beside a session that never plans
	$(PY) -m tests.replay $(REPLAY)

leak: $(STAMP) ## 10,000 training steps; 16 sessions that come and go; fail where client, front or worker grow
	$(PY) -m benchmarks.leak

loop: $(STAMP) ## 1,000 sessions in one event loop against one daemon; fail where a value is wrong or a thread waits
	$(PY) -m benchmarks.loop

sleeping: $(STAMP) ## 10,000 named sessions in 2 GiB: their memory, wakings and a restart; fail where a bar is missed
	$(PY) -m benchmarks.sleeping

first-gradient: $(STAMP) ## from nothing to a gradient: environment, pip install, daemon, script; fail above a minute
	$(PY) -m benchmarks.first_gradient

bench: $(STAMP) ## measure beside torch (where installed) and raw TCP; writes docs/benchmarks.md; AGAINST= a commit too; BENCH_PYTHON=
	$(PY) -m benchmarks --write docs/benchmarks.md $(if $(AGAINST),--against $(AGAINST))

bench-quick: $(STAMP) ## less of it, in two minutes; prints only
	$(PY) -m benchmarks --effort quick

bench-versus: $(STAMP) ## measure beside BASE, a commit or a clone, in turn; fail where 3 % slower
	$(PY) -m benchmarks.versus $(BASE)

test-browser: $(STAMP) ## dashboard and TypeScript client in chromium, axe, load time (at most 200 ms), timelines in Perfetto; takes the docs' pictures
	$(PY) -m pip install --quiet --group browser --group viewers
	npm install --silent --no-save --prefix build/browser axe-core@4 typescript@5
	GRADD_NODE_MODULES=$(CURDIR)/build/browser/node_modules GRADD_PICTURES=1 GRADD_LOAD_MS=200 \
	    $(PY) -m pytest -rsP -n0 tests/dashboard tests/clients/test_browser.py tests/client/test_viewers.py

test-docker: $(STAMP) ## build and run the image, render the chart; PODMAN= is a command prefix, BASE= a base image
	$(PY) -m pip install --quiet --group deploy
	$(PY) -m pytest -rsP -n0 -m 'container or not container' tests/docker

packages: $(STAMP) ## build wheel and sdist, check them, and use them on every Python from 3.11 that is here
	$(PY) -m pip install --quiet --group packages
	$(PY) -m tools.packages

clean: ## remove .venv, builds and caches
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
