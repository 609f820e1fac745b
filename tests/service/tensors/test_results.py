"""Results that stay with the service, over HTTP: references in answers, quotas, release, expiry."""

import base64

import numpy as np
import pytest

#: Two arrays of 8 kB and one that is not worth a reference.
PROGRAM = "a = x + 1\nb = 2 * x\ny = sum(a * b * w)"
X = np.arange(1000.0)


def numbers(array):
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "base64": base64.b64encode(array.tobytes()).decode(),
    }


async def ask(client, path="/v1/evaluate", status=200, headers=None, **document):
    document = {"program": PROGRAM, "variables": {"x": numbers(X), "w": 3.0}, **document}
    response = await client.post(path, json=document, headers=headers)
    assert response.status_code == status, response.text
    return response.json()


async def get(client, ref, status=200, headers=None):
    response = await client.get(f"/v1/tensors/{ref}", headers=headers)
    assert response.status_code == status, response.text
    leaf = response.json()
    return np.frombuffer(base64.b64decode(leaf["base64"]), leaf["dtype"]) if status == 200 else leaf


async def held(client):
    """The number of results of all tenants."""
    lines = (await client.get("/metrics")).text.splitlines()
    (line,) = [line for line in lines if line.startswith('gradwire_records{kind="results"}')]
    return float(line.split()[-1])


async def test_chosen_members_of_an_answer_stay(new_client):
    answer = await ask(
        new_client, outputs={"here": ["a", "w"], "there": ["b", "w"]}, keep=["outputs.there"]
    )
    here, there = answer["outputs"]["here"], answer["outputs"]["there"]
    assert here[0][:2] == [1.0, 2.0]
    assert there[0].keys() == {"ref", "dtype", "shape", "nbytes", "expires_at"}
    assert (there[0]["dtype"], there[0]["shape"], there[0]["nbytes"]) == ("float64", [1000], 8000)
    assert there[1] == 3.0  # small
    assert np.array_equal(await get(new_client, there[0]["ref"]), 2 * X)


@pytest.mark.parametrize(
    ("path", "asked", "member", "value"),
    [
        ("/v1/gradient", {"target": "y", "sources": ["x"]}, "gradients.0", 3 * (4 * X + 2)),
        ("/v1/gradient", {"target": "y", "sources": "x"}, "gradients", 3 * (4 * X + 2)),
        ("/v1/gradient", {"target": "a", "sources": "w"}, "value", X + 1),
        ("/v1/jvp", {"target": "a", "tangents": {"x": numbers(X)}}, "jvp", X),
        ("/v1/hvp", {"target": "y", "vectors": {"x": numbers(X)}}, "hvp.x", 12 * X),
        ("/v1/evaluate", {"program": "x.assign(x + 5)\n0"}, "updates.x", X + 5),
    ],
)
async def test_any_member_of_any_answer_may_stay(new_client, path, asked, member, value):
    answer = await ask(new_client, path, keep=[member], **asked)
    for part in member.split("."):
        answer = answer[int(part) if isinstance(answer, list) else part]
    assert np.allclose(await get(new_client, answer["ref"]), value)


async def test_later_requests_refer_to_results(new_client):
    answer = await ask(new_client, outputs=["a", "b"], keep=["outputs"])
    a, b = ({"ref": result["ref"]} for result in answer["outputs"])
    request = {"program": "d = b - a\nsum(d)", "variables": {"a": a, "b": b}}
    assert (await ask(new_client, **request))["outputs"] == np.sum(X - 1)
    frozen = {"variables": {"a": {**a, "trainable": False}, "b": b}, "program": "sum(a * b)"}
    answer = await ask(new_client, "/v1/gradient", **frozen)
    assert answer["gradients"]["a"] is None
    assert answer["gradients"]["b"][:2] == [1.0, 2.0]


async def test_results_compile_nothing_anew_and_are_compiled_for_like_values(new_client):
    program = {"program": "x - 0.5 * (x - w)", "outputs": ["x"], "keep": ["outputs"]}
    program["program"] = "y = x - 0.5 * (x - w)"
    program["outputs"] = ["y"]
    answer = await ask(new_client, **program)
    for _ in range(20):
        variables = {"x": {"ref": answer["outputs"][0]["ref"]}, "w": 3.0}
        answer = await ask(new_client, **{**program, "variables": variables})
    text = (await new_client.get("/metrics")).text
    assert 'gradwire_executable_cache_total{outcome="miss"} 1.0' in text
    close = await get(new_client, answer["outputs"][0]["ref"])
    assert np.allclose(close, 3 + (X - 3) * 0.5**21)


@pytest.mark.thorough
async def test_released_results_are_deleted_with_a_later_answer(new_client):
    answer = await ask(new_client, outputs=["a"], keep=["outputs"])
    for _ in range(30):
        ref = answer["outputs"][0]["ref"]
        variables = {"x": {"ref": ref}, "w": 3.0}
        answer = await ask(new_client, variables=variables, outputs=["a"], keep=["outputs"])
        assert await held(new_client) == 2
        await ask(new_client, variables={"x": 1.0, "w": 1.0}, release=[ref])
        assert await held(new_client) == 1
        missing = await ask(new_client, status=404, variables=variables)
        assert missing["missing"] == [ref]
    await ask(new_client, variables={"x": 1.0, "w": 1.0}, release=[ref])  # it is gone already


async def test_equal_results_are_released_one_by_one(new_client):
    answer = await ask(
        new_client,
        program="a = x + 1\nb = a",
        outputs=["a", "b", "a"],
        keep=["outputs", "outputs.0"],
    )
    refs = [result["ref"] for result in answer["outputs"]]
    assert len(set(refs)) == 3
    await ask(new_client, release=refs[:1])
    assert np.array_equal(await get(new_client, refs[1]), X + 1)
    assert np.array_equal(await get(new_client, refs[2]), X + 1)


@pytest.mark.thorough
async def test_a_failed_request_releases_nothing(new_client):
    answer = await ask(new_client, outputs=["a"], keep=["outputs"])
    ref = answer["outputs"][0]["ref"]
    await ask(new_client, status=422, variables={"x": numbers(X), "w": [1.0, 2.0]}, release=[ref])
    assert np.array_equal(await get(new_client, ref), X + 1)


async def test_without_room_the_values_themselves_come(served):
    async with served(max_tensors_bytes_per_tenant=17_000) as client:
        answer = await ask(client, outputs=["a", "b", "x"], keep=["outputs"])
        a, b, x = answer["outputs"]
        assert {"ref"} <= a.keys() & b.keys()
        assert x == X.tolist()
        assert np.array_equal(await get(client, a["ref"]), X + 1)  # not evicted
        other = await ask(client, outputs=["a"], keep=["outputs"], headers={"authorization": "You"})
        assert "ref" in other["outputs"][0]


async def test_results_are_their_owners_alone(new_client):
    answer = await ask(new_client, outputs=["a"], keep=["outputs"], headers={"authorization": "Me"})
    ref = answer["outputs"][0]["ref"]
    you = {"authorization": "You"}
    await get(new_client, ref, 404, headers=you)
    await ask(new_client, variables={"x": {"ref": ref}, "w": 1.0}, status=404, headers=you)
    await ask(new_client, release=[ref], headers=you)
    assert len(await get(new_client, ref, headers={"authorization": "Me"})) == 1000


async def test_results_expire(served):
    async with served(tensor_ttl_seconds=0.2) as client:
        answer = await ask(client, outputs=["a"], keep=["outputs"])
        while await held(client):
            pass
        await get(client, answer["outputs"][0]["ref"], 404)


async def test_results_are_in_every_store_and_deleted_by_their_ids(served, kept):
    async with served(**kept) as client:
        answer = await ask(client, outputs=["a", "b"], keep=["outputs"])
        a, b = (result["ref"] for result in answer["outputs"])
        assert np.array_equal(await get(client, b), 2 * X)
        assert (await client.delete(f"/v1/tensors/{a}")).status_code == 204
        await get(client, a, 404)
        await ask(client, release=[b])
        assert await held(client) == 0


async def test_sparse_gradients_come_as_they_are(new_client):
    table = {"program": "sum(t[i] * w)", "sources": "t", "sparse_gradients": True}
    indices = {"dtype": "int64", **numbers(np.arange(600))}
    variables = {"t": numbers(X), "i": indices, "w": 3.0}
    answer = await ask(new_client, "/v1/gradient", variables=variables, keep=["gradients"], **table)
    assert answer["gradients"]["values"] == [3.0] * 600


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"keep": ["gradients"]}, "/keep/0"),
        ({"keep": ["outputs", "outputs.1"], "outputs": ["a"]}, "/keep/1"),
        ({"keep": ["outputs.a"], "outputs": ["a"]}, "/keep/0"),
        ({"keep": "outputs"}, "/keep"),
        ({"keep": ["outputs"] * 33}, "/keep"),
        ({"release": ["sha256:" + "0" * 64]}, "/release"),
        ({"release": [1]}, "/release"),
    ],
)
async def test_members_that_there_are_not_and_refs_of_others_are_refused(client, document, pointer):
    refused = await ask(client, status=422, **document)
    assert (refused["code"], refused["pointer"]) == ("invalid_request", pointer)


async def test_answers_of_tapes_leave_nothing(client):
    made = await client.post("/v1/tapes", json={"program": "x * x", "variables": {"x": 1.0}})
    path = f"/v1/tapes/{made.json()['tape']}/gradient"
    refused = await client.post(path, json={"keep": ["gradients"]})
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/keep")


@pytest.mark.thorough
async def test_large_results_are_kept_where_they_were_written(served, kept):
    # Of several large ones and a small one, each has its own elements, also in another process.
    many = np.arange(600_000.0)
    async with served(processes=2, **kept) as client:
        variables = {"x": numbers(many), "w": 3.0}
        answer = await ask(
            client,
            variables=variables,
            outputs=["a", "b", "x", "s"],
            keep=["outputs"],
            program=f"{PROGRAM}\ns = x[:600]",
        )
        a, b, x, s = answer["outputs"]
        assert np.array_equal(await get(client, a["ref"]), many + 1)
        assert np.array_equal(await get(client, s["ref"]), many[:600])
        refs = {"a": {"ref": a["ref"]}, "b": {"ref": b["ref"]}, "x": {"ref": x["ref"]}}
        for number in range(6):  # by either process
            program = f"sum(b - a - x) + {number}"
            found = await ask(client, program=program, variables=refs)
            assert found["outputs"] == -600_000.0 + number
        await ask(client, release=[a["ref"], b["ref"], x["ref"], s["ref"]])
        await get(client, a["ref"], 404)
        assert await held(client) == 0
