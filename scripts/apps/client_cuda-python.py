"""cuda-python's own tests, of cuda.bindings and cuda.core, by pytest, as rows: one a test. clients.sh starts it again after a process
that crashed or grew old; a test that has a row is not run again.

The packages on PyPI have no tests, and there are no source archives of them: git fetches the releases that are installed, to
$KUDZU_APPS/cuda-python. A tree that is there already is used, for machines without a way to the repository."""

import importlib.metadata
import os
import subprocess
import sys

from pytest_rows import run
from rows import AGAIN, Client

TREES = os.path.join(os.environ["KUDZU_APPS"], "cuda-python")
# package: its folder in the repository, and the tag of a release
PARTS = {"cuda-bindings": ("cuda_bindings", "v{}"), "cuda-core": ("cuda_core", "cuda-core-v{}")}


def tree(package):
    """The folder with a package's sources, of the release that is installed."""
    folder, tag = PARTS[package]
    tag = tag.format(importlib.metadata.version(package))
    at = os.path.join(TREES, tag)
    if not os.path.exists(at):
        subprocess.run(["git", "clone", "-q", "--depth", "1", "--branch", tag, "https://github.com/NVIDIA/cuda-python", at], check=True)
    helpers = os.path.join(at, "cuda_python_test_helpers")
    if os.path.exists(helpers):
        sys.path.insert(0, helpers)
    return os.path.join(at, folder)


def main():
    """Runs the first part that is not done. Each has a process of its own: both have modules of the same names."""
    for package in PARTS:
        client = Client(f"{package}'s own tests", importlib.metadata.version(package), suite=True)
        if package not in client.done:
            break
    else:
        return
    os.chdir(os.path.join(tree(package), "tests"))
    old = run(client, package, sys.argv[1:])
    if sys.argv[1:] and not old:
        return
    if not old:
        client.write(case=package, status="module", launches=0)
    sys.stdout.flush()
    os._exit(AGAIN)


if __name__ == "__main__":  # tests that start processes import this file again
    main()
