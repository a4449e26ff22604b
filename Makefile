# Everything that a contributor runs. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help

# The race detector needs a C compiler on Linux. Where there is none, the tests
# run all the same, without it, and say so.
ifeq ($(shell go env CGO_ENABLED),1)
RACE := -race
else
RACE :=
endif

# Tests run with the invariant checks compiled in; release builds have none.
TEST_FLAGS := $(RACE) -tags=invariants -timeout=40m
# By default a program with the race detector sleeps for a second when it ends, so that other
# goroutines may still race. goleak has waited for them by then.
export GORACE ?= atexit_sleep_ms=10
# What an object of a list, or an event, may allocate can be told only without the race detector.
GATES := '^Test(ListDecodeCost|JSONListAllocations|WatchEventAllocations|ImmutablePolicyCosts|TransformCosts)'
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
FUZZTIME ?= 10s
HISTORIES ?= 10000
SOAK ?= 1m
HOSTILE ?= 1m

# What CI runs: .ci/run in this order, .github/workflows/ci.yml in parallel. The last line of test is the tally of all.
STAGES := check build differential dropin e2e page-ci snippets gates test

# Each has a go.mod, so that ./... in one does not reach the others (docs/adr/0009). make test runs the tests of TESTED.
TESTED := . metrics tracing cmd/kinform examples/mirror internal/docs internal/instrumented
MODULES := $(TESTED) bench bench/metrics clientgo clientgo/proof e2e e2e/kubectl e2e/servers view/browser
# To vet the mains of the real servers, and of kubectl, would be to compile all of Kubernetes again.
CHECKED := $(filter-out e2e/servers e2e/kubectl,$(MODULES))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/kinform
	go build -C cmd/kinform -trimpath -buildvcs=auto -o $(abspath bin/kinform) .

.PHONY: demo
demo: build ## run the pipeline on an embedded API server (Ctrl-C ends it)
	bin/kinform demo $(ARGS)

.PHONY: test # without vet, which make check runs, and the gates on allocations
test: ## run the tests of the library and the command, with a sample of the long tests (3 minutes); the last line counts the tests
	@$(MAKE) --no-print-directory test-all TEST_FLAGS='$(TEST_FLAGS) -short -vet=off' GATES=

.PHONY: test-all
test-all: ## run all tests of the library and the command, including all long tests (5 minutes); the last line counts the tests
	@[ -n "$(RACE)" ] || echo "no C compiler: testing without the race detector"
	@echo "compiling, at first the dependencies as well; each package has a line when it ends"
	@{ failed=0; for module in $(TESTED); do (cd $$module && go test $(TEST_FLAGS) -json ./...) || failed=1; done; \
	  $(if $(and $(RACE),$(GATES)),go test -json -run=$(GATES) ./rest ./rest/sharing || failed=1;) exit $$failed; } | go run ./internal/tools/tally

.PHONY: snippets
snippets: ## compile the code in all comments and pages, and run the README's first commands
	cd internal/docs && go test -count=1 -vet=off -timeout=40m .

.PHONY: gates
gates: ## check how much an object of a list and an event of a watch allocate
	go test -count=1 -vet=off -run=$(GATES) ./rest ./rest/sharing

.PHONY: e2e
e2e: ## run the pipeline on a real kube-apiserver and etcd (built at first use)
	@$(MAKE) --no-print-directory -C e2e test

.PHONY: differential
differential: ## run the contracts and 10,000 random histories on client-go as well; compare metrics with controller-runtime's
	cd bench && go test -count=1 ./conformance
	cd bench/metrics && go test -count=1 .
	cd bench && go test -count=1 -timeout=40m -v ./differential -histories=$(HISTORIES) | grep -vE '^(=== |    --- )'

.PHONY: page
page: ## drive the page of package view in headless Chromium (Debian's package chromium; without it, nothing is tested)
	cd view/browser && go test -count=1 -timeout=40m . -v | grep -vE '^=== '

.PHONY: page-ci # what .ci/run has: some four minutes
page-ci: ## install Chromium by apt-get if possible, and drive the page; without Chromium, nothing is tested
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1; } || true
	@command -v chromium >/dev/null || echo "SKIPPED: there is no Chromium, and it cannot be installed: the page was not driven"
	@! command -v chromium >/dev/null || { cd view/browser && go test -count=1 -short -vet=off -timeout=40m .; }

.PHONY: page-soak
page-soak: ## run the page at 5,000 events a second (SOAK=10m); reports pictures a second, and memory of page and program
	cd view/browser && go test -count=1 -timeout=0 -v -run=TestPageUnderLoad . -soak=$(SOAK) | grep -vE '^=== '

.PHONY: page-shots
page-shots: ## make the pictures of docs/view: the page at three sizes, in light and dark, each small picture, and the tour
	mkdir -p bin/shots
	cd view/browser && KINFORM_SCREENSHOTS=$(abspath bin/shots) go test -count=1 -timeout=40m -run='TestSizes|TestEveryPicture/server|TestLessons/server' .

.PHONY: site
site: ## make bin/site, the laboratory as a folder of static files: the page with the program inside, for any host
	go run ./view/site -o bin/site

.PHONY: dropin
dropin: ## test clientgo/, the module with client-go's names
	cd clientgo && go test $(RACE) -vet=off -timeout=40m ./...
	cd clientgo/proof && go test -vet=off -timeout=40m ./...
	cd clientgo/proof && go run ./api | tail -n 1
	cd clientgo && go build -tags=kinform_no_openapi ./...
	cd bench && go test -count=1 -timeout=40m ./footprint
	cd bench && go test -modfile=dropin.mod -tags=dropin -count=1 ./conformance
	cd bench && go test -modfile=dropin.mod -tags=dropin -count=1 ./differential 2>&1 | grep -vE '^[0-9/]+ [0-9:]+ (WARN|INFO)'

.PHONY: dropin-behaviour
dropin-behaviour: ## run 2,000 histories of each suite on clientgo/ and on client-go; the results must be the same
	cd clientgo/proof && go test -count=1 -timeout=30m -v ./behaviour -histories=2000

.PHONY: dropin-differential
dropin-differential: ## run 10,000 random histories on clientgo/ in place of client-go
	cd bench && go test -modfile=dropin.mod -tags=dropin -count=1 -timeout=40m -v ./differential -histories=$(HISTORIES) 2>&1 | grep -vE '^(=== |    --- |[0-9/]+ [0-9:]+ (WARN|INFO))'

.PHONY: dropin-api
dropin-api: ## compare the exported API of clientgo/ with client-go's; fails when an identifier is missing without a reason
	cd clientgo/proof && go run ./api

.PHONY: dropin-peer
dropin-peer: ## run client-go's own tests on clientgo/ and on client-go (half an hour; ARGS are packages, such as util/jsonpath)
	cd clientgo/proof && go run ./peer $(ARGS)

.PHONY: dropin-release
dropin-release: ## migrate a program to kinform as if the checked-out commit were released (PROGRAM is the folder of another program)
	cd clientgo/proof && go run ./release -only=program $(if $(PROGRAM),-in $(abspath $(PROGRAM)))

.PHONY: release
release: ## prepare the release of file VERSION: make and test its commit, and print the tags to set; publishes nothing
	cd clientgo/proof && go run ./release

.PHONY: api # not in make check: it compiles the modules at two commits
api: ## compare the exported API with the newest release; fails on an incompatible change that CHANGELOG.md lacks (BASE is another commit)
	cd clientgo/proof && go run ./release -only=api $(if $(BASE),-base $(BASE))

.PHONY: programs
programs: ## build public programs with client-go and with module clientgo, and run their tests (two hours; ARGS are names)
	$(MAKE) --no-print-directory -C e2e assets
	cd clientgo/proof && go run ./programs $(ARGS)

.PHONY: soak
soak: ## run random histories against the guarantees, under the race detector (SOAK=30m)
	go test $(RACE) -tags=invariants -timeout=0 -count=1 -v -run=HistoriesKeepTheGuarantees ./informer -soak=$(SOAK) | grep -vE '^=== '

.PHONY: hostile
hostile: ## run the client against a hostile server with random responses (HOSTILE=10m)
	go test $(RACE) -tags=invariants -timeout=0 -count=1 -v -run=HostileServer ./rest -hostile=$(HOSTILE) | grep -vE '^=== '

.PHONY: check
check: lint-workflows ## formatting, tidy modules, vet and staticcheck, of all modules; vet the library for 32 bits as well; the workflows
	@unformatted=$$(gofmt -l .) && [ -z "$$unformatted" ] || { echo "gofmt -w these:"; echo "$$unformatted"; exit 1; }
	@set -e; for module in $(MODULES); do echo "== $$module: go mod tidy -diff"; (cd $$module && go mod tidy -diff); done
	@set -e; for module in $(CHECKED); do echo "== $$module: go vet, staticcheck"; \
	  (cd $$module && go vet -tags=invariants ./... && go run $(STATICCHECK) -tags=invariants ./...); done
	@echo "== ., 32 bits: go vet"; GOARCH=386 go vet ./...
	@echo "== the program of the page for browsers: go vet, size"; GOOS=js GOARCH=wasm go vet ./view/site/program && $(MAKE) --no-print-directory site

.PHONY: lint-workflows # without the linters that some machines have and others have not
lint-workflows: ## check the workflows of GitHub with actionlint
	go run $(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml

.PHONY: stages
stages: ## list what CI runs
	@echo $(STAGES)

.PHONY: bench
bench: ## run the benchmarks of every package once
	@set -e; for module in $(TESTED); do (cd $$module && go test -run='^$$' -bench=. -benchmem ./...); done

.PHONY: bench-compare
bench-compare: ## measure against client-go, side by side (some 20 minutes, and ten to compile at first; ARGS=-quick for a glance)
	$(MAKE) -C bench compare

.PHONY: fuzz
fuzz: ## run every fuzz target of every package for FUZZTIME, such as: make fuzz FUZZTIME=10m (default 10s)
	@set -e; for module in $(TESTED); do for pkg in $$(cd $$module && go list ./...); do \
	  for target in $$(go test -C $$module -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; go test -C $$module -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x $$pkg; \
	  done; done; done

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
