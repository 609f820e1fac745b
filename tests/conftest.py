"""Settings that every test shares."""

import gc
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import effort, exploring, missing
from tests.processes import settle

# As in the image, for libraries loaded later and for processes that tests start: a library's
# threads wait for each other in loops, on cores that other tests need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# Services that tests start have nothing in common, unless a test says so.
os.environ["GRADWIRE_STORE"] = "memory:"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options."""
    parser.addoption(
        "--effort",
        choices=effort.EFFORTS,
        default="whole",
        help="how many tests, cases and examples: see tests/effort.py",
    )
    parser.addoption(
        "--explore",
        metavar="SEED",
        type=int,
        help="draw other examples, from this seed, and save those that fail: see make explore",
    )
    parser.addoption(
        "--backend",
        default="numpy",
        help="what computes where tests of the engine name no backend: numpy, reference, native",
    )
    parser.addoption("--outcomes", metavar="FILE", help="write there how each test ended")
    parser.addoption("--without", metavar="FILE", help="leave out the tests that passed there")
    parser.addoption("--gpu", action="store_true", help="run the tests that need a GPU, too")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose effort, examples and backend, before Hypothesis and test modules ask for them."""
    seed = config.getoption("--explore")
    effort.effort = config.getoption("--effort")
    if seed is not None:
        effort.seed = config.option.hypothesis_seed = seed
    # How long one example takes says more about the machine's other tenants than about the code.
    settings.register_profile(
        "gradwire",
        max_examples=effort.EXAMPLES,
        deadline=None,
        derandomize=seed is None,
        database=None,
        print_blob=True,
    )
    settings.load_profile("gradwire")
    # By its name: what a service needs is no input of the tests that use none (tools/inputs.py).
    config.pluginmanager.import_plugin("tests.serving")
    if config.getoption("--backend") != "numpy":
        _compute_with(config.getoption("--backend"))
    config.addinivalue_line("markers", "rule(*numbers): tests these rules of semantics/rules.json")
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU and CuPy; runs with --gpu")
    config.addinivalue_line("markers", "generated: says something of code that backends generate")
    config.addinivalue_line(
        "markers", "thorough: costs much or proves much again: not in a quick run"
    )
    config.addinivalue_line(
        "markers", "asked(variable): runs only where the environment has this variable"
    )
    config.addinivalue_line("markers", "drawn: draws examples from the run's seed by itself")
    # JAX, where a test has imported it, warns of forks in all others.
    config.addinivalue_line("filterwarnings", r"ignore:os\.fork\(\) was called:RuntimeWarning")


def _compute_with(name: str) -> None:
    """Make a backend that of all engines: of ``native`` one that does not wait to compile."""
    from gradwire_engine.engine import BACKENDS, Engine
    from gradwire_engine.native import native_backend

    Engine.backend = native_backend() if name == "native" else BACKENDS[name]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart() -> None:
    """Forget what was inherited, before workers start: pytest's own options have been read."""
    settle()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of this run's effort, and those that were asked for."""
    _keep(config, items, [item for item in items if _is_asked(item)])
    if not config.getoption("--gpu"):
        _keep(config, items, [item for item in items if item.get_closest_marker("gpu") is None])
    if config.getoption("--explore") is not None:
        _keep(config, items, [item for item in items if exploring.draws(item)])
    if (file := config.getoption("--without")) is not None:
        done = {*Path(file).read_text(encoding="utf-8").splitlines()}
        _keep(config, items, [item for item in items if f"passed {item.nodeid}" not in done])
    if effort.effort == "quick":
        _keep(config, items, [item for item in items if not item.get_closest_marker("thorough")])


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Leave the cases of a quick run, before pytest makes an item of each."""
    if effort.effort == "quick":
        name = metafunc.definition.nodeid
        calls = {f"{name}[{call.id}]": call for call in metafunc._calls}
        left_out = {"thorough"} if metafunc.config.getoption("--gpu") else {"thorough", "gpu"}
        chosen = effort.quick_cases(
            case
            for case, call in calls.items()
            if left_out.isdisjoint(mark.name for mark in call.marks)
        )
        # Without any, pytest would take the function without parameters.
        metafunc._calls = [calls[case] for case in calls if case in chosen] or metafunc._calls[:1]


def _is_asked(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("asked")
    return marker is None or marker.args[0] in os.environ


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    names = {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in names])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the tests themselves from garbage collections: there are a million objects of them.

    Libraries that tests load later have as many: collections are rarer than Python's.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)
        gc.enable()


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is drawn."""
    seed = config.getoption("--explore")
    drawn = "the same in each run" if seed is None else f"--explore={seed}"
    return f"effort: {effort.effort}; random examples: {drawn}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    """Save what an exploration finds."""
    report = yield
    seed = item.config.getoption("--explore")
    if seed is not None and report.failed:
        report.sections.append(("saved as", exploring.save(item.nodeid, seed, report)))
    return report


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write how tests ended; end with a line for each thing that was missing."""
    if (file := terminalreporter.config.getoption("--outcomes")) is not None:
        lines = [
            f"{outcome} {report.nodeid}\n"
            for outcome in ("passed", "skipped", "failed", "error")
            for report in terminalreporter.stats.get(outcome, ())
        ]
        Path(file).write_text("".join(lines), encoding="utf-8")
    for line in missing.lines(terminalreporter.stats.get("skipped", ())):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the service runs on."""
    return "asyncio"
