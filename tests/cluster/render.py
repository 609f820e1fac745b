"""Prints Helm's errors about a chart, and its manifests for the values on standard input."""

import json
import sys

import helm_python as helm

chart, namespace = sys.argv[1:]
values = json.load(sys.stdin)
report = helm.lint(chart, values, strict=True, namespace=namespace)
wrong = [message for message in report["messages"] if message["severity"] > 1]
manifests: dict[str, str] = {}
if not wrong:
    with helm.Chart.load(chart) as loaded:
        loaded.validate_schema(values)
        manifests = loaded.render(values, name="it", namespace=namespace)
json.dump({"wrong": wrong, "manifests": list(manifests.values())}, sys.stdout)
