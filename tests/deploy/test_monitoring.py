"""The dashboard and the alerts ask for figures that the service has, by labels that these have."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from gradwire_service.app import create_app
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.settings import Settings
from prometheus_client.parser import text_string_to_metric_families

#: Those that Prometheus adds to every series.
SCRAPED = {"instance", "job"}
#: A series in an expression, with what it is selected by.
SERIES = re.compile(r"\b((?:gradwire|process|up)(?:_\w+)?)\b(?:\{([^}]*)\})?")


@pytest.fixture
async def series(tmp_path: Path) -> dict[str, set[str]]:
    """The names of all series, each with its labels as far as samples show them."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    settings = Settings(store=f"sqlite:{tmp_path}/records.db", dask="tcp://127.0.0.1:1")
    app = create_app(settings)
    ConnectionLimiter(settings, app.state.recorder)  # whose figures are those of connections
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://service") as client,
    ):
        await client.post("/v1/evaluate", json={"program": "log(x)", "variables": {"x": 0}})
        await client.post("/v1/evaluate", json={"program": "x(", "variables": {}})
        made = await client.post("/v1/tapes", json={"program": "2 * x", "variables": {"x": 1}})
        await client.post(f"/v1/tapes/{made.json()['tape']}/gradient", json={})
        text = (await client.get("/metrics")).text
    found: dict[str, set[str]] = {"up": set(SCRAPED)}
    for family in text_string_to_metric_families(text):
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
        for suffix in suffixes.get(family.type, [""]):
            found[family.name + suffix] = set(SCRAPED)
        for sample in family.samples:
            found.setdefault(sample.name, set(SCRAPED)).update(sample.labels)
    return found


def rules(repository: Path) -> list[dict[str, Any]]:
    text = (repository / "deploy/prometheus/rules.yml").read_text()
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def dashboard(repository: Path) -> dict[str, Any]:
    return json.loads((repository / "deploy/grafana/dashboards/gradwire.json").read_text())


def expressions(repository: Path) -> Iterator[str]:
    for panel in dashboard(repository)["panels"]:
        yield from (target["expr"] for target in panel.get("targets", []))
    yield from (rule["expr"] for rule in rules(repository))


async def test_every_figure_that_is_asked_for_exists(repository: Path, series: dict[str, set[str]]):
    asked = list(expressions(repository))
    assert len(asked) > 20
    for expression in asked:
        names = SERIES.findall(expression)
        assert names, expression
        labels: set[str] = set()
        for name, selectors in names:
            assert name in series, expression
            labels |= series[name]
            assert set(re.findall(r"(\w+)=", selectors)) <= series[name], expression
        for grouped in re.findall(r"\bby \(([^)]*)\)", expression):
            assert set(re.split(r", *", grouped)) <= labels, expression


def test_legends_name_labels_that_remain(repository: Path):
    for panel in dashboard(repository)["panels"]:
        for target in panel.get("targets", []):
            legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            grouped = re.findall(r"\bby \(([^)]*)\)", target["expr"])
            kept = set(re.split(r", *", grouped[0])) if grouped else SCRAPED
            assert legend <= kept, panel["title"]


def test_panels_are_apart_and_have_names_of_their_own(repository: Path):
    panels = dashboard(repository)["panels"]
    for key in ("id", "title"):
        values = [panel[key] for panel in panels]
        assert len(set(values)) == len(values)
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(places)


def test_prometheus_asks_each_replica_and_grafana_asks_prometheus(repository: Path):
    compose = yaml.safe_load((repository / "docker-compose.yml").read_text())["services"]
    folder = repository / "deploy"
    scrapes = yaml.safe_load((folder / "prometheus/prometheus.yml").read_text())
    (job,) = scrapes["scrape_configs"]
    replicas = [name for name in compose if name.startswith("gradwire-")]
    with_gpus = [name for name in replicas if name.startswith("gradwire-gpu-")]
    others = [name for name in replicas if name not in with_gpus]
    assert job["static_configs"][0]["targets"] == [f"{name}:8000" for name in others]
    assert job["dns_sd_configs"] == [{"names": with_gpus, "type": "A", "port": 8000}]
    assert all((folder / "prometheus" / name).is_file() for name in scrapes["rule_files"])
    sources = folder / "grafana/provisioning/datasources/prometheus.yml"
    (source,) = yaml.safe_load(sources.read_text())["datasources"]
    uids = {
        target["datasource"]["uid"]
        for panel in dashboard(repository)["panels"]
        for target in panel.get("targets", [])
    }
    assert uids == {source["uid"]}
    assert source["url"] == "http://prometheus:9090"


def test_grafana_finds_the_dashboard_where_it_is_mounted(repository: Path):
    compose = yaml.safe_load((repository / "docker-compose.yml").read_text())["services"]
    mounts = dict(mount.split(":")[1::-1] for mount in compose["grafana"]["volumes"])
    provider = repository / "deploy/grafana/provisioning/dashboards/gradwire.yml"
    (read,) = yaml.safe_load(provider.read_text())["providers"]
    assert (repository / mounts[read["options"]["path"]] / "gradwire.json").is_file()
    home = Path(compose["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert (repository / mounts[str(home.parent)] / home.name).is_file()


def test_every_alert_has_its_section_of_the_page_it_links_to(repository: Path):
    page = (repository / "docs/how-to/troubleshooting.md").read_text()
    sections = re.findall(r"^### (Gradwire\w+)$", page, re.MULTILINE)
    assert sorted(sections) == sorted(rule["alert"] for rule in rules(repository))
    for rule in rules(repository):
        link = f"/guide/how-to/troubleshooting.html#{rule['alert'].lower()}"
        assert rule["annotations"]["runbook_url"] == "{{ $externalLabels.gradwire }}" + link


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Prometheus is not installed")
def test_each_alert_fires_alone_and_only_for_its_reason(repository: Path, tmp_path: Path):
    cases = yaml.safe_load((repository / "tests/deploy/alerts.yml").read_text())
    quiet = cases.pop("quiet")
    alerts = [rule["alert"] for rule in rules(repository)]
    assert {name.split()[0] for name in cases} == set(alerts)
    tests = []
    for name, changed in [("none", {}), *cases.items()]:
        firing = [{"labels": f'{{alertname="{name.split()[0]}"}}', "value": 1}]
        asked = 'count by (alertname) (ALERTS{alertstate="firing"})'
        samples = {series: text for series, text in {**quiet, **changed}.items() if text}
        tests.append(
            {
                "name": name,
                "interval": "1m",
                "input_series": [
                    {"series": labelled(series), "values": text} for series, text in samples.items()
                ],
                "promql_expr_test": [
                    {"expr": asked, "eval_time": "118m", "exp_samples": firing if changed else []}
                ],
            }
        )
    shutil.copy(repository / "deploy/prometheus/rules.yml", tmp_path)
    file = tmp_path / "tests.json"
    file.write_text(json.dumps({"rule_files": ["rules.yml"], "tests": tests}))
    done = subprocess.run(
        ["promtool", "test", "rules", file], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def labelled(series: str) -> str:
    name, _, labels = series.partition("{")
    return f'{name}{{job="gradwire",instance="a"' + (f",{labels}" if labels else "}")
