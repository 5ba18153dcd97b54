# What a contributor runs. Each target does its own set-up. Only Go and make are
# required; the race detector also needs a C compiler.

# The generators and linters have their own module.
TOOL = go tool -modfile=$(CURDIR)/tools/go.mod

# Tests use these programs. Otherwise each package would check whether they are up to date.
export NETSIM_DEV_BIN = $(CURDIR)/bin/netsim-dev
export NETSIM_BIN = $(CURDIR)/bin/netsim

# Tests that draw their input draw the same each time: bad luck holds no change up. With 0
# they draw anew, as .ci/run --all does.
export RAPID_SEED ?= 1

# The packages whose tests kill processes, and the tests of others that kill, but use what
# only the tests of their package have: these have the build tag faults.
FAULTS = ./internal/faults/...
KILLING = ./cmd/netsim ./cmd/service/conformance ./runs/execution/host
KILLING_TESTS = TestExportSurvivesKill|TestOperationsByCommand|TestWithoutTheLogReadsContinue|TestWithPostgreSQLKilledOnlyOperationsFromMemoryAnswer|TestRestarts

.PHONY: run first build test check lint faults generated fuzz simulate bench prove prove-mutants accuracy upgrade-test sbom generate clean netsim-dev

run: first build ## start everything on this machine (NETSIM_HTTP, NETSIM_DATA)
	@exec bin/netsim-dev run --end-with-parent

first:
	@[ -e bin/netsim ] || echo "building netsim and the servers of this machine; the first time Go downloads their modules, which takes some minutes"

build: netsim-dev
	go build -o bin/ ./cmd/netsim

netsim-dev:
	go build -C cmd/netsim-dev -buildvcs=false -o "$(NETSIM_DEV_BIN)" .

test: build ## every test that kills nothing and needs no outside tool, once; RACE=1: with the race detector where goroutines share memory; RACE=all: all with it
	@seen=$$(mktemp -d) && trap 'rm -rf "$$seen"' EXIT && \
	NETSIM_CONTRACT_SEEN="$$seen" "$(NETSIM_DEV_BIN)" test $(if $(RACE),--race $(if $(filter all,$(RACE)),all,shared)) --except $(FAULTS) $(TEST) ./... && \
	go run ./api/contract/contracttest/unseen "$$seen"

faults: build ## the tests that kill processes, one at a time; NETSIM_TEST_KILLS bounds how often, KILLS selects tests by name
	"$(NETSIM_DEV_BIN)" test --parallel 1 --timeout 60m $(if $(KILLS),--run '$(KILLS)') $(FAULTS)
ifndef KILLS
	"$(NETSIM_DEV_BIN)" test --parallel 1 --timeout 60m --tags faults --run '^($(KILLING_TESTS))$$' $(KILLING)
endif

check: lint generated ## what a change must pass beside make test

lint: ## formatting, vet, staticcheck, dead code; of the SDK its users call what this module does not
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	for module in . cmd/netsim-dev prove sdk/go; do (cd $$module && go vet -tags tools,faults ./... && $(TOOL) staticcheck -tags tools,faults ./...) || exit 1; done
	@dead=$$($(TOOL) deadcode -tags tools,faults -test ./...) || exit 1; \
	dead=$$(echo "$$dead" | grep -v '^sdk/go/'); \
	if [ -n "$$dead" ]; then echo "$$dead"; exit 1; fi

generated: ## generated files are up to date
	@state() { git status --porcelain; git diff; }; \
	before=$$(state); $(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(state)" ] || { echo "generated files are out of date; commit what make generate changed"; exit 1; }

fuzz: build ## three minutes of requests that Schemathesis generates from the contract (FUZZ_SECONDS, FUZZ_SEED)
	.ci/fuzz/run

simulate: ## simulate the core: HOURS of virtual time, or the seed SEED (ROUNDS=2, SPARSE=false)
	go test -C prove -count=1 -v -timeout 24h -tags simulation ./simulation -run 'TestSimulation$$' \
		-seed $(or $(SEED),0) -hours $(or $(HOURS),0) -rounds $(or $(ROUNDS),2) -sparse=$(or $(SPARSE),false)

bench: ## print the figures beside their peers and limits; BENCH=-quick for a first impression
	go run -C prove ./bench $(BENCH)

prove: netsim-dev ## break a three-broker cluster for PROVE_FOR (1h), with PROVE_SEED; more options in PROVE
	go build -C prove -o "$(CURDIR)/bin/prove" ./campaign
	bin/prove -for $(or $(PROVE_FOR),1h) $(if $(PROVE_SEED),-seed $(PROVE_SEED)) $(PROVE)

prove-mutants: netsim-dev ## see the campaign catch seeded bugs, all or those that MUTANT names
	go build -C prove -o "$(CURDIR)/bin/prove" ./campaign
	bin/prove -mutants $(if $(MUTANT),-mutant $(MUTANT)) $(if $(PROVE_SEED),-seed $(PROVE_SEED)) $(PROVE)

accuracy: ## compare the engine with closed forms and other simulators, row by row
	go run -C prove ./bench/accuracy

upgrade-test: build ## a rolling upgrade from the previous release, which is built from git's history
	.ci/upgrade/run

sbom: build ## write bin/netsim.cdx.json, what netsim is made of
	go run -C tools/security ./sbom "$(CURDIR)/bin/netsim" > bin/netsim.cdx.json

generate: ## write the generated files
	go generate ./... && go generate -C prove ./... && go generate -C sdk/go ./...

clean: ## delete what was built; the data in .netsim stays
	rm -rf bin .cache
