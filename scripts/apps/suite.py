"""A client's own tests, as rows: one a test, whose status is right, failed or skipped. scripts/apps/clients.sh starts it again after a
failure, which may have spoiled the process, and after some minutes; a test that has a row is not run again."""

import importlib
import os
import pkgutil
import signal
import sys
import time
import unittest
import warnings

from rows import AGAIN, Client, launches

TEST_SECONDS, PROCESS_SECONDS = 150, 500


class TooLong(BaseException):
    """Not an Exception: tests catch those."""


def too_long(*_):
    raise TooLong(f"more than {TEST_SECONDS} s")


def modules(package):
    """The names of all test modules below a package."""
    at = importlib.import_module(package)
    for m in pkgutil.walk_packages(at.__path__, package + ".", onerror=lambda _: None):
        if m.name.rpartition(".")[2].startswith("test_"):
            yield m.name


def flat(tests):
    for t in tests:
        if isinstance(t, unittest.TestSuite):
            yield from flat(t)
        else:
            yield t


class Result(unittest.TestResult):
    """The first thing that went wrong, and why a test was skipped."""

    def __init__(self):
        super().__init__()
        self.wrong, self.why = None, None

    def note(self, err):
        self.wrong = self.wrong or " ".join(f"{err[0].__name__}: {err[1]}".split())[:300]

    def addError(self, test, err):
        self.note(err)

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err:
            self.note(err)

    def addSkip(self, test, reason):
        self.why = reason

    def addUnexpectedSuccess(self, test):
        self.wrong = "it was to fail"


def one(client, name, test):
    """Runs a test and writes its row."""
    with open(client.running, "w") as f:
        f.write(name)
    result, before, begin = Result(), launches(), time.perf_counter()
    signal.alarm(TEST_SECONDS)
    try:
        unittest.TestSuite([test]).run(result)
    except TooLong as e:
        result.wrong = str(e)
    finally:
        signal.alarm(0)
    row = {"first_s": time.perf_counter() - begin, "launches": launches() - before, "status": "right"}
    if result.wrong:
        row.update(status="failed", note=result.wrong)
    elif result.why is not None:
        row.update(status="skipped", note=str(result.why)[:100])
    client.write(case=name, **row)
    return row["status"] != "failed"


def again():
    sys.stdout.flush()
    os._exit(AGAIN)


def suite(name, version, package, wanted=lambda test: True):
    """Runs the tests below a package; wanted tells by a test's name whether it counts. Arguments are modules: only these run."""
    os.environ.pop("PYTHONWARNINGS", None)  # tests look for warnings
    warnings.simplefilter("default")
    signal.signal(signal.SIGALRM, too_long)
    client = Client(name, version, suite=True)
    end = time.monotonic() + PROCESS_SECONDS
    for module in modules(package):
        if module in client.done or (sys.argv[1:] and module not in sys.argv[1:]):
            continue
        try:
            tests = list(flat(unittest.defaultTestLoader.loadTestsFromName(module)))
        except unittest.SkipTest:
            tests = []
        for test in tests:
            full = test.id()
            if not wanted(full) or full in client.done:
                continue
            if time.monotonic() > end or not one(client, full, test):
                again()
        client.write(case=module, status="module", launches=0)
