"""``tf.summary`` writes what TensorFlow writes, and without TensorBoard says that it does not."""

import importlib.util
import json
import sys
from typing import Any

import gradwire.tf
import numpy as np
import pytest
from gradwire.tf.errors import OpError

from tests.clients.tensorflow import record_summaries

tf: Any = gradwire.tf
INSTALLED = importlib.util.find_spec("tensorboard") is not None


@pytest.mark.skipif(not INSTALLED, reason="tensorboard is not installed")
@pytest.mark.filterwarnings("ignore")
def test_files_hold_what_tensorflow_writes(tmp_path):
    answers = json.loads(record_summaries.ANSWERS.read_text())
    assert record_summaries.record(tf, str(tmp_path)) == answers["told"]
    assert record_summaries.events(str(tmp_path)) == answers["events"]


def test_without_tensorboard_a_writer_warns_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.warns(UserWarning, match="pip install tensorboard"):
        writer = tf.summary.create_file_writer(str(tmp_path / "logs"))
    with writer.as_default(step=1):
        assert bool(tf.summary.scalar("loss", 0.5))
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_a_summary_needs_a_step_and_an_open_writer():
    writer = tf.summary.create_noop_writer()
    with writer.as_default(), pytest.raises(ValueError, match="set_step"):
        tf.summary.scalar("loss", 0.5)
    writer.close()
    with pytest.raises(RuntimeError, match="already closed"), writer.as_default():
        pass


@pytest.mark.parametrize(
    ("function", "data"), [("scalar", [1.0]), ("image", [[1.0]]), ("text", 3.0)]
)
def test_data_of_another_kind_is_refused(function, data):
    with pytest.raises((ValueError, OpError), match="must"):
        getattr(tf.summary, function)("name", data, step=1)


@pytest.mark.parametrize("name", ["trace_on", "trace_export", "graph", "audio"])
def test_traces_are_not_implemented(name):
    with pytest.raises(NotImplementedError, match=f"tf.summary.{name}"):
        getattr(tf.summary, name)


@pytest.mark.filterwarnings("ignore")
def test_a_callback_writes_the_figures_of_epochs_and_batches(tmp_path, monkeypatch):
    written: list[tuple[str, int]] = []

    def noted(name: str, data: Any, step: int) -> None:
        assert np.isfinite(float(data))
        written.append((name, step))

    monkeypatch.setattr(tf.summary, "scalar", noted)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    board = tf.keras.callbacks.TensorBoard(tmp_path, histogram_freq=1, update_freq=2)
    x, y = np.ones((6, 1)), np.ones((6, 1))
    model.fit(x, y, 2, epochs=2, callbacks=[board], validation_data=(x, y), verbose=0)
    of_epochs = [("epoch_loss", 0), ("epoch_learning_rate", 0), ("epoch_loss", 0)]
    again = [(name, 1) for name, _ in of_epochs]
    batches = [("batch_loss", 0), ("batch_loss", 2)], [("batch_loss", 4)]
    assert written == [*batches[0], *of_epochs, *batches[1], *again]
