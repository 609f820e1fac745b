"""Runs all stages of tests: those that wait at once, beside them one more than there are cores.

With ``--records FOLDER``, a stage that passes leaves a record there under the digest of all that it
depends on: its command, the files that its tests import, start and read, the versions of Python, of
packages and programs, and the kind of processor. A later run skips it, by name, while the digest is
the same. A stage that skipped a test leaves no record.

With ``--quick-first``, ``make test`` runs before, on the tests of those stages that have no record;
what passes there is left out of the stages. A stage with a test that fails there leaves no record.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as Xml

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.inputs import Inputs  # noqa: E402 (this is a program: its folder comes first)
from tools.stages import Stage, stages  # noqa: E402

#: Debian's packages whose programs tests start.
PROGRAMS = (
    "aardvark-dns bash buildah chromium curl iproute2 make mmdebstrap netavark nginx nginx-light "
    "nodejs podman prometheus r-base-core r-cran-httr2 r-cran-jsonlite redis-server runc"
).split()
#: Files that decide how any test runs.
SHARED = ("pyproject.toml", "tests/conftest.py", "tests/serving.py", "tools/run_stages.py")
#: For tests that legitimately take longer than the time after which a test counts as hung.
_PATIENT = ("-o", "faulthandler_timeout=1800")


class Outcome(NamedTuple):
    """What became of a stage."""

    name: str
    #: passed, failed, or why it did not run
    state: str
    seconds: float = 0.0
    #: Of all its processes that have been waited for.
    cpu_seconds: float = 0.0
    passed: int = 0
    skipped: int = 0
    failed: int = 0

    def __str__(self) -> str:
        counts = f"{self.passed:6d} passed {self.skipped:4d} skipped {self.failed:4d} failed"
        took = f"{self.seconds:7.1f} s {self.cpu_seconds:7.1f} s of CPU"
        return f"{self.name:34s}{counts} {took}  {self.state}"


class Runner:
    """Runs stages; knows what each depends on."""

    def __init__(
        self,
        root: Path,
        records: Path | None,
        packages: Callable[[Stage], str],
    ) -> None:
        self._root = root
        self._records = records
        self._packages = packages
        #: How the tests of ``make test`` ended, and the modules of those that failed.
        self._outcomes: Path | None = None
        self._failed: frozenset[str] = frozenset()
        self._inputs = Inputs(root)
        self._printing = threading.Lock()
        self._building = threading.Lock()
        self._built: dict[tuple[str, ...], bool] = {}
        self._contents = cache(lambda file: sha256((root / file).read_bytes()).hexdigest())

    def run(self, stage: Stage) -> Outcome:
        """Run a stage, unless it has passed with equal inputs or cannot run here."""
        for program in stage.needs:
            if shutil.which(program) is None:
                return Outcome(stage.name, f"skipped: {program} is not installed", skipped=1)
        if self._has_passed(stage):
            return Outcome(stage.name, "skipped: passed before with the same inputs")
        if not self._build(stage):
            return Outcome(stage.name, "failed: its environment cannot be built", failed=1)
        outcome, output = self._run(stage)
        with self._printing:
            print(f"\n===== {stage.name}\n{output}", flush=True)
        record = self._record(stage)
        whole = outcome.state == "passed" and not outcome.skipped
        if record is not None and whole and self._failed.isdisjoint(self._modules(stage)):
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(json.dumps({"stage": stage.name, "passed": outcome.passed}) + "\n")
        return outcome

    def run_quick(self, stages: Iterable[Stage], outcomes: Path) -> Outcome:
        """Run ``make test`` on the stages without a record; these then leave out what passes."""
        modules = self._quick_modules(
            stage for stage in stages if not stage.repeats and not self._has_passed(stage)
        )
        if not modules:
            return Outcome("make test", "skipped: passed before with the same inputs")
        outcomes.touch()

        def command(results: Path) -> list[str]:
            options = " ".join([f"--outcomes={outcomes}", *_junit(results), *sorted(modules)])
            return ["make", "--no-print-directory", "test", f"ARGS={options}"]

        outcome, output = self._started("make test", command)
        print(output, flush=True)
        self._outcomes = outcomes
        ended = [line.split(" ", 1) for line in outcomes.read_text("utf-8").splitlines()]
        failed = {name.partition("::")[0] for state, name in ended if state in ("failed", "error")}
        # Without a test, a failure may be of any stage.
        self._failed = frozenset((failed or modules) if outcome.failed else ())
        return outcome

    def _quick_modules(self, stages: Iterable[Stage]) -> set[str]:
        """The modules of tests of these stages that pytest finds by itself."""
        settings = tomllib.loads((self._root / "pyproject.toml").read_text("utf-8"))
        left_out = settings["tool"]["pytest"].get("norecursedirs", ())
        return {
            module
            for stage in stages
            for module in self._modules(stage)
            if not any(f"/{folder}/" in f"/{module}" for folder in left_out)
        }

    def _has_passed(self, stage: Stage) -> bool:
        record = self._record(stage)
        return record is not None and record.exists()

    def _modules(self, stage: Stage) -> set[str]:
        """The modules of a stage's tests."""
        return {file for file in self._own(stage) if re.search(r"(?:^|/)test_\w*\.py$", file)}

    def _own(self, stage: Stage) -> set[str]:
        left = {file for path in stage.but for file in self._inputs.under(path)}
        return {file for path in stage.paths for file in self._inputs.under(path)} - left

    def _run(self, stage: Stage) -> tuple[Outcome, str]:
        """Run the tests or the command of a stage; what it printed."""

        def command(results: Path) -> Sequence[str]:
            return stage.command or self._tests(stage, results)

        return self._started(stage.name, command)

    def _started(self, name: str, command: Callable[[Path], Sequence[str]]) -> tuple[Outcome, str]:
        """Run a command that writes a report in JUnit's form; what it printed."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results.xml"
            with subprocess.Popen(
                command(results),
                cwd=self._root,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ) as process:
                assert process.stdout is not None
                output = process.stdout.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - began
            counts = _counted(results)
        # None is left where all have passed before.
        ended_well = process.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
        failed = 0 if ended_well else counts["failures"] + counts["errors"] or 1
        passed = max(counts["tests"] - counts["skipped"] - failed, 0)
        state = "passed" if ended_well else "failed"
        took = seconds, usage.ru_utime + usage.ru_stime
        return Outcome(name, state, *took, passed, counts["skipped"], failed), output

    def _tests(self, stage: Stage, results: Path) -> list[str]:
        """The command of pytest."""
        command = [f"{stage.venv}/bin/pytest", "-p", "no:cacheprovider", *_PATIENT]
        command += _junit(results)
        command += [*stage.options, *stage.paths, *(f"--ignore={path}" for path in stage.but)]
        command += ["-o", "norecursedirs=.*", "--durations=10", "--durations-min=5"]
        if self._outcomes is not None and not stage.repeats:
            command.append(f"--without={self._outcomes}")
        return command

    def files(self, stage: Stage) -> frozenset[str]:
        """The files that a stage depends on."""
        read = {file for folder in stage.reads for file in self._inputs.under(folder)}
        read |= {file for file in self._inputs.files if file.endswith(stage.endings)}
        return self._inputs.of(self._own(stage)) | read | {*SHARED}

    def _record(self, stage: Stage) -> Path | None:
        if self._records is None:
            return None
        parts = [repr(stage), *_surroundings(), self._packages(stage)]
        parts += [f"{file} {self._contents(file)}" for file in sorted(self.files(stage))]
        digest = sha256("\n".join(parts).encode()).hexdigest()
        return self._records / f"{digest}.json"

    def _build(self, stage: Stage) -> bool:
        """Build the environment of a stage, unless that has been tried."""
        with self._building:
            if stage.builds not in self._built:
                command = ["make", "--no-print-directory", *stage.builds]
                built = subprocess.run(command, cwd=self._root, check=False)
                self._built[stage.builds] = built.returncode == 0
            return self._built[stage.builds]


def _junit(results: Path) -> list[str]:
    return [f"--junit-xml={results}", "-o", "junit_family=xunit1"]


def _counted(results: Path) -> Mapping[str, int]:
    """What a report in JUnit's form counts."""
    counts = {"tests": 0, "skipped": 0, "failures": 0, "errors": 0}
    if results.exists():
        for suite in Xml.parse(results).iter("testsuite"):
            counts = {name: counts[name] + int(suite.get(name, 0)) for name in counts}
    return counts


@cache
def _surroundings() -> tuple[str, ...]:
    """What tests find around them: the system, the kind of processor, programs and Python."""
    found = [platform.platform(), platform.machine(), sys.version]
    information = Path("/proc/cpuinfo")
    if information.exists():
        kind = re.compile(r"^(?:model name|flags|Features)\s*:.*$", re.MULTILINE)
        found += sorted(set(kind.findall(information.read_text())))
    if shutil.which("dpkg-query"):
        command = ["dpkg-query", "--show", *PROGRAMS]
        found.append(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return tuple(found)


def chosen_packages(stage: Stage) -> str:
    """The versions that an installation chooses now, also where nothing has been installed yet."""
    return _resolved(stage.python)


@cache
def _resolved(python: str) -> str:
    here = "-e .[dev]\n-e clients/python\n-e clients/command\n-e clients/tensorflow"
    elsewhere = "-e .[dask]\n-e clients/python[test]\n-e clients/command\n"
    elsewhere += "-e clients/tensorflow[hdf5,pictures,tensorboard]"
    command = [".venv/bin/uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += [f"--python={python or '.venv/bin/python'}", "-"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        input=elsewhere if python else here,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"No stage is skipped: versions cannot be resolved.\n{done.stderr}", flush=True)
        return str(time.time_ns())
    return done.stdout


def other_pythons() -> Iterator[tuple[str, str]]:
    """Other versions of Python, and for each the first interpreter that can create environments."""
    for version in ("3.12", "3.13", "3.14"):
        found = [shutil.which(f"python{version}")]
        installed = Path.home() / ".pyenv/versions"
        found += map(str, sorted(installed.glob(f"{version}.*/bin/python{version}")))
        for python in filter(None, found):
            command = [python, "-c", "import ensurepip, venv"]
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                yield version, python
                break


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stages; 0 if none has failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, help="the folder of records; without it, run all")
    parser.add_argument("--quick-first", action="store_true", help="run make test first")
    parser.add_argument("--only", action="append", default=[], help="run this stage alone")
    parser.add_argument("--at-once", type=int, default=(os.cpu_count() or 1) + 1)
    parser.add_argument("--list", action="store_true", help="name the stages, and stop")
    parser.add_argument("--of", metavar="FILE", help="name those that depend on a file, and stop")
    options = parser.parse_args(arguments)
    chosen = [
        one for one in stages(dict(other_pythons())) if one.name in options.only or not options.only
    ]
    runner = Runner(ROOT, options.records, chosen_packages)
    if options.list or options.of:
        for stage in chosen:
            if options.list or options.of in runner.files(stage):
                print(stage.name)
        return 0
    began = time.monotonic()
    outcomes = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(len(chosen)) as waiting,
        ThreadPoolExecutor(options.at_once) as computing,
    ):
        if options.quick_first:
            outcomes.append(runner.run_quick(chosen, Path(folder) / "outcomes"))
        running = [
            (waiting if stage.waits else computing).submit(runner.run, stage) for stage in chosen
        ]
        outcomes += [future.result() for future in as_completed(running)]
    print("\n===== stages", *outcomes, sep="\n")
    return _conclude(outcomes, time.monotonic() - began)


def _conclude(outcomes: Iterable[Outcome], seconds: float) -> int:
    """Print the sum as pytest prints its own, and give the exit status."""
    total: Mapping[str, int] = {
        name: sum(getattr(outcome, name) for outcome in outcomes)
        for name in ("failed", "passed", "skipped")
    }
    counts = ", ".join(f"{count} {name}" for name, count in total.items() if count)
    print(f"===== {counts or 'nothing ran'} in {seconds:.2f}s =====", flush=True)
    return int(total["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
