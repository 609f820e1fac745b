"""Tests of what needs a GPU are skipped where there is none."""

from pathlib import Path

import pytest


def missing() -> str:
    """Why there is no GPU, or nothing if there is one."""
    try:
        import cupy

        return "" if cupy.cuda.runtime.getDeviceCount() else "there is no GPU"
    except Exception as error:  # noqa: BLE001 - whatever CuPy raises without CUDA or a driver
        return f"there is no GPU: {error}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip them, and say why."""
    here = Path(__file__).parent
    own = [item for item in items if item.path.is_relative_to(here)]
    if own and (reason := missing()):
        for item in own:
            item.add_marker(pytest.mark.skip(reason=reason))
