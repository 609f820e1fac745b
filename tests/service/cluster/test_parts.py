"""What the service and the workers of a cluster send each other."""

from typing import Any

import pytest
from gradwire_service.cluster import batches, parts, stored
from gradwire_service.cluster.parquet_files import ParquetFiles, ParquetRows, RowRange
from gradwire_service.cluster.parquet_folders import Group
from gradwire_service.cluster.zarr_arrays import ZarrFile, ZarrRows
from gradwire_service.problems import RemoteError

#: All that is pickled of the cluster's own. If this changes, ``parts.VERSION`` has to.
SENT: dict[type[Any], str] = {
    parts.Work: "program variables sources target promotion limits owner chunked rows version",
    parts.Variable: "path dtype row_shape stored",
    parts.Point: "x v",
    parts.Contribution: "value vector notes",
    batches.Asked: "program query limits owner version",
    stored.FileRequest: "reference path pointer",
    RowRange: "groups skip rows",
    ParquetRows: "part columns dtype shape",
    ParquetFiles: "columns dtype shape groups stored",
    Group: "file number rows labels",
    ZarrRows: "address start stop dtype filled hidden",
    ZarrFile: "address dtype shape chunks stored filled hidden",
}


def test_tasks_have_the_format_of_their_version():
    assert {each: " ".join(each._fields) for each in SENT} == SENT
    assert parts.VERSION.endswith("tasks 2")


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0, tasks 1"])
def test_a_worker_refuses_tasks_of_another_version(version):
    """Those of a service that does not send the number of the format, too."""
    nothing: Any = None
    asked = batches.Asked(nothing, nothing, nothing, None, version)
    work = parts.Work._make([*[nothing] * 9, version])
    for task in (
        lambda: batches.answer_piece(asked, {}, None),
        lambda: parts.evaluate(work, nothing, "value", True, []),
    ):
        with pytest.raises(RemoteError) as refused:
            task()
        assert refused.value.problem.code == "cluster_unavailable"
        assert "the same version on all workers" in str(refused.value.problem.hint)
