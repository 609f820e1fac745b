import pickle
import subprocess
import sys

import cloudpickle
import gradwire
import numpy as np
import pytest

W = np.array([0.5, -2.0])


@pytest.fixture
def own_client(service_url):
    """A client with its own connections, which can be pickled."""
    with gradwire.Client(service_url) as client:
        yield client


def made_of(f, client):
    yield gradwire.function(f, client)
    yield gradwire.grad(f, client=client)
    yield gradwire.value_and_grad(gradwire.function(f, client))
    yield gradwire.jacobian(gradwire.grad(f), client=client)
    yield gradwire.hessian(f, client=client)
    yield gradwire.vmap(gradwire.function(f, client))


def test_functions_of_program_text_and_their_transforms_can_be_pickled(own_client):
    for f in made_of(gradwire.program("sum(w**3)", "w"), own_client):
        again = pickle.loads(pickle.dumps(f))
        assert again.own_client is not own_client
        with again.own_client:
            np.testing.assert_equal(again(W), f(W))


def test_local_functions_can_be_pickled_by_cloudpickle(own_client):
    power = 3
    for f in made_of(lambda w: np.sum(w**power), own_client):
        again = cloudpickle.loads(cloudpickle.dumps(f))
        with again.own_client:
            np.testing.assert_equal(again(W), f(W))


MODULE = """
import gradwire
import numpy as np

@gradwire.function
def cube(w):
    return np.sum(w**3)

slope = gradwire.grad(cube)
"""
ELSEWHERE = """
import pickle, sys
import numpy as np
loaded, at = pickle.loads(bytes.fromhex(sys.argv[1]))
import cubes
assert loaded is cubes.cube
assert at.__wrapped__ is cubes.cube
print(at(np.array([1.0, 2.0])).tolist())
"""


@pytest.mark.thorough
def test_module_level_functions_are_pickled_by_name(tmp_path, monkeypatch, service_url):
    (tmp_path / "cubes.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    paths = [str(tmp_path), *sys.path]
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, paths)))
    cubes = __import__("cubes")
    sent = pickle.dumps((cubes.cube, gradwire.grad(cubes.cube)))
    run = [sys.executable, "-c", ELSEWHERE, sent.hex()]
    told = subprocess.run(run, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[3.0, 12.0]"


@pytest.mark.thorough
def test_of_many_recordings_the_latest_are_kept(client):
    f = gradwire.function(lambda x: x * int(x), client)
    for x in range(80):
        assert f(x + 0.5) == (x + 0.5) * x
    assert len(f.recordings) == 64
