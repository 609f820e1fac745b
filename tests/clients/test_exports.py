import importlib
import inspect
import pkgutil

import gradwire
from gradwire.resources.jobs import AsyncJobs, Jobs
from gradwire.resources.programs import AsyncPrograms, Programs
from gradwire.resources.tapes import AsyncTapes, Tapes
from gradwire.resources.tensors import AsyncTensors, Tensors

PUBLIC_MODULES = (
    *("chunked", "client", "errors", "locations", "optimization.results", "ragged", "results"),
    *("sparse", "stored", "tapes"),
)
#: Made of the stub, which type checkers read in its place.
EXPORTED = vars(gradwire)["__all__"]


def defined_in(module):
    """The classes defined in a module."""
    return {
        name: member
        for name, member in vars(module).items()
        if inspect.isclass(member)
        and member.__module__ == module.__name__
        and not name.startswith("_")
    }


def test_everything_that_is_exported_exists():
    assert EXPORTED
    assert all(hasattr(gradwire, name) for name in EXPORTED)


def test_every_public_class_is_exported():
    defined = {
        name
        for module in PUBLIC_MODULES
        for name in defined_in(importlib.import_module(f"gradwire.{module}"))
    }
    bases = {"Connection", "Recorded", "RemoteArray", "TapeMethods"}
    assert defined - set(EXPORTED) == {*bases, "TapeBeingMade"}


def test_every_module_and_public_class_has_a_docstring():
    for module in pkgutil.iter_modules(gradwire.__path__, "gradwire."):
        assert importlib.import_module(module.name).__doc__
    for name in EXPORTED:
        assert name == "__version__" or inspect.getdoc(getattr(gradwire, name)), name


def test_both_clients_have_the_same_methods_with_the_same_parameters():
    def methods(client):
        special = {"__enter__", "__exit__", "__aenter__", "__aexit__"}
        return {
            name.replace("__a", "__"): {
                parameter: declared
                for parameter, declared in inspect.signature(member).parameters.items()
                if parameter != "self"
            }
            for name, member in inspect.getmembers(client, callable)
            if not name.startswith("_") or name in special
        }

    blocking, awaiting = methods(gradwire.Client), methods(gradwire.AsyncClient)
    assert blocking == awaiting
    assert methods(Programs) == methods(AsyncPrograms)
    assert methods(Tensors) == methods(AsyncTensors)
    assert methods(Tapes) == methods(AsyncTapes)
    assert methods(Jobs) == methods(AsyncJobs)
    assert methods(gradwire.Job) == methods(gradwire.AsyncJob)
    some = {
        "evaluate",
        "gradient",
        "jvp",
        "ops",
        "limits",
        "value_and_grad",
        "tape",
        "with_options",
        "close",
    }
    assert some <= set(blocking)
    assert methods(gradwire.Tape) | {"__enter__": ..., "__exit__": ...} == methods(
        gradwire.AsyncTape
    ) | {"__enter__": ..., "__exit__": ...}
