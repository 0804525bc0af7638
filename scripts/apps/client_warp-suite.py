"""Warp's own tests of devices other than the CPU."""

import warp

from suite import suite

if __name__ == "__main__":  # tests that start processes import this file again
    suite("Warp's own tests", warp.__version__, "warp.tests", lambda test: "cuda" in test.rpartition(".")[2])
