"""The files of checkpoints, which are ours, and when variables are restored."""

import json
from pathlib import Path
from typing import Any

import gradwire.tf
import numpy as np
import pytest

tf: Any = gradwire.tf


def test_a_checkpoint_is_one_file_of_numpys(tmp_path):
    shared = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(deep=[[shared]], near=shared).save(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt-1")
    with np.load(f"{path}.npz") as values:
        assert sorted(values) == [".paths", "near", "save_counter"]
        assert values["near"].tolist() == [1.0, 2.0]
        assert json.loads(values[".paths"].tobytes()) == {"deep.0.0": "near"}
    assert tf.train.list_variables(tmp_path) == [("near", [2]), ("save_counter", [])]
    assert tf.train.load_variable(path, "near").tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.NotFoundError, match="far"):
        tf.train.load_variable(path, "far")


def test_a_variable_is_restored_by_any_of_its_paths(tmp_path):
    first = tf.Variable(3.0)
    path = tf.train.Checkpoint(optimizer=[first], model={"weight": first}).write(tmp_path / "c")
    other = tf.Variable(0.0)
    tf.train.Checkpoint(model={"weight": other}).restore(path)
    assert float(other) == 3.0


def test_a_manager_removes_files_but_those_of_whole_hours(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, 1, keep_checkpoint_every_n_hours=1
    )
    for _ in range(4):
        now[0] += 1801
        manager.save()
    found = sorted(path.name for path in tmp_path.glob("*.npz"))
    assert found == ["ckpt-2.npz", "ckpt-4.npz"]
    assert manager.checkpoints == [str(tmp_path / "ckpt-4")]


def test_tensorflows_own_files_are_refused(tmp_path):
    (tmp_path / "ckpt-1.index").touch()
    with pytest.raises(NotImplementedError, match="checkpoint of TensorFlow"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "ckpt-1")
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(NotImplementedError, match="SavedModel of TensorFlow"):
        tf.saved_model.load(tmp_path)


def test_callbacks_hear_of_the_path(tmp_path):
    heard: list[str] = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[heard.append])
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c", options)
    assert heard == [path]
    assert Path(f"{path}.npz").exists()


def test_another_dtype_is_refused(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c")
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype float64"):
        tf.train.Checkpoint(v=tf.Variable(1.0, dtype=tf.float64)).restore(path)


def test_bfloat16_is_restored(tmp_path):
    values = [0.1, -3.0]
    path = tf.train.Checkpoint(v=tf.Variable(values, dtype=tf.bfloat16)).write(tmp_path / "c")
    other = tf.Variable([0.0, 0.0], dtype=tf.bfloat16)
    tf.train.Checkpoint(v=other).restore(path)
    assert other.numpy().tolist() == tf.constant(values, tf.bfloat16).numpy().tolist()
    module = tf.Module()
    module.v = other
    tf.saved_model.save(module, tmp_path / "saved")
    assert tf.saved_model.load(tmp_path / "saved").v.numpy().tolist() == other.numpy().tolist()


def test_a_variable_made_later_that_does_not_fit_is_told_once(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c")
    checkpoint = tf.train.Checkpoint()
    checkpoint.read(path)
    checkpoint.v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="in the checkpoint has shape"):
        checkpoint.v.numpy()
    assert checkpoint.v.numpy().tolist() == [1.0, 2.0]
