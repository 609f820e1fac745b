"""Published Dask arrays that cannot be computed, and those with masked values."""

import numpy as np
import pytest

REQUEST = {"program": "return sum((x - w) ** 2) + sum(z * w)"}


def failing(error):
    def fail(block):
        raise error

    return fail


ERRORS = {
    "ZeroDivisionError": ZeroDivisionError("division by zero"),
    "KeyError": KeyError("no such name"),
    "OSError": OSError("disk"),
    "FileNotFoundError": FileNotFoundError("gone.npy"),
    "TimeoutError": TimeoutError("too slow"),
    "ConnectionError": ConnectionError("refused"),
    "MemoryError": MemoryError("too large"),
    "RuntimeError": RuntimeError("x" * 5000),
}


@pytest.fixture
def publish(dask):
    arrays = pytest.importorskip("dask.array")
    names = []

    def published(name, array, *, persisted):
        if persisted:
            array = dask.client.persist(array)
        dask.client.publish_dataset(array, name=name)
        names.append(name)

    good = arrays.from_array(np.arange(20.0), chunks=5)
    published("good", good, persisted=True)
    yield lambda name, made, persisted: published(name, made(good), persisted=persisted)
    for name in names:
        dask.client.unpublish_dataset(name)


def asked(solve, x, z="good"):
    variables = {"x": {"dask": x}, "z": {"dask": z}, "w": 0}
    return solve("minimize", {**REQUEST, "variables": variables})


@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.parametrize("kind", ERRORS)
def test_the_error_of_a_graph_is_named(solve, publish, kind, persisted):
    fail = failing(ERRORS[kind])
    publish("bad", lambda good: (good + 1).map_blocks(fail, dtype="f8") * 2, persisted)
    for names, path in ((("bad", "good"), "x"), (("good", "bad"), "z")):
        problem = asked(solve, *names)
        assert (problem.code, problem.status) == ("invalid_request", 422)
        assert problem.pointer == f"/variables/{path}/dask"
        assert f"dataset bad cannot be computed: {kind}: " in problem.detail
        assert str(ERRORS[kind])[:50] in problem.detail
        assert len(problem.detail) < 400
        assert "Traceback" not in problem.detail


def test_one_failing_block_of_many(solve, publish):
    publish("bad", lambda good: good.map_blocks(_fails_late, dtype="f8"), False)
    problem = asked(solve, "bad")
    assert "dataset bad cannot be computed: ZeroDivisionError: " in problem.detail


def _fails_late(block):
    return block / 1 if 12 not in block else 1 // 0


MASKS = {
    "of values": lambda block: np.ma.masked_greater(block, 7),
    "of one": lambda block: np.ma.masked_equal(block, 17),
    "of all": lambda block: np.ma.masked_less(block, 100),
}


@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("dtype", [None, "float32"])
def test_masked_values_are_refused(solve, publish, kind, persisted, dtype):
    publish("masked", lambda good: good.map_blocks(MASKS[kind], dtype="f8"), persisted)
    reference = {"dask": "masked"} | ({} if dtype is None else {"dtype": dtype})
    variables = {"x": reference, "z": {"dask": "good"}, "w": 0}
    problem = solve("minimize", {**REQUEST, "variables": variables})
    assert (problem.code, problem.pointer) == ("invalid_request", "/variables/x")
    assert "masked values" in problem.detail
    assert "filled" in problem.hint


def test_a_mask_that_hides_nothing_is_none(solve, publish):
    publish("unmasked", lambda good: good.map_blocks(np.ma.asarray, dtype="f8"), False)
    answer = asked(solve, "unmasked")
    expected = np.arange(20.0).mean() - np.arange(20.0).sum() / 40
    np.testing.assert_allclose(answer["solution"]["w"], expected, rtol=1e-6)
