# One image with both binaries: fleet-addon (manager and agent) and fleetctl.
#
# The build step never asks a network: modules come from the stage `modules`,
# which downloads them once and is cached until go.mod or go.sum changes. A
# machine without a network replaces that stage by its own module cache:
#
#   docker build --build-context modules="$(dirname "$(go env GOMODCACHE)")" .

FROM golang:1.26 AS modules
ENV GOMODCACHE=/mod
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download

FROM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
# What `fleetctl --version` says: docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)"
ARG COMMIT
ENV CGO_ENABLED=0 GOPROXY=off GOFLAGS=-mod=readonly GOTOOLCHAIN=local
WORKDIR /src
COPY . .
# Writes to a bind mount are thrown away; `rw` is for the lock files of the cache.
RUN --mount=type=bind,from=modules,source=mod,target=/go/pkg/mod,rw \
    --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags="-s -w -X open-cluster-management.io/fleet-addon/pkg/cli.commit=$COMMIT" -o /out/ ./cmd/...

FROM gcr.io/distroless/static:nonroot
COPY --from=build /out/ /
USER 65532:65532
ENTRYPOINT ["/fleet-addon"]
