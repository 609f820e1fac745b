"""Asks the service at an address for a gradient, and what it says of a mistake; prints both."""

import json
import sys

from generated.api.compute import gradient
from generated.client import Client
from generated.models import (
    GradientRequest,
    GradientRequestVariablesType0,
    GradientResponse,
    Problem,
)


def ask(program: str) -> GradientResponse | Problem | None:
    variables = GradientRequestVariablesType0.from_dict(
        {"x": [-1.2, 0.5], "y": {"value": 1.5, "dtype": "float32"}}
    )
    request = GradientRequest(program=program, variables=variables, sources={"at": ["x", "y"]})
    return gradient.sync(client=Client(base_url=sys.argv[1]), body=request)


answer, refusal = ask(sys.argv[2]), ask(sys.argv[3])
assert isinstance(answer, GradientResponse)
assert isinstance(refusal, Problem)
print(json.dumps({"gradients": answer.gradients, "code": refusal.code}))
