"""Programs, tensors and tapes that the service stores."""

import numpy as np
import pytest


@pytest.fixture
def loss(run):
    run("programs", "register", "mean((w * x - 3)**2)", "--name", "command.loss")
    yield "command.loss"
    run("programs", "delete", "command.loss")


def test_programs_are_stored_and_used(run, answer, loss):
    assert run("programs", "get", loss).stdout == "mean((w * x - 3)**2)\n"
    found = answer("programs", "get", loss)
    assert found["variables"] == ["w", "x"]
    assert found["id"] in [one["id"] for one in answer("programs", "list")]
    (line,) = [line for line in run("programs", "list").stdout.splitlines() if loss in line]
    assert found["id"][:15] in line
    at = ["w=2", "x=[1,2]"]
    assert answer("grad", "--stored", loss, *at, "--sources", "w")["gradients"] == 1.0
    assert "line 1: mean((w * x - 3)**2)" in run("eval", "--stored", loss, "w=2", exits=3).stderr


def test_graphs_of_programs_are_printed(run, answer, loss):
    shown = run("programs", "graph", loss, "w=2", "x=[1,2]", "--sources", "w").stdout
    (line,) = [line for line in shown.splitlines() if line.split()[:1] == ["multiply"]]
    assert line.split() == ["multiply", "w,", "x", "float64[2]", "1"]
    assert "source" in shown
    assert run("programs", "graph", loss, "--svg").stdout.startswith("<svg")
    assert run("programs", "graph", loss, "--dot").stdout.startswith("digraph")
    assert "w" in [node["label"] for node in answer("programs", "graph", loss)["nodes"]]


def test_tensors_are_stored_and_used(run, answer, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    ref = run("tensors", "put", "@x.npy").stdout.strip()
    assert answer("tensors", "put", "@x.npy")["ref"] == ref
    assert answer("eval", "sum(x)", f'x={{"ref": "{ref}"}}')["outputs"] == 15.0
    assert answer("tensors", "get", ref) == [[0, 1, 2], [3, 4, 5]]
    assert "float32[2,3]" in run("tensors", "get", ref).stdout
    run("tensors", "get", ref, "-o", "y.npy")
    copied = np.load(tmp_path / "y.npy")
    assert copied.dtype == np.float32
    assert np.array_equal(copied, np.load(tmp_path / "x.npy"))
    told = run("tensors", "get", ref, "-o", "none/y.npy", exits=2).stderr
    assert told == "error: cannot write none/y.npy: No such file or directory\n"
    run("tensors", "delete", ref)
    run("tensors", "get", ref, exits=9)


def test_tensors_of_bfloat16_are_written_as_float32(run, answer, tmp_path):
    ref = run("tensors", "put", '{"value": [0.1, 2], "dtype": "bfloat16"}').stdout.strip()
    assert answer("tensors", "get", ref) == [0.1, 2]
    assert "bfloat16[2]" in run("tensors", "get", ref).stdout
    run("tensors", "get", ref, "-o", "y.npy")
    copied = np.load(tmp_path / "y.npy")
    assert (copied.dtype, copied.tolist()) == (np.float32, [0.10009765625, 2])


def test_what_is_no_array_is_not_stored(run):
    assert "expected an array to store" in run("tensors", "put", '"text"', exits=4).stderr
    assert "the tensor cannot be sent" in run("tensors", "put", '{"a": 1}', exits=4).stderr


def test_tapes_are_made_and_differentiated(run, answer):
    made = ["tapes", "create", "h = x**2; sum(h)", "x=[1,2]", "--watch", "h"]
    tape = run(*made, "--persistent").stdout.strip()
    assert answer("tapes", "gradient", tape, "--sources", "x,h")["gradients"] == [[2, 4], [1, 1]]
    assert answer("tapes", "gradient", tape, "--target", "h")["gradients"]["x"] == [2, 4]
    assert "power" in run("tapes", "get", tape).stdout
    assert answer("tapes", "get", tape)["instructions"][0]["op"] == "input"
    run("tapes", "delete", tape)
    run("tapes", "get", tape, exits=9)
    for begins in ("-", "--", "-h", "-f"):  # ids may begin so
        run("tapes", "get", f"{begins}no-option", exits=9)
    once = answer(*made)
    assert once["outputs"] == 5.0
    run("tapes", "gradient", once["tape"])
    run("tapes", "gradient", once["tape"], exits=9)
