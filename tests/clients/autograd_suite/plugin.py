"""A plugin for a run of autograd's tests: skips those that do not apply, with the reason."""

from __future__ import annotations

import pytest

AUTOGRADS_OWN = "of a function that is autograd's own"
VECTOR_SPACES = "of autograd's vector spaces, which the service has no counterpart of"
CONTAINERS = "autograd's where gives lists and Python's numbers; NumPy's gives arrays"
CONVOLVE = "of arguments of autograd's convolve that SciPy's lacks"
#: The reasons, by the name of a file, or of a file and a test.
NOT_APPLICABLE = {
    "test_vspaces.py": VECTOR_SPACES,
    "test_misc.py::test_const_graph": AUTOGRADS_OWN,
    "test_misc.py::test_const_graph_args": AUTOGRADS_OWN,
    "test_scipy.py::test_convolve_generalization": CONVOLVE,
    "test_scipy.py::test_convolve_ignore": CONVOLVE,
    "test_scipy.py::test_convolve_ignore_dot": CONVOLVE,
    "test_wrappers.py::test_custom_where": CONTAINERS,
    "test_wrappers.py::test_custom_where_dtypes[int-True-1-2]": CONTAINERS,
    "test_wrappers.py::test_custom_where_dtypes[float-True-3.0-4.0]": CONTAINERS,
    "test_wrappers.py::test_custom_where_dtypes[float-False-1-2.0]": CONTAINERS,
    "test_wrappers.py::test_custom_where_dtypes[list-True-x3-y3]": CONTAINERS,
    "test_wrappers.py::test_dtypes": "of extended precision, which the wire has not",
    "test_wrappers.py::test_wrapped_name_and_docs": "of the names of autograd's operators",
    "test_fft.py::test_rfftn_odd_not_implemented": "of what autograd lacks and Gradwire has",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that do not apply."""
    for item in items:
        name = f"{item.path.name}::{item.name}"
        reason = NOT_APPLICABLE.get(name) or NOT_APPLICABLE.get(item.path.name)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
