"""Checks the directions of imports by the contracts in pyproject.toml.

import-linter looks for a package in one folder, and ``gradwire`` is in two.
"""

from __future__ import annotations

from pathlib import Path

import gradwire
from importlinter.cli import lint_imports_command

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    assert gradwire.__spec__ is not None
    folders = [str(ROOT / "clients" / part / "gradwire") for part in ("python", "tensorflow")]
    gradwire.__spec__.submodule_search_locations = folders
    lint_imports_command()
