"""Asks the service at an address for a gradient, and what it says of a mistake; prints both."""

import json
import sys

from generated import ApiClient, ApiException, ComputeApi, Configuration, GradientRequest, Problem


def request(program: str) -> GradientRequest:
    variables = {"x": [-1.2, 0.5], "y": {"value": 1.5, "dtype": "float32"}}
    return GradientRequest(program=program, variables=variables, sources={"at": ["x", "y"]})


with ApiClient(Configuration(host=sys.argv[1])) as client:
    compute = ComputeApi(client)
    answer = compute.gradient(request(sys.argv[2]))
    try:
        compute.gradient(request(sys.argv[3]))
    except ApiException as refusal:
        problem = refusal.data
        assert isinstance(problem, Problem)
        print(json.dumps({"gradients": answer.gradients, "code": problem.code}))
