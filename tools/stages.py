"""The stages of all tests: which folders, in which environment, with which programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_GPU = ("tests/engine/gpu/cupy", "tests/engine/gpu/nvptx")
#: Go through all sources.
_GATE = ("tests/test_stages.py", "tests/test_found.py", "tests/test_import_circles.py")
#: Needs Dask, as optimisations on clusters do.
_CHUNKED = ("tests/clients/test_chunked.py",)
#: Are of TensorFlow's names, too.
_TRAINING = ("tests/fleet/test_training.py", "tests/benchmarks/test_training.py")
_THOROUGH = ("--effort=thorough",)


@dataclass(frozen=True)
class Stage:
    """Tests that one process of pytest runs, or another command."""

    name: str
    #: Test files and folders. With what they import, they are the stage's inputs.
    paths: tuple[str, ...]
    #: Those below them that belong to other stages.
    but: tuple[str, ...] = ()
    options: tuple[str, ...] = _THOROUGH
    #: The command of a stage without pytest.
    command: tuple[str, ...] = ()
    #: Files that it reads: folders, and the ends of names.
    reads: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    #: The targets of make that build its environment, the folder of that, the other interpreter.
    builds: tuple[str, ...] = ("environment",)
    venv: str = ".venv"
    python: str = ""
    #: Programs that it needs. Without one, the stage is skipped.
    needs: tuple[str, ...] = ()
    #: Whether it waits for most of its time: for containers, replicas, a browser, downloads.
    waits: bool = False

    @property
    def repeats(self) -> bool:
        """Whether it runs tests of other stages in another way."""
        return self.options != _THOROUGH


def stages(pythons: Mapping[str, str]) -> list[Stage]:
    """All stages; ``pythons`` are other interpreters by version.

    Of those that compute, the longest come first: none is left for the end.
    """
    tensorflow, others = "tests/clients/tensorflow", ("generators", "environment")
    apart = ("tests/clients/adapters", "tests/clients/display", tensorflow)
    tracing = (
        "tests/clients/tracing",
        "tests/clients/command",
        "tests/clients/optimization",
        *_CHUNKED,
    )
    resources = "computations jobs programs routes tapes tensors wire"
    wire = tuple(f"tests/service/{folder}" for folder in resources.split())
    return [
        Stage(
            "containers",
            ("tests/containers",),
            needs=("podman", "buildah", "mmdebstrap"),
            waits=True,
        ),
        Stage("fleets", ("tests/fleet",), but=(_TRAINING[0],), waits=True),
        Stage(
            "page",
            ("tests/browser",),
            builds=("page-tools", *others),
            needs=("chromium", "node"),
            waits=True,
        ),
        Stage("recorder, command, optimisation", tracing),
        Stage("service", ("tests/service",), but=wire),
        Stage("adapters", ("tests/examples", *apart[:2])),
        Stage("TensorFlow's names", (tensorflow, *_TRAINING)),
        _engine(
            "derivatives and solvers",
            "autodiff batching compile diagnose dialects frontends prelude solvers",
        ),
        Stage("benchmarks", ("tests/benchmarks",), but=(_TRAINING[1],)),
        Stage(
            "types and style",
            (),
            command=("make", "--no-print-directory", "check"),
            endings=(".py", ".pyi", ".gw", ".toml", "Makefile"),
        ),
        Stage("generated clients", ("tests/generators",), builds=others),
        _engine("operations", "ops"),
        Stage("GPU on the CPU", _GPU),
        *_pythons(pythons),
        _engine("recording", "record"),
        _engine("kernels and passes", "kernels loops optimize dataflow sharding explain"),
        Stage("routes and wire", wire),
        Stage("engine: queries", ("tests/engine/recorded", *_modules("tests/engine"))),
        Stage("SDK", ("tests/clients",), but=(*apart, *tracing)),
        Stage(
            "documents",
            ("tests/docs", *(path for path in _modules("tests") if path not in _GATE)),
            endings=("",),
        ),
        Stage("guide", ("tests/guide",), reads=("docs",), needs=("chromium",)),
        _engine("machine code", "backends", but=_GPU),
        Stage("checks of the sources", _GATE, endings=(".py", "Makefile", ".ci/run")),
        Stage(
            "distributions",
            ("tests/deploy", "tests/cluster"),
            reads=("engine", "service", "clients"),
            builds=others,
        ),
        *_backends(),
        Stage("contract", ("tests/contract", "tests/semantics", "tests/releases")),
        Stage(
            "fuzzing", ("fuzz",), command=("make", "--no-print-directory", "fuzz", "FUZZ_SECONDS=1")
        ),
    ]


def _engine(name: str, folders: str, but: Sequence[str] = ()) -> Stage:
    paths = tuple(f"tests/engine/{folder}" for folder in folders.split())
    return Stage(f"engine: {name}", paths, but=tuple(but))


def _backends() -> list[Stage]:
    """The tests that reach code which only the other backends have."""
    return [
        Stage(
            f"{name} backend",
            ("tests/engine/recorded",),
            options=(f"--backend={name}", "--effort=quick"),
        )
        for name in ("reference", "native")
    ]


def _pythons(pythons: Mapping[str, str]) -> list[Stage]:
    """The SDK with the newest Python; that of all other stages is the oldest.

    What clusters and services do with what the SDK sent is not Python's.
    """
    if not pythons:
        return []
    newest = max(pythons, key=lambda version: int(version.split(".")[1]))
    python = pythons[newest]
    return [
        Stage(
            f"SDK with Python {newest}",
            ("tests/clients",),
            but=(
                "tests/clients/adapters",
                "tests/clients/tensorflow/test_remote.py",
                "tests/clients/tensorflow/test_training.py",
                *_CHUNKED,
            ),
            options=("--effort=quick",),
            builds=(f"PYTHON={python}", "sdk-environment"),
            venv=f".venv-{Path(python).name}",
            python=python,
        )
    ]


def _modules(folder: str) -> tuple[str, ...]:
    """The test modules directly in a folder."""
    return tuple(f"{folder}/{path.name}" for path in sorted((ROOT / folder).glob("test_*.py")))
