import json

import httpx
import pytest


@pytest.mark.thorough
def test_an_operation_is_described(run):
    shown = run("ops", "tanh").stdout
    assert shown.startswith("tanh(x)\n\nHyperbolic tangent: ``z = tanh x``.")
    assert "trigonometric, differentiable" in shown
    assert "torch.tanh(input)" in shown


def test_operations_are_found_by_the_names_of_other_libraries(answer):
    assert answer("ops", "torch.special.logsumexp")["name"] == "logsumexp"
    assert answer("ops", "linalg.matmul")["name"] == "matmul"


def test_operations_are_listed_and_searched(run, answer):
    known = answer("ops")
    assert len(known) > 1000
    lines = run("ops", "--family", "cholesky").stdout.splitlines()
    assert len(lines) == 1 + sum(op["family"] == "cholesky" for op in known)
    found = {op["name"] for op in answer("ops", "--search", "hyperbolic tangent")}
    assert {"tanh", "arctanh"} <= found
    assert len(found) < 30
    assert "no operation has these words" in run("ops", "--search", "qqq", exits=9).stderr


def test_similar_names_are_suggested(run):
    assert "hint: did you mean tanh" in run("ops", "tanhh", exits=9).stderr
    assert "hint: gradwire ops --search zzzzzz" in run("ops", "zzzzzz", exits=9).stderr


def test_a_gpu_is_listed_with_the_limits(run, service_url, script):
    limits = httpx.get(f"{service_url}/v1/limits").json()
    gpu = {
        "name": "H100",
        "compute_capability": "9.0",
        "matmul_precision": "float32",
        "launch_seconds": 1.25e-5,
    }
    gpu |= dict.fromkeys(("bytes_per_second_in", "bytes_per_second_out"), 3000000000.0)
    gpu |= {"flops_per_second": 1e13, "crossover_elements": 30_000}
    gpu |= {"memory_bytes": 85_000_000_000, "room_bytes": 60_000_000_000}
    body = json.dumps({**limits, "gpu": gpu}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    shown = run("limits", "--url", script(head % len(body) + body).url).stdout.splitlines()
    rows = [line.split() for line in shown]
    assert ["body_bytes", "67,108,864"] in rows
    assert ["gpu", "H100"] in rows
    assert ["memory_bytes", "85,000,000,000"] in rows
    assert ["launch_seconds", "1.25e-05"] in rows


def test_limits_are_listed(run, answer):
    assert "67,108,864" in run("limits").stdout
    assert answer("limits")["body_bytes"] == 67108864
