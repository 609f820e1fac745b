import re
from pathlib import Path
from typing import Any

README = Path(__file__).parents[3] / "clients" / "python" / "README.md"


def test_the_examples_of_the_readme_run(service_url, monkeypatch, capsys):
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 24
    shown: dict[str, Any] = {}
    try:
        for block in blocks:
            exec(compile(block, README.name, "exec"), shown)
    finally:
        shown["client"].close()
    assert "line 2: b = a * x @ w" in capsys.readouterr().out
