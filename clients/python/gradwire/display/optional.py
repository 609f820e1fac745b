"""Optional libraries for showing answers."""

from __future__ import annotations

import importlib
from types import ModuleType

from gradwire.errors import NotInstalled


def imported(module: str, wanted_by: str) -> ModuleType:
    """A module of the extra ``gradwire[notebook]``; ``ImportError`` says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name != library:  # it is there, but not whole
            raise
        raise NotInstalled(
            f"{wanted_by} needs {library}: pip install 'gradwire[notebook]'", name=library
        ) from None
