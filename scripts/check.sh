#!/bin/sh
# Gates beyond the tests: formatting, go.mod, vet, staticcheck and shellcheck without a finding, and that every generated file
# is what its generator writes today. Generated files are deleted first, so that a file nobody generates any more is noticed
# too. Pages below docs/apps come from applications (scripts/apps) and stay, and so does PTX (scripts/kernels.sh), which needs
# clang: cmd/gen compares the hash that it was made of with the source.
set -eu
cd "$(dirname "$0")/.."
bad=$(gofmt -l cmd internal examples ./*.go)
if [ -n "$bad" ]; then echo "gofmt would change:"; echo "$bad"; exit 1; fi
large=$(git ls-files -z | xargs -0 -r stat -c '%s %n' | awk '$1 > 4194304')
if [ -n "$large" ]; then echo "built, not written:"; echo "$large"; exit 1; fi
go mod tidy -diff
command -v shellcheck >/dev/null || { echo "shellcheck is missing (Debian: apt-get install shellcheck)"; exit 1; }
# shellcheck disable=SC2046 # no name has a blank
shellcheck -S warning .ci/run $(git ls-files '*.sh')
before=$(git status --porcelain)
if [ -n "$before" ]; then echo "the tree is not clean:"; echo "$before"; exit 1; fi
git ls-files | grep -E '(^|/)z[^/]*$|^include/' | grep -vE '^docs/apps/|\.ptx$' | xargs rm -f
go run ./cmd/gen
go test ./internal/testkit/pages -update
after=$(git status --porcelain)
if [ -n "$after" ]; then echo "regenerating changed:"; echo "$after"; exit 1; fi
go vet ./...
# One version for everybody: a new one may have new opinions.
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
echo "check: ok"
