# Kudzu: run unmodified CUDA programs without NVIDIA's driver. See README.md.
.PHONY: run test test-all fresh bench bench-bundle apps gen check dist clean setup examples record

# Builds everything and runs six CUDA examples on the CPU.
run: dist
	@scripts/examples.sh run

# Everything a change must pass. Needs no GPU and no third-party program.
test: dist examples
	@test -z "$$(gofmt -l cmd internal examples *.go)" || { gofmt -l cmd internal examples *.go; exit 1; }
	go vet ./...
	go test -timeout 14m ./...

# make test, then with each tested libLLVM: the compiler's tests, and all recorded rows and case files for this machine, for
# AVX2 only and for arm64 under qemu-user. Takes an hour or two.
test-all: test
	@scripts/test-all.sh

# The two commands above on a bare Debian 12 and 13, as root and as an ordinary user. ROOT=12 WHO=user CMD=run choose.
fresh:
	@ROOT='$(ROOT)' WHO='$(WHO)' CMD='$(CMD)' scripts/fresh.sh

# Figures: ratios against native code and PoCL, measured in one run. ROW=name[,name] runs only these rows, quickly and without
# PoCL; scripts/bench.sh -asm NAME shows what Kudzu makes of one. See docs/bench/README.md.
bench: dist
	@scripts/bench.sh $(if $(OLD),-versus '$(OLD)') $(if $(ROW),-row '$(ROW)' $(if $(OLD),,-no-pocl))

# .build/bench-bundle.tgz: the suite for a machine with nothing but gcc; unpack it there and run bundle/run.sh FOLDER 1,16.
bench-bundle: dist
	@scripts/bench.sh -bundle

# Opt-in: programs of others, fetched into a folder outside (KUDZU_APPS), each against its own CPU path; writes docs/apps/README.md.
# PART="jax cupy" runs some parts (scripts/apps.sh names them), KUDZU_LLAMA=1 llama.cpp too. A run that was stopped continues.
apps: dist
	@scripts/apps.sh $(PART)

# Writes every generated file (z*, include/).
gen:
	go run ./cmd/gen
	go test ./internal/testkit/pages -update

# Formatting, vet, and "delete what is generated, generate, nothing changed".
check: setup
	@scripts/check.sh

# dist/bin/kudzu and dist/lib with NVIDIA's sonames.
dist: setup
	@scripts/dist.sh

examples: dist
	@scripts/examples.sh

# A test binary that records what a real GPU answers: carry .build/cases.test there, run it in internal/testkit with -record DIR.
record:
	go test -c -o .build/cases.test ./internal/testkit

setup:
	@scripts/setup.sh

clean:
	rm -rf dist .build
