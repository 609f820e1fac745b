"""Prints Helm's errors about a chart, and its manifests, for each values on standard input."""

import json
import sys
from typing import Any

import helm_python as helm

chart, namespace = sys.argv[1:]


def rendered(values: dict[str, Any]) -> dict[str, Any]:
    """What Helm makes of some values."""
    report = helm.lint(chart, values, strict=True, namespace=namespace)
    wrong = [message for message in report["messages"] if message["severity"] > 1]
    manifests: dict[str, str] = {}
    if not wrong:
        with helm.Chart.load(chart) as loaded:
            loaded.validate_schema(values)
            manifests = loaded.render(values, name="it", namespace=namespace)
    return {"wrong": wrong, "manifests": list(manifests.values())}


json.dump([rendered(values) for values in json.load(sys.stdin)], sys.stdout)
