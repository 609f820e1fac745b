import json

import numpy as np
import pytest

GRAPH = {
    "nodes": [{"id": "y", "op": "multiply", "args": ["x", "x"]}],
    "outputs": "y",
}


def test_programs_come_from_files_and_standard_input(answer, tmp_path):
    (tmp_path / "model.gw").write_text("y = x**2\ny + 1\n", "utf-8-sig")
    assert answer("eval", "-f", "model.gw", "x=3")["outputs"] == 10.0
    assert answer("eval", "x=3", "--file", "model.gw")["outputs"] == 10.0
    assert answer("eval", "-", "x=3", given=b"x + 1")["outputs"] == 4.0
    assert answer("eval", "-f", "-", "x=3", given=b"x + 1")["outputs"] == 4.0


def test_graphs_are_programs(answer, tmp_path, run):
    (tmp_path / "model.json").write_text(json.dumps(GRAPH))
    assert answer("grad", "-f", "model.json", "x=3")["gradients"] == {"x": 6.0}
    assert answer("eval", json.dumps(GRAPH), "x=3")["outputs"] == 9.0
    told = run("eval", '{"nodes": [}', exits=3).stderr
    assert "looks like a graph, and is not JSON" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-f", "none.gw"], "cannot read the program none.gw: No such file or directory"),
        (["-f", "."], "cannot read the program .: Is a directory"),
        (["-f", "x.npy"], "x.npy is no program: it is a NumPy array\n  hint: values are given"),
        (["-f", "bytes.gw"], "bytes.gw is no program, and no text in UTF-8 (byte 3)"),
        (["-f", "empty.gw"], "empty.gw is no program: it is empty"),
        (["-f", "zeros.gw"], "zeros.gw is no program: it has no text"),
    ],
)
def test_files_that_are_no_programs_are_told(run, tmp_path, words, said):
    np.save(tmp_path / "x.npy", np.ones(2))
    (tmp_path / "bytes.gw").write_bytes(b"x \xff")
    (tmp_path / "empty.gw").write_text("")
    (tmp_path / "zeros.gw").write_bytes(b"\0\0")
    assert said in run("eval", *words, exits=3).stderr


def test_one_program_is_needed(run):
    assert "a program is needed" in run("eval", exits=2).stderr
    assert "not several" in run("eval", "-f", "a.gw", "--stored", "b", exits=2).stderr
    told = run("eval", "-f", "-", "x=@-", exits=2, given=b"x").stderr
    assert "standard input can be read once" in told
