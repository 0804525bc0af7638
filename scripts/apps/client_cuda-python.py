"""cuda-python's own tests, of cuda.bindings and cuda.core, by pytest, as rows: one a test. clients.sh starts it again after a process
that crashed or grew old; a test that has a row is not run again.

The packages on PyPI have no tests, and there are no source archives of them: git fetches the releases that are installed, to
$KUDZU_APPS/cuda-python. A tree that is there already is used, for machines without a way to the repository."""

import importlib.metadata
import os
import subprocess
import sys
import time

import pytest

from rows import AGAIN, Client, launches

TEST_SECONDS, PROCESS_SECONDS = 150, 500
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


class Rows:
    """A plugin of pytest: skips what has a row, writes a row for what ran, and ends the process when it is old."""

    def __init__(self, client, part):
        self.client, self.part, self.end = client, part, time.monotonic() + PROCESS_SECONDS
        self.old = False

    def name(self, nodeid):
        return f"{self.part}/{nodeid}"

    def pytest_collection_modifyitems(self, config, items):
        items[:] = [i for i in items if self.name(i.nodeid) not in self.client.done]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        with open(self.client.running, "w") as f:
            f.write(self.name(item.nodeid))
        self.row = {"status": "right"}
        before, begin = launches(), time.perf_counter()
        yield
        row = {"first_s": time.perf_counter() - begin, "launches": launches() - before, **self.row}
        self.client.write(case=self.name(item.nodeid), **row)
        if time.monotonic() > self.end:
            self.old, item.session.shouldstop = True, "another process goes on"

    def pytest_runtest_logreport(self, report):
        if report.failed and self.row["status"] != "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message if crash else str(report.longrepr)
            self.row = {"status": "failed", "note": " ".join(why.split())[:300]}
        elif report.skipped and self.row["status"] == "right":
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
            self.row = {"status": "skipped", "note": str(why)[:100]}


def main():
    """Runs the first part that is not done. Each has a process of its own: both have modules of the same names."""
    for package in PARTS:
        client = Client(f"{package}'s own tests", importlib.metadata.version(package), suite=True)
        if package not in client.done:
            break
    else:
        return
    rows = Rows(client, package)
    os.chdir(os.path.join(tree(package), "tests"))
    options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"--timeout={TEST_SECONDS}", "--timeout-method=thread"]
    pytest.main([*options, *sys.argv[1:]], plugins=[rows])
    if sys.argv[1:] and not rows.old:
        return
    if not rows.old:
        client.write(case=package, status="module", launches=0)
    sys.stdout.flush()
    os._exit(AGAIN)


if __name__ == "__main__":  # tests that start processes import this file again
    main()
