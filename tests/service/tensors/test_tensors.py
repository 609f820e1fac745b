"""Stored tensors over HTTP: digests, formats, owners and expiry."""

import base64
import hashlib
import io
import re

import numpy as np
import pytest
from gradwire_service import openapi
from gradwire_service.local_cache import FRESH_SECONDS
from gradwire_service.wire.arrays_in import DTYPES
from pydantic import TypeAdapter

NPY = "application/x-npy"
ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


def digest(array):
    """The ref of a tensor, as the protocol defines it."""
    line = f"{array.dtype.name} {','.join(str(length) for length in array.shape)}\n".encode()
    little = array.astype(array.dtype.newbyteorder("<"))
    return "sha256:" + hashlib.sha256(line + little.tobytes(order="C")).hexdigest()


def leaf(array):
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "base64": text}


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


async def put(client, array, status=201, **headers):
    response = await client.put("/v1/tensors", json=leaf(array), headers=headers)
    assert response.status_code == status, response.text
    return response.json()["ref"] if status < 300 else response.json()


async def get(client, ref, status=200, **headers):
    response = await client.get(f"/v1/tensors/{ref}", headers=headers)
    assert response.status_code == status, response.text
    return response


async def evaluated(client, ref, status=200, **headers):
    request = {"program": "sum(x)", "variables": {"x": {"ref": ref}}}
    response = await client.post("/v1/evaluate", json=request, headers=headers)
    assert response.status_code == status, response.text
    return response.json()["outputs"] if status == 200 else response.json()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 1, 3)])
async def test_the_ref_is_the_digest_of_the_stored_array(client, dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    response = await client.put("/v1/tensors", json=leaf(array))
    assert response.status_code == 201, response.text
    told = response.json()
    TypeAdapter(openapi.TensorDocument).validate_json(response.content)
    assert told["ref"] == digest(array)
    assert (told["dtype"], told["shape"]) == (dtype, list(shape))
    assert told["nbytes"] == array.nbytes
    assert response.headers["location"] == f"/v1/tensors/{told['ref']}"
    assert (await get(client, told["ref"])).json() == leaf(array)
    if dtype == "bfloat16":
        refused = (await get(client, told["ref"], 406, accept=NPY)).json()
        assert (refused["code"], refused["detail"]) == (
            "not_acceptable",
            ".npy files have no bfloat16",
        )
        return
    loaded = np.load(io.BytesIO((await get(client, told["ref"], accept=NPY)).content))
    assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
    assert loaded.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "stored", [ARRAY, np.asfortranarray(ARRAY), ARRAY.astype(">f4")], ids=["C", "F", "big-endian"]
)
async def test_npy_files_in_any_memory_order_are_the_same_tensor(new_client, stored):
    headers = {"content-type": NPY}
    for status in 201, 200:
        response = await new_client.put("/v1/tensors", content=npy(stored), headers=headers)
        assert (response.status_code, response.json()["ref"]) == (status, digest(ARRAY))
        assert response.headers["content-type"] == "application/json"
    assert ("location" in response.headers) is False
    await put(new_client, ARRAY, 200)


@pytest.mark.parametrize(
    ("document", "array"),
    [
        (2, np.array(2.0)),
        ([[1, 2], [3, 4]], np.array([[1.0, 2], [3, 4]])),
        ([True, False], np.array([True, False])),
        ({"value": [1, "NaN"], "dtype": "float32"}, np.array([1, np.nan], np.float32)),
        ({"re": [1], "im": [-1]}, np.array([1 - 1j])),
        ({"value": [1, 0.1], "dtype": "bfloat16"}, np.array([1, 0.1], DTYPES["bfloat16"])),
        (
            {"dtype": "bfloat16", "shape": [2], "base64": "gD8AwA=="},
            np.array([1, -2], DTYPES["bfloat16"]),
        ),
    ],
)
async def test_any_array_value_can_be_stored(client, document, array):
    response = await client.put("/v1/tensors", json=document)
    assert response.json()["ref"] == digest(array)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        (NPY, NPY),
        (f"{NPY}, */*;q=0.1", NPY),
        (f"{NPY};q=0.5, application/json", "application/json"),
        (f"{NPY};q=0, */*", "application/json"),
        ("application/msgpack", "application/msgpack"),
    ],
)
async def test_accept_determines_the_format(new_client, accept, form):
    ref = await put(new_client, ARRAY)
    for method in "GET", "HEAD":
        response = await new_client.request(
            method, f"/v1/tensors/{ref}", headers={"accept": accept}
        )
        assert (response.status_code, response.headers["content-type"]) == (200, form)
        assert response.headers["etag"] == f'W/"{ref}"'
        assert bool(response.content) == (method == "GET")


async def test_a_known_etag_gets_304(new_client):
    ref = await put(new_client, ARRAY)
    for known in f'"{ref}"', f'W/"{ref}"', f'"other", W/"{ref}"', "*":
        for method in "GET", "HEAD":
            headers = {"if-none-match": known}
            response = await new_client.request(method, f"/v1/tensors/{ref}", headers=headers)
            assert (response.status_code, response.content) == (304, b"")
            assert response.headers["etag"] == f'W/"{ref}"'
    await get(new_client, ref, **{"if-none-match": '"other"'})


async def test_the_digest_in_the_path_is_checked(new_client):
    path = f"/v1/tensors/{digest(ARRAY)}"
    assert (await new_client.put(path, json=leaf(ARRAY))).status_code == 201
    wrong = await new_client.put(path, json=leaf(ARRAY + 1))
    assert (wrong.status_code, wrong.json()["code"]) == (400, "malformed_tensor")
    assert digest(ARRAY + 1) in wrong.json()["detail"]
    await get(new_client, digest(ARRAY + 1), 404)


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        (b"", "application/json", "malformed_body"),
        (b'"a word"', "application/json", "malformed_tensor"),
        (b"null", "application/json", "malformed_tensor"),
        (b'{"a": [1, 2]}', "application/json", "malformed_tensor"),
        (b'{"ref": "sha256:%s"}' % (b"a" * 64), "application/json", "malformed_tensor"),
        (b"", NPY, "malformed_tensor"),
        (npy(np.zeros(3))[:-1], NPY, "malformed_tensor"),
        (npy(np.zeros(3)) + b"x", NPY, "malformed_tensor"),
        (npy(np.array(["a"])), NPY, "malformed_tensor"),
        (b"x", "text/plain", "unsupported_media_type"),
    ],
)
async def test_invalid_tensors_are_refused(client, content, kind, code):
    response = await client.put("/v1/tensors", content=content, headers={"content-type": kind})
    assert response.json()["code"] == code


async def test_pickles_are_never_loaded(client, tmp_path):
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self):
            return trap.touch, ()

    file = io.BytesIO()
    np.save(file, np.array([Trap()], object), allow_pickle=True)
    response = await client.put(
        "/v1/tensors", content=file.getvalue(), headers={"content-type": NPY}
    )
    assert response.json()["code"] == "malformed_tensor"
    assert not trap.exists()


@pytest.mark.thorough
async def test_deleted_tensors_are_unknown(kept, served):
    async with served(**kept) as client:
        ref = await put(client, ARRAY)
        assert await evaluated(client, ref) == 15
        assert (await client.delete(f"/v1/tensors/{ref}")).status_code == 204
        assert (await evaluated(client, ref, 404))["missing"] == [ref]
        assert (await client.delete(f"/v1/tensors/{ref}")).status_code == 404
        assert (await get(client, ref, 404)).json()["missing"] == [ref]
        assert (await client.head(f"/v1/tensors/{ref}")).status_code == 404
        await put(client, ARRAY, 201)


@pytest.mark.parametrize("ref", ["x", "sha256:", "sha256:" + "a" * 64, "%00", "ü"])
async def test_other_paths_are_unknown(client, ref):
    for method in "GET", "DELETE":
        response = await client.request(method, f"/v1/tensors/{ref}")
        assert (response.status_code, response.json()["code"]) == (404, "unknown_ref")


async def test_tensors_are_isolated_per_owner(kept, served):
    one, other = {"authorization": "Bearer one"}, {"authorization": "Bearer other"}
    async with served(**kept) as client:
        ref = await put(client, ARRAY, **one)
        for foreign in other, {}:
            await get(client, ref, 404, **foreign)
            await evaluated(client, ref, 404, **foreign)
            response = await client.delete(f"/v1/tensors/{ref}", headers=foreign)
            assert response.status_code == 404
        assert await evaluated(client, ref, **one) == 15
        await put(client, ARRAY, **other)
        await client.delete(f"/v1/tensors/{ref}", headers=other)
        assert await evaluated(client, ref, **one) == 15


async def test_unused_tensors_expire(kept, served, clock):
    async with served(**kept, tensor_ttl_seconds=10, clock=clock, now=clock) as client:
        used, idle = [await put(client, ARRAY + place) for place in range(2)]
        for _ in range(3):
            clock.advance(6)
            await evaluated(client, used)
        await evaluated(client, idle, 404)


async def test_the_oldest_tensors_are_evicted_for_new_ones(kept, served):
    async with served(**kept, max_tensors_per_tenant=2) as client:
        refs = [await put(client, ARRAY + i) for i in range(3)]
        await get(client, refs[0], 404)
        await get(client, refs[1])
        await get(client, refs[2])
    async with served(**kept, max_tensors_bytes_per_tenant=10) as client:
        assert (await put(client, ARRAY + 9, 413))["code"] == "over_budget"


async def test_a_deletion_in_another_process_is_seen_within_seconds(tmp_path, served, clock):
    shared = {"store": f"sqlite:{tmp_path / 'kept.db'}", "clock": clock}
    async with served(**shared) as one, served(**shared) as two:
        ref = await put(one, ARRAY)
        assert await evaluated(two, ref) == 15
        assert await evaluated(one, ref) == 15
        await one.delete(f"/v1/tensors/{ref}")
        await evaluated(one, ref, 404)
        clock.advance(FRESH_SECONDS)
        assert (await evaluated(two, ref, 404))["missing"] == [ref]


@pytest.mark.parametrize("local_cache_bytes", [0, 1 << 20])
@pytest.mark.parametrize("inline_body_bytes", [0, 1 << 16])
async def test_refs_are_accepted_wherever_values_are(
    kept, local_cache_bytes, inline_body_bytes, served
):
    settings = {"local_cache_bytes": local_cache_bytes, "inline_body_bytes": inline_body_bytes}
    async with served(**kept, **settings) as client:
        held: dict[str, np.ndarray] = {
            "x": np.array([1.0, 2.0]),
            "v": np.array([0.5, -1.0]),
            "i": np.array([[0], [2]]),
            "n": np.array([3]),
            "s": np.array([0, 1, 2]),
        }
        refs = {name: {"ref": await put(client, array)} for name, array in held.items()}
        for kind, request in {
            "gradient": {
                "program": "y = sum(x * x)",
                "variables": {"x": "x", "deep": [{"y": "v"}]},
                "output_gradients": 2.0,
            },
            "jacobian": {"program": "x * x", "variables": {"x": "x"}},
            "jvp": {"program": "x * x", "variables": {"x": "x"}, "tangents": {"x": "v"}},
            "hvp": {"program": "sum(x**3)", "variables": {"x": "x"}, "vectors": {"x": "v"}},
            "evaluate": {
                "program": "to_dense(a), sum(r, axis=1)",
                "variables": {
                    "a": {"indices": "i", "values": "x", "shape": "n"},
                    "r": {"values": "x", "row_splits": "s"},
                },
            },
            "check": {"program": "sum(sin(x))", "variables": {"x": "x"}},
        }.items():
            answers = [
                await client.post(f"/v1/{kind}", json=with_values(request, values))
                for values in (refs, refs, {name: leaf(array) for name, array in held.items()})
            ]
            assert [answer.status_code for answer in answers] == [200] * 3, answers[0].text
            assert answers[0].json() == answers[1].json() == answers[2].json()
        seeds = {
            "program": "y = x * x",
            "variables": {"x": refs["x"]},
            "target": ["y"],
            "output_gradients": [refs["v"]],
        }
        response = await client.post("/v1/gradient", json=seeds)
        assert response.json()["gradients"] == {"x": [1.0, -4.0]}


def with_values(request, values):
    """A request in which names in variables, tangents and vectors are replaced by values."""
    given = {"variables", "tangents", "vectors"}

    def filled(value):
        if isinstance(value, dict):
            return {name: filled(item) for name, item in value.items()}
        if isinstance(value, list):
            return [filled(item) for item in value]
        return values[value]

    return {name: filled(item) if name in given else item for name, item in request.items()}


async def test_a_ref_may_be_marked_not_trainable(new_client):
    ref = await put(new_client, np.array([1.0, 2.0]))
    x = {"ref": ref, "trainable": False}
    response = await new_client.post(
        "/v1/gradient", json={"program": "sum(x*w)", "variables": {"x": x, "w": 2.0}}
    )
    assert response.json()["gradients"] == {"x": None, "w": 3.0}
    assert response.json()["unconnected"]["x"]["reason"] == "not_trainable"


async def test_assignments_do_not_change_stored_tensors(new_client):
    ref = await put(new_client, np.array([1.0, 2.0]))
    request = {"program": "x.assign_add([1, 1])\nx[0] = 9\nx", "variables": {"x": {"ref": ref}}}
    for _ in range(3):
        response = await new_client.post("/v1/evaluate", json=request)
        assert response.json()["outputs"] == [9.0, 3.0]
    assert (await get(new_client, ref)).json() == leaf(np.array([1.0, 2.0]))


async def test_all_missing_refs_are_reported_together(client):
    refs = [f"sha256:{digit * 64}" for digit in "1234"]
    request = {
        "program": {"ref": refs[0]},
        "variables": {
            "x": {"ref": refs[1]},
            "a": {"indices": {"ref": refs[2]}, "values": [1], "shape": [3]},
        },
        "output_gradients": {"ref": refs[3]},
    }
    for _ in range(2):
        response = await client.post("/v1/gradient", json=request)
        problem = response.json()
        assert (response.status_code, problem["code"]) == (404, "unknown_ref")
        assert problem["missing"] == refs


async def test_a_tape_is_rebuilt_from_stored_programs_and_tensors(tmp_path, served):
    shared = {"store": f"sqlite:{tmp_path / 'kept.db'}"}
    async with served(**shared) as one, served(**shared) as two:
        ref = await put(one, np.array([1.0, 2.0]))
        program = (await one.post("/v1/programs", json={"program": "sum(x*x)", "name": "f"})).json()
        request = {
            "program": {"name": "f"},
            "variables": {"x": {"ref": ref}},
            "persistent": True,
        }
        tape = (await one.post("/v1/tapes", json=request)).json()["tape"]
        path = f"/v1/tapes/{tape}/gradient"
        await one.post("/v1/programs", json={"program": "sum(x)", "name": "f"})
        for client in one, two:
            answer = (await client.post(path, json={})).json()
            assert answer["gradients"] == {"x": [2.0, 4.0]}
            assert answer["program"] == program["id"]
        await one.delete(f"/v1/tensors/{ref}")
        await one.delete(f"/v1/programs/{program['id']}")
        assert (await one.post(path, json={})).status_code == 200, "its values are kept here"
        async with served(**shared) as three:
            response = await three.post(path, json={})
            problem = response.json()
            assert (response.status_code, problem["code"]) == (404, "unknown_ref")
            assert problem["missing"] == [program["id"], ref]


@pytest.mark.thorough
async def test_training_with_refs_is_compiled_once(new_client):
    batches = [np.arange(6.0).reshape(3, 2) + k for k in range(3)]
    refs, w = [await put(new_client, x) for x in batches], np.array([0.5, -0.25])
    for step in range(12):
        variables = {"x": {"ref": refs[step % 3]}, "w": {"ref": await put(new_client, w)}}
        request = {"program": "sum((exp(-x) @ w - 1)**2)", "variables": variables, "sources": "w"}
        answer = (await new_client.post("/v1/gradient", json=request)).json()
        made = np.exp(-batches[step % 3])
        np.testing.assert_allclose(answer["gradients"], 2 * made.T @ (made @ w - 1), rtol=1e-12)
        w = w - 0.01 * np.array(answer["gradients"])
    text = (await new_client.get("/metrics")).text
    (missed,) = re.findall(r'gradwire_executable_cache_total\{outcome="miss"\} (\S+)', text)
    assert float(missed) == 2, "the executable, and what is specialised for minibatches"
