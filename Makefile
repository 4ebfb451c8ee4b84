# Two targets matter: `make run` starts Cloche, `make test` tests it.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
ARGS    ?=
FUZZTIME ?= 30s
RUNS    ?= 200000

# Only the race detector needs cgo, and cgo needs a C compiler. It would have every
# process wait for a second at its end, also the many that tests start.
export CGO_ENABLED = 0

.DEFAULT_GOAL := help
.PHONY: help run build test lint test-aws verify-deployed bench probes test-packages test-web soak steady fuzz clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and start the server; ARGS="--addr 127.0.0.1:9090" changes flags.
	@exec bin/cloche serve $(ARGS)

build: ## Build bin/cloche.
	@$(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/cloche ./cmd/cloche

test: ## Run all quick tests, with the race detector where a C compiler is there.
	@if cc=$$($(GO) env CC) && command -v "$${cc%% *}" >/dev/null; then \
		CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 $(GO) test -race -shuffle=on -timeout 20m ./...; \
	else \
		echo "No C compiler ($$cc): testing without the race detector. Install gcc to have it."; \
		$(GO) test -shuffle=on -timeout 20m ./...; \
	fi

lint: ## Check format, vet (also for arm64 and macOS), staticcheck and dead code.
	@bad=$$($(GO) tool gofumpt -l .) && if [ -n "$$bad" ]; then echo "Not formatted; run '$(GO) tool gofumpt -w .':"; echo "$$bad"; exit 1; fi
	@$(GO) vet ./...
	@GOARCH=arm64 $(GO) vet ./...
	@GOOS=darwin $(GO) vet ./cmd/cloche
	@$(GO) vet -tags web ./web
	@$(GO) vet -tags soak ./cmd/cloche ./internal/sandbox
	@$(GO) tool staticcheck ./...
	@$(GO) tool staticcheck -tags web ./web
	@dead=$$($(GO) tool deadcode -test ./...) && if [ -n "$$dead" ]; then echo "Unreachable:"; echo "$$dead"; exit 1; fi

test-aws: ## Run the AWS path for real on this machine: engine, image, emulators, Lambda-like runs. Needs root.
	@.ci/aws/test

verify-deployed: ## Check a deployed stack, with the AWS credentials of the environment; URL=https://….
	@.ci/aws/deployed '$(URL)'

bench: build ## Measure this machine against the bare interpreter; ARGS="--runs 1000" changes flags.
	@bin/cloche bench --out bin/bench.json $(ARGS)

probes: ## Run the hostile probes against every set of isolation layers, as root and as a user.
	@CLOCHE_PROBES=all $(GO) test -run '^TestProbes$$' -count=1 -timeout 15m ./internal/sandbox

test-packages: build ## Run the tests of real packages with numpy and matplotlib, which are fetched, and measure numpy.
	@GO=$(GO) .ci/packages

test-web: ## Hold the dashboard in a real Chromium against a real server; pictures go to bin/web.
	@GO=$(GO) .ci/web/test

soak: ## Put 10000 mixed runs on a server, kill one 20 times under load, and lay siege to one.
	@$(GO) test -tags soak -run '^(TestSoak|TestSiege)' -count=1 -timeout 15m -v ./cmd/cloche

steady: ## Make RUNS (200000) runs in a row, and tell whether the last are as fast as the first.
	@CLOCHE_STEADY=$(RUNS) $(GO) test -tags soak -run '^TestSteady$$' -count=1 -timeout 2h -v ./internal/sandbox

fuzz: ## Run each fuzz test for FUZZTIME (30s).
	@GO=$(GO) .ci/fuzz $(FUZZTIME)

clean: ## Remove what was built; the data folder stays.
	@rm -rf bin
