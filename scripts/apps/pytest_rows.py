"""Tests that pytest runs, as rows: one a test, whose status is right, failed or skipped. scripts/apps/clients.sh starts a
program again after a process that crashed or grew old; a test that has a row is not run again."""

import time

import pytest

from rows import launches

TEST_SECONDS, PROCESS_SECONDS = 150, 500


class Rows:
    """A plugin of pytest: skips what has a row, writes a row for what ran, and ends the process when it is old, or when wait, which
    waits for the device, says that a kernel failed: the test that launched it has failed, and others would."""

    def __init__(self, client, part, wait):
        self.client, self.part, self.wait, self.end = client, part, wait, time.monotonic() + PROCESS_SECONDS
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
        try:
            self.wait()
        except Exception as e:  # whatever the client raises
            self.row, self.end = {"status": "failed", "note": f"after it: {e}"[:300]}, 0
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


def run(client, part, args, wait=lambda: None):
    """Runs tests of the folder that this process is in. True: the process is old, and another one is to go on."""
    rows = Rows(client, part, wait)
    options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"--timeout={TEST_SECONDS}", "--timeout-method=thread"]
    pytest.main([*options, *args], plugins=[rows])
    return rows.old
