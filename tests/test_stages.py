"""The stages of all tests: nothing is left out, and nothing skipped that could end otherwise."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

from tools.inputs import Inputs
from tools.run_stages import ROOT, Runner
from tools.stages import Stage, stages

#: Runs a test, and prints each file that this opened.
WATCHED = """
import sys, pytest
opened = set()
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])
sys.addaudithook(hook)
status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
print(*sorted(opened), sep="\\n")
sys.exit(status)
"""


@pytest.fixture(scope="session")
def inputs():
    return Inputs(ROOT)


def test_each_test_module_belongs_to_one_stage(inputs):
    counts = Counter[str]()
    for stage in stages({}):
        if not stage.repeats:
            files = {file for path in stage.paths for file in inputs.under(path)}
            files -= {file for path in stage.but for file in inputs.under(path)}
            counts.update(file for file in files if Path(file).name.startswith("test_"))
    modules = {file for file in inputs.under("tests") if Path(file).name.startswith("test_")}
    modules = {file for file in modules if file.endswith(".py")} - inputs.under("tests/gpu")
    assert {file for file in modules if counts[file] != 1} == set()


@pytest.mark.thorough
def test_a_stage_whose_tests_run_others_programs_builds_them(inputs):
    for stage in stages({}):
        tests = {file for path in stage.paths for file in inputs.under(path)}
        tests -= {file for path in stage.but for file in inputs.under(path)}
        own = "tests/test_stages.py" in tests  # which names the module below
        if tests and not own and "tests/generators/tools.py" in inputs.of(tests):
            assert "generators" in stage.builds, stage.name


@pytest.mark.thorough
@pytest.mark.parametrize(
    "module",
    [
        "tests/service/wire/test_leaves.py",
        "tests/clients/tensorflow/test_values.py",
        "tests/deploy/test_nginx.py",
    ],
)
def test_all_files_of_the_checkout_that_a_test_opens_are_its_inputs(inputs, module):
    if module not in inputs.files:
        pytest.fail(f"{module} is gone: name another one of its folder")
    command = [sys.executable, "-c", WATCHED, "-n0", "--effort=quick", module]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    opened = {Path(line) for line in done.stdout.splitlines() if line.startswith("/")}
    read = {str(path.relative_to(ROOT)) for path in opened if path.is_relative_to(ROOT)}
    # Inputs of all stages, and the plugin whose imports are inputs of those who ask its fixtures.
    shared = {"pyproject.toml", "tests/serving.py"}
    missing = (read & inputs.files) - inputs.of([module]) - shared
    assert len(read & inputs.files) > 20
    assert missing == set()


@pytest.fixture
def checkout(tmp_path):
    """A small checkout: an engine of two modules and a text, and three folders of tests."""
    files = {
        "pyproject.toml": "[tool.pytest]\n",
        "tools/run_stages.py": "",
        "tests/conftest.py": """
            import sys
            sys.path[:0] = ["engine", "."]
            pytest_plugins = ["tests.serving"]
            """,
        "tests/serving.py": """
            import pytest
            from gradwire_engine import served
            @pytest.fixture
            def service_url(): return "http://127.0.0.1"
            """,
        "engine/gradwire_engine/served.py": "",
        "engine/gradwire_engine/__init__.py": "",
        "engine/gradwire_engine/used.py": "def f():\n    from gradwire_engine import late\n",
        "engine/gradwire_engine/late.py": "",
        "engine/gradwire_engine/text.gw": "",
        "engine/gradwire_engine/unused.py": "",
        "deploy/nginx/one.conf": "",
        "notes/page.txt": "",
        ".gitignore": "__pycache__/\n",
        "tests/good/test_good.py": """
            from pathlib import Path
            from gradwire_engine.used import f
            ROOT = Path(__file__).parents[2]
            def test_it():
                f()
                assert (ROOT / "deploy" / "nginx" / "one.conf").read_text() != "broken"
            """,
        "tests/asking/test_asking.py": "def test_it(service_url): assert service_url\n",
        "tests/skipped/test_skipped.py": """
            import pytest
            def test_runs(): pass
            @pytest.mark.skip
            def test_does_not(): pass
            """,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


class Runs:
    """Runs stages of a checkout anew, as later commands would."""

    def __init__(self, checkout, records):
        self.checkout, self.records, self.versions = checkout, records, "one==1"

    def __call__(self, folder, **fields):
        return self.runner().run(stage_of(folder, **fields))

    def files(self, folder):
        return self.runner().files(stage_of(folder))

    def runner(self):
        return Runner(self.checkout, self.records, lambda _: self.versions)


def stage_of(folder, **fields):
    """A stage of the checkout."""
    paths = (f"tests/{folder}",)
    fields = {"options": ()} | fields
    return Stage(folder, paths, builds=("-v",), venv=sys.prefix, **fields)


@pytest.fixture
def run(checkout, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of the time
    return Runs(checkout, tmp_path_factory.mktemp("records"))


def ran(outcome):
    return outcome.state in ("passed", "failed")


@pytest.mark.thorough
def test_a_stage_that_passed_is_skipped_until_an_input_or_a_version_changes(run, checkout):
    assert run("good").passed == 1
    (record,) = run.records.iterdir()
    assert json.loads(record.read_text()) == {"stage": "good", "passed": 1}
    for name in ("notes/page.txt", "engine/gradwire_engine/unused.py"):
        (checkout / name).write_text("# changed\n")
        assert run("good").state == "skipped: passed before with the same inputs"
    with (checkout / "engine/gradwire_engine/text.gw").open("a") as file:
        file.write("\n")
    assert ran(run("good"))
    assert not ran(run("good"))
    run.versions = "one==2"
    assert ran(run("good"))
    assert not ran(run("good"))
    run.records = None
    assert ran(run("good"))


def test_inputs_are_what_tests_import_ask_for_and_read(run):
    good, asking = map(run.files, ("good", "asking"))
    assert good == {
        *("pyproject.toml", "tools/run_stages.py", "tests/conftest.py", "tests/serving.py"),
        *("tests/good/test_good.py", "deploy/nginx/one.conf"),
        *(f"engine/gradwire_engine/{name}" for name in ("__init__.py", "used.py", "late.py")),
        "engine/gradwire_engine/text.gw",
    }
    assert "engine/gradwire_engine/served.py" in asking


@pytest.mark.thorough
def test_a_failure_shows_again_after_the_change_that_made_it(run, checkout):
    assert run("good").state == "passed"
    (checkout / "deploy/nginx/one.conf").write_text("broken")
    assert [run("good").failed for _ in range(2)] == [1, 1]
    (checkout / "deploy/nginx/one.conf").write_text("")
    assert not ran(run("good"))


@pytest.mark.thorough
def test_a_stage_that_skipped_a_test_leaves_no_record(run):
    assert run("skipped").skipped == 1
    assert list(run.records.iterdir()) == []


def test_a_stage_whose_program_is_missing_says_so(run):
    outcome = run("good", needs=("no-such-program",))
    assert outcome.state == "skipped: no-such-program is not installed"
    assert outcome.skipped


def thorough(folder):
    return stage_of(folder, options=("--effort=thorough",))


@pytest.fixture
def quick(run, checkout, tmp_path_factory):
    """Run ``make test`` on three stages, of which the last has no tests that it takes."""
    settings = 'pythonpath = ["engine", "."]\nnorecursedirs = ["skipped"]\n'
    (checkout / "pyproject.toml").write_text(f"[tool.pytest]\n{settings}")
    command = f"BARE=1 {sys.executable} -m pytest --effort=quick $(ARGS)"
    (checkout / "Makefile").write_text(f"test:\n\t@{command}\n")
    for name in ("conftest", "effort", "exploring", "missing", "processes"):
        shutil.copy(ROOT / f"tests/{name}.py", checkout / "tests")
    with (checkout / "tests/good/test_good.py").open("a") as file:
        file.write("import pytest\n@pytest.mark.thorough\ndef test_long(): pass\n")
    outcomes = tmp_path_factory.mktemp("quick") / "outcomes"

    def run_quick():
        runner = run.runner()
        return runner, runner.run_quick([*map(thorough, ("good", "asking", "skipped"))], outcomes)

    return run_quick


@pytest.mark.thorough
def test_make_test_takes_stages_without_a_record_and_these_what_it_left(run, quick):
    runner, outcome = quick()
    assert outcome.passed == 2
    assert runner.run(thorough("good")).passed == 1
    runner, outcome = quick()
    assert outcome.passed == 1
    assert runner.run(thorough("asking")).passed == 0
    assert quick()[1].state == "skipped: passed before with the same inputs"


@pytest.mark.thorough
def test_a_stage_with_a_failure_in_make_test_leaves_no_record(run, quick, checkout):
    test = checkout / "tests/asking/test_asking.py"
    test.write_text("import os\ndef test_it(): assert 'BARE' not in os.environ\n")
    runner, outcome = quick()
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert [runner.run(thorough(name)).state for name in ("asking", "good")] == ["passed"] * 2
    assert len([*run.records.iterdir()]) == 1
