# `make help` lists the targets. Go, git, make and a C compiler are all that is needed.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.SUFFIXES:

# Tools are built from their own module, and cached by Go.
TOOL           := go tool -modfile=$(CURDIR)/tools/go.mod
CONTROLLER_GEN := $(TOOL) controller-gen
LINT           := $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml

# What `fleetctl --version` says beside Go's own stamp, which a build without git has not.
COMMIT     ?= $(shell git describe --always --dirty --abbrev=12 2>/dev/null)
COMMIT_VAR := open-cluster-management.io/fleet-addon/pkg/cli.commit

# What `make generate` writes.
CRDS      := manifests/crds
REFERENCE := docs/fleetctl-reference.md
GENERATED := pkg/apis $(CRDS) manifests/agent/crds charts/fleet-addon/files/crds $(REFERENCE)
FLEET     := github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1

# Packages that start goroutines are tested with the race detector. The others are
# pure; the detector would only make them slow.
CONCURRENT := /(pkg/(hub|agent|addon|source|cli)|cmd)(/|$$)
SUITES     := /test/(integration|e2e|perf)(/|$$)

# Local clusters: those that people start, and those of the e2e suite.
ENV          := bin/env
ENV_DIR      ?= .local/env
E2E_DIR      ?= .local/e2e
CLUSTERS     ?= dev:environment=dev stg:environment=stg prod:environment=prod
E2E_CLUSTERS ?= dev1:environment=dev dev2:environment=dev stg:environment=stg prod:environment=prod

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/fleet-addon and bin/fleetctl
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X $(COMMIT_VAR)=$(COMMIT)" -o bin/ ./cmd/...

.PHONY: generate
generate: ## Write deepcopy code and CRDs from the Go types, the reference from the commands
	$(CONTROLLER_GEN) object paths=./pkg/apis/...
	new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; \
	$(CONTROLLER_GEN) crd paths=./pkg/apis/... output:crd:dir=$$new; \
	$(CONTROLLER_GEN) crd paths=$(FLEET) output:crd:dir=$$new/fleet; \
	mkdir -p $(CRDS); rm -f $(CRDS)/*.yaml; \
	cp "$$new"/*.yaml "$$new"/fleet/fleet.cattle.io_{bundles,bundlenamespacemappings,clustergroups}.yaml $(CRDS)/
	manifests/place
	go run ./pkg/cli/reference/generate $(REFERENCE)

.PHONY: lint
lint: ## Run the linters (.golangci.yml says which and why)
	$(LINT) ./...
	cd test/env && $(LINT) ./...

.PHONY: verify
verify: generate lint ## Generate, lint, vet, tidy; then expect that nothing changed
	go vet ./...
	go -C test/env vet ./...
	@for module in . test/env tools; do echo "go -C $$module mod tidy -diff"; go -C $$module mod tidy -diff; done
	@git diff --exit-code -- $(GENERATED) || { echo 'verify: generated files changed; git add them' >&2; exit 1; }
	@new=$$(git ls-files --others --exclude-standard -- $(GENERATED)); [ -z "$$new" ] || \
	{ printf 'verify: generated files that git does not know; git add them:\n%s\n' "$$new" >&2; exit 1; }

.PHONY: unit
unit: ## Run the unit tests of all modules
	go test $$(go list ./... | grep -Ev '$(SUITES)|$(CONCURRENT)')
	CGO_ENABLED=1 go test -race $$(go list ./... | grep -E '$(CONCURRENT)')
	go -C test/env test ./...

.PHONY: integration
integration: $(ENV) ## Run the suites that need an API server and etcd
	$(ENV) build --link .local/bin
	FLEET_ENV_BIN=$(CURDIR)/.local/bin go test -count=1 -timeout=15m ./test/integration/agent ./test/integration/cli
	FLEET_ENV_BIN=$(CURDIR)/.local/bin go tool ginkgo --procs=2 --timeout=15m ./test/integration/hub

# A short lease lets the suite see an unreachable cluster in less than a minute. The
# clusters are always stopped; their logs stay when something failed.
.PHONY: e2e
e2e: build $(ENV) ## Run the e2e suite on local clusters
	$(ENV) build fleet --link .local/bin
	@keep=--keep-data; trap '$(ENV) down --dir $(E2E_DIR) $$keep' EXIT; \
	$(ENV) up --dir $(E2E_DIR) --lease 5s $(E2E_CLUSTERS:%=--cluster %) --fleet-addon-binary bin/fleet-addon; \
	FLEET_E2E_ENV=$(abspath $(E2E_DIR)) go tool ginkgo --procs=2 --timeout=30m -v ./test/e2e; \
	keep=

.PHONY: e2e-kind
e2e-kind: ## Run the e2e suite on kind clusters (needs docker, kind, kubectl, clusteradm)
	test/e2e/kind/run

# The data is Fleet's, and not part of this repository.
.PHONY: conformance
conformance: build ## Compare bundles with those of Fleet's command line (DIR=... has them)
	@[[ -n "$(DIR)" ]] || { echo 'conformance: give the folder that has bundles/CASE/ in it: make conformance DIR=...' >&2; exit 2; }
	@go run ./test/conformance --fleetctl bin/fleetctl "$(DIR)"

.PHONY: test
test: ## Run everything: verify, unit, integration, e2e
	@for stage in verify unit integration e2e; do echo "==> $$stage"; $(MAKE) --no-print-directory $$stage; done

.PHONY: demo
demo: build ## Roll out four versions on local clusters (DEMO_KEEP=1 leaves them running)
	@go run ./test/demo

.PHONY: env-up
env-up: build $(ENV) ## Start local clusters: a hub, dev, stg and prod (CLUSTERS=... for others)
	@$(ENV) up --dir $(ENV_DIR) $(CLUSTERS:%=--cluster %) --fleet-addon-binary bin/fleet-addon

.PHONY: env-down
env-down: $(ENV) ## Stop the local clusters
	@$(ENV) down --dir $(ENV_DIR)

.PHONY: env-status
env-status: $(ENV) ## Tell what of the local clusters runs
	@$(ENV) status --dir $(ENV_DIR)

.PHONY: clean
clean: $(ENV) ## Stop all local clusters and remove bin/ and .local/
	@for dir in .local/*/; do [[ ! -e $$dir/env.lock ]] || $(ENV) down --dir "$$dir"; done
	rm -rf bin .local

# The command that runs local clusters. Go knows whether it has to be built.
.PHONY: $(ENV)
$(ENV):
	@go build -C test/env -o $(CURDIR)/$@ ./cmd/env
