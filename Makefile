# What a contributor runs. Each target does its own set-up. Only Go and make are
# required; the race detector also needs a C compiler.

# The generators and linters have their own module.
TOOL = go tool -modfile=$(CURDIR)/tools/go.mod

# Tests use this netsim-dev. Otherwise each package would check whether it is up
# to date, and Go's test cache would not notice a change of it.
export NETSIM_DEV_BIN = $(CURDIR)/bin/netsim-dev

# Tests that run netsim in its own process use this one.
export NETSIM_BIN = $(CURDIR)/bin/netsim

# Tests that kill, but use what only the tests of their package have, have the build tag
# faults. .ci/observe/run runs another one, which needs Prometheus.
KILLING = ./cmd/netsim ./cmd/service/conformance ./runs/execution/host

# Where tests record which answers of the contract they have seen. A lost
# directory gets a new name: a changed environment makes Go repeat the tests
# that had recorded theirs there.
SEEN = $(shell mkdir -p .cache && { ls -d "$(CURDIR)"/.cache/seen.* 2>/dev/null || mktemp -d "$(CURDIR)/.cache/seen.XXXXXX"; } | head -n 1)

# The packages whose tests kill no process.
QUIET = $$(go list ./... | grep -v '^netsim/internal/faults')

# The packages whose tests `make race` runs.
RACE = $(QUIET)

.PHONY: run build test faults check lint generated race fuzz simulate bench prove prove-mutants accuracy upgrade-test sbom generate clean netsim-dev

run: build ## start everything on this machine (NETSIM_HTTP, NETSIM_DATA)
	@exec bin/netsim-dev run --end-with-parent

build: netsim-dev
	go build -o bin/ ./cmd/netsim

netsim-dev:
	go build -C cmd/netsim-dev -buildvcs=false -o "$(NETSIM_DEV_BIN)" .

test: build ## run all tests that kill no process, and check that they saw every answer of the contract
	NETSIM_CONTRACT_SEEN="$(SEEN)" go test -count=1 -timeout 40m $(QUIET)
	go run ./api/contract/contracttest/unseen "$(SEEN)"
	go test -C cmd/netsim-dev -count=1 -timeout 20m ./...

faults: build ## run the tests that kill processes, one at a time (NETSIM_TEST_KILLS)
	go test -count=1 -p 1 -timeout 60m ./internal/faults/...
	go test -count=1 -p 1 -timeout 60m -tags faults \
		-run '^(TestExportSurvivesKill|TestOperationsByCommand|TestWithoutTheLogReadsContinue|TestWithPostgreSQLKilledOnlyOperationsFromMemoryAnswer|TestRestarts)$$' $(KILLING)

check: lint generated race ## what a change must pass beside make test

lint: ## formatting, vet, staticcheck, dead code
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	go vet ./...
	go vet -C cmd/netsim-dev ./...
	$(TOOL) staticcheck ./...
	cd cmd/netsim-dev && $(TOOL) staticcheck ./...
	@dead=$$($(TOOL) deadcode -test ./...) || exit 1; \
	if [ -n "$$dead" ]; then echo "$$dead"; exit 1; fi

generated: ## generated files are up to date
	@state() { git status --porcelain; git diff; }; \
	before=$$(state); $(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(state)" ] || { echo "generated files are out of date; commit what make generate changed"; exit 1; }

race: build ## race tests, of the packages in RACE
	go test -race -count=1 -timeout 30m $(RACE)
	go test -C cmd/netsim-dev -race -count=1 -timeout 20m ./...

fuzz: build ## three minutes of requests that Schemathesis generates from the contract (FUZZ_SECONDS, FUZZ_SEED)
	.ci/fuzz/run

simulate: ## simulate the core: HOURS of virtual time, or the seed SEED (ROUNDS=2, SPARSE=false)
	go test -count=1 -v -timeout 24h -tags simulation ./prove/simulation -run 'TestSimulation$$' \
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
	go generate ./...

clean: ## delete what was built; the data in .netsim stays
	rm -rf bin .cache
