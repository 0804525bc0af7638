#!/bin/sh
# Random collectives of four processes, of which one is killed at a random time in three rounds of four: no wrong result, no rank that waits
# for ever, and the ranks that are left go on without it.
#   scripts/nccl-stress.sh [SECONDS]    default: one hour
# A failure names its seed: NCCL_TEST_SEED=… scripts/nccl-stress.sh 1 begins with it.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-3600}
NCCL_TEST_SECONDS=$seconds go test -count=1 -v -timeout "$((seconds + 300))s" -run '^TestStress$' ./internal/shim/nccl
