"""Runs unittest with the arguments of `python -m unittest` and writes one JSON line for each test
to the file that is named first. What is named second is a JSON list of the test files to run of
those that the arguments find, or null for all. Runs on Python 3.8 and later."""

import importlib
import inspect
import json
import os
import re
import sys
import unittest

REPORT = sys.argv[1]
FILES = json.loads(sys.argv[2])
ROOT = os.getcwd()
# As `python -m` does; without it the folder of this file would stand first.
sys.path[0] = ROOT


def file_of(test):
    if type(test).__name__ == "_FailedTest":
        return file_of_module(test._testMethodName)
    hook = re.match(r"\w+ \((.+)\)$", getattr(test, "description", ""))
    if hook:
        names = (hook.group(1), hook.group(1).rpartition(".")[0])
        return next((sys.modules[name].__file__ for name in names if name in sys.modules), "")
    try:
        return inspect.getsourcefile(type(test)) or ""
    except TypeError:
        return ""


def file_of_module(name):
    """A module that could not be imported, by where it would have been imported from."""
    path = name.replace(".", os.sep)
    for folder in sys.path:
        for candidate in (path + ".py", os.path.join(path, "__init__.py")):
            found = os.path.join(folder, candidate)
            if folder.startswith(ROOT) and os.path.exists(found):
                return found
    return os.path.join(ROOT, path + ".py")


class JsonResult(unittest.TextTestResult):
    """Keeps one entry a test: a subtest that fails is a failure of its test."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.entries = {}
        self.kept = []

    def _set(self, test, status, message=""):
        key = id(test)
        entry = self.entries.setdefault(
            key, {"id": test.id(), "file": file_of(test), "status": status, "message": ""}
        )
        # Keeps the test alive, so that its id is not given away again.
        self.kept.append(test)
        if entry["status"] != "failed":
            entry["status"] = status
        if message:
            entry["message"] = (entry["message"] + "\n" + message).strip()[:8000]

    def addSuccess(self, test):
        super().addSuccess(test)
        self._set(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._set(test, "failed", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._set(test, "failed", self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            where = self.failures if issubclass(err[0], test.failureException) else self.errors
            self._set(test, "failed", "%s\n%s" % (subtest, where[-1][1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._set(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._set(test, "skipped")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._set(test, "failed", "unexpected success")


class Loader(unittest.TestLoader):
    """A module that is named and does not load fails like one that is found, and ends nothing."""

    def loadTestsFromName(self, name, module=None):
        if os.path.exists(os.path.join(ROOT, name.replace(".", os.sep) + ".py")):
            try:
                importlib.import_module(name)
            except Exception:
                return unittest.loader._make_failed_import_test(name, self.suiteClass)[0]
        return super().loadTestsFromName(name, module)


class Program(unittest.TestProgram):
    def runTests(self):
        if FILES is not None:
            self.test = only_of_files(self.test, FILES)
        super().runTests()


def only_of_files(found, files):
    """Those of the tests that are in the files; a file that the arguments do not find is loaded
    by its name."""
    tests = list(flat(found))
    suite = unittest.TestSuite()
    for file in files:
        path = os.path.realpath(os.path.join(ROOT, file))
        own = [test for test in tests if os.path.realpath(file_of(test)) == path]
        if not own:
            name = os.path.splitext(file)[0].replace("/", ".")
            own = list(flat(Loader().loadTestsFromName(name)))
        suite.addTests(own)
    return suite


def flat(suite):
    for each in suite:
        if isinstance(each, unittest.BaseTestSuite):
            yield from flat(each)
        else:
            yield each


def main():
    arguments = sys.argv[3:]
    program = Program(
        module=None,
        argv=["python -m unittest"] + arguments,
        testLoader=Loader(),
        testRunner=unittest.TextTestRunner(resultclass=JsonResult, verbosity=1),
        exit=False,
    )
    result = program.result
    with open(REPORT, "w", encoding="utf-8") as report:
        for entry in result.entries.values():
            report.write(json.dumps(entry) + "\n")
        report.write(json.dumps({"end": True}) + "\n")
    sys.exit(0 if result.wasSuccessful() else 1)


main()
