"""The proof on a cluster holds for little data, and the work of its scheduler is counted."""

import sys

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")
pytest.importorskip("zarr", reason="Dask is not installed")


def test_the_proof_holds(monkeypatch, tmp_path, capsys):
    from cluster import proof

    folder = tmp_path / "rows"
    options = ["--gigabytes", "0.01", "--folder", str(folder)]
    monkeypatch.setattr(sys, "argv", ["proof", *options])
    proof.main()
    shown = capsys.readouterr().out
    assert "gradient and NumPy's differ by" in shown
    assert "weights of a tenth and scikit-learn's differ by" in shown
    assert "weights of both runs differ by" in shown
    assert not folder.exists()


def test_the_schedulers_work_is_counted(monkeypatch, tmp_path, capsys):
    from cluster import overhead

    monkeypatch.setattr(overhead, "_WORKERS", (1,))
    options = ["--gigabytes", "0.01", "--rounds", "2", "--folder", str(tmp_path / "rows")]
    monkeypatch.setattr(sys, "argv", ["overhead", *options])
    overhead.main()
    *_, line = capsys.readouterr().out.splitlines()
    workers, shards, tasks, *_, per_task = line.split()
    assert int(workers) == 1
    assert int(tasks) >= int(shards) + 1
    assert float(per_task) > 0
