"""Two of the SDK's distributions are one package: from wheels, editable installs and checkouts."""

import os
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SDK, COMMAND, TENSORFLOW = (ROOT / "clients" / part for part in ("python", "command", "tensorflow"))
IMPORTS = """
import gradwire
import gradwire.tf as tf
import gradwire.tfe
from gradwire import grad, tf as same
from gradwire.tf import keras
from gradwire.tf.keras import layers
assert tf is same is gradwire.tf and layers is keras.layers and tf.GradientTape
print(gradwire.__file__, tf.__file__, gradwire.tfe.__file__, sep="\\n")
"""


class Environment:
    """An environment with what the SDK and its build need, but without the SDK."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=os.name != "nt")
        self.python = next(folder.glob(f"*/{Path(sys.executable).name}"))
        (site,) = folder.glob("**/site-packages")
        needed = [find_spec(name) for name in ("editables", "hatchling", "httpx", "pip")]
        folders = {Path(spec.origin).parents[1] for spec in needed if spec and spec.origin}
        # The folders' own .pth files, editable installs among them, are not followed from here.
        (site / "dependencies.pth").write_text("\n".join(map(str, folders)), encoding="utf-8")
        self.folder = folder

    def run(self, *arguments: str | Path, at: Path | None = None, paths: str = "") -> str:
        """The output of Python in a folder and with further paths."""
        done = subprocess.run(
            [self.python, *arguments],
            cwd=at or self.folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": paths},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def install(self, *arguments: str | Path) -> None:
        """Install distributions as they are."""
        options = (
            "--quiet --no-index --no-deps --no-build-isolation --ignore-installed --no-compile"
        )
        self.run("-m", "pip", "install", *options.split(), *arguments)

    def imported_from(self, paths: str = "") -> list[Path]:
        """The folders of ``gradwire``, ``gradwire.tf`` and ``gradwire.tfe``."""
        package, tf, tfe = map(Path, self.run("-c", IMPORTS, paths=paths).splitlines())
        return [package.parents[1], tf.parents[2], tfe.parents[2]]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that stays without the SDK."""
    return Environment(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the SDK and its command from their wheels."""
    environment = Environment(tmp_path_factory.mktemp("installed"))
    wheels = tmp_path_factory.mktemp("wheels")
    for folder in (SDK, COMMAND, TENSORFLOW):
        environment.run("-m", "hatchling", "build", "-t", "wheel", "-d", wheels, at=folder)
    environment.install(*wheels.glob("*.whl"))
    return environment


@pytest.mark.thorough
def test_wheels(installed: Environment):
    (site,) = set(installed.imported_from())
    assert installed.folder in site.parents
    # Its own stub, and not the empty one of the other distribution.
    assert len([*(site / "gradwire").glob("__init__.*")]) == 2
    assert "Client" in (site / "gradwire" / "__init__.pyi").read_text(encoding="utf-8")
    names = {file.name.partition("-")[0] for file in site.glob("gradwire*.dist-info")}
    assert names == {"gradwire", "gradwire_cli", "gradwire_tf"}


@pytest.mark.thorough
def test_the_command_is_installed(installed: Environment):
    (command,) = installed.folder.glob("*/gradwire*")
    told = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    assert told.startswith("Usage: gradwire [OPTIONS] COMMAND")


@pytest.mark.thorough
def test_editable_installs(tmp_path: Path):
    environment = Environment(tmp_path)
    environment.install("--editable", SDK, "--editable", TENSORFLOW)
    assert environment.imported_from() == [SDK, TENSORFLOW, TENSORFLOW]


@pytest.mark.thorough
def test_checkouts(bare: Environment):
    for paths in ([SDK, TENSORFLOW], [TENSORFLOW, SDK]):
        found = bare.imported_from(os.pathsep.join(map(str, paths)))
        assert found == [SDK, TENSORFLOW, TENSORFLOW]


#: All without the second distribution, and one of a module that is in none.
STATEMENTS = [
    "import gradwire.tf",
    "import gradwire.tfe",
    "from gradwire import tf",
    "from gradwire.tf.keras import layers",
    "import gradwire.tg",
]


def test_without_the_second_distribution_its_name_is_told(bare: Environment):
    code = "".join(
        f"try: {statement}\nexcept ModuleNotFoundError as error: print(*str(error).split())\n"
        for statement in STATEMENTS
    )
    code += "import gradwire\nprint(hasattr(gradwire, 'tf'))"
    told = bare.run("-c", code, paths=str(SDK)).splitlines()
    assert len(told) == len(STATEMENTS) + 1
    for line in told[:-2]:
        said = " is in a distribution of its own, gradwire-tf hint: pip install gradwire-tf"
        assert line.endswith(said)
    assert told[-2:] == ["No module named 'gradwire.tg'", "False"]
