"""Builds the guide, the pages of docs/ as a website without other hosts, into a folder.

python tools/guide.py service/gradwire_service/static/guide

The pages are plain Markdown that also reads well in the repository, so this adds what only a
website needs: the navigation, the clients' pages, and links that stay within the site.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import main as sphinx

ROOT = Path(__file__).parents[1]
#: Files from outside of docs/, by their place in the guide.
ADOPTED = {
    "reference/python.md": "clients/python/README.md",
    "reference/gradwire-tf.md": "clients/tensorflow/README.md",
    "changelog.md": "CHANGELOG.md",
    "decisions/index.md": "docs/decisions/README.md",
    "icon.svg": "service/gradwire_service/page/icon.svg",
}
#: Pages of the guide for what has none in docs/.
STANDING_FOR = {
    "README.md": "index.md",
    "clients/python": "reference/python.md",
    "clients/tensorflow": "reference/gradwire-tf.md",
    "docs/decisions": "decisions/index.md",
}
#: The navigation: folders and their pages, in the order in which a reader needs them.
SECTIONS = {
    "Tutorials": ("tutorial", "first-gradient numpy tensorflow http replicas"),
    "How-to guides": (
        "how-to",
        "scipy minimize greeks ode sparse-jacobians resident-data large-data nan throughput"
        " deployment troubleshooting backup jax tesseract um-bridge",
    ),
    "Reference": (
        "reference",
        "language operations protocol values computations resources errors optimization"
        " configuration python command gradwire-tf tensorflow adapters coverage stores telemetry"
        " versions glossary",
    ),
    "Explanation": (
        "explanation",
        "tape reverse-mode guards exact shards accuracy solvers performance scaling security"
        " architecture",
    ),
    "More": (".", "decisions/index changelog"),
}
#: Links to files; or code within a line, which has none.
_LINK = re.compile(
    r"`[^`\n]*`|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)"
)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def sources() -> dict[str, Path]:
    """Every file of the guide: its place there, and where it comes from."""
    docs = ROOT / "docs"
    found = {
        path.relative_to(docs).as_posix(): path
        for path in sorted(docs.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.name != "README.md"
    }
    return found | {place: ROOT / name for place, name in ADOPTED.items()}


def page(place: str, files: dict[str, Path]) -> str:
    """The text of a page with links to other pages of the guide; other links become text."""
    origin = files[place]
    places = {path: name for name, path in files.items()}
    places |= {ROOT / name: place for name, place in STANDING_FOR.items()}
    text = origin.read_text("utf-8")

    def led(link: re.Match[str]) -> str:
        if link[3] is None:
            return link[0]
        picture, words, path, anchor = link.groups("")
        target = (origin.parent / path).resolve()
        if target not in places:
            return words
        relative = os.path.relpath(places[target], Path(place).parent)
        return f"{picture}[{words}]({relative}{anchor})"

    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(led, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(led, text[end:])])


def stage(folder: Path) -> None:
    """Write what Sphinx reads into a folder."""
    files = sources()
    for place, origin in files.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".md":
            target.write_text(page(place, files), "utf-8")
        else:
            shutil.copyfile(origin, target)
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        for title, (section, pages) in SECTIONS.items():
            names = "\n".join(f"{section}/{page}".removeprefix("./") for page in pages.split())
            index.write(f"\n```{{toctree}}\n:caption: {title}\n:hidden:\n\n{names}\n```\n")
    decisions = folder / "decisions/index.md"
    listed = [decisions.read_text("utf-8"), "## All\n"]
    for decision in sorted((folder / "decisions").glob("0*.md")):
        text = decision.read_text("utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        listed.append(f"- [{title}]({decision.name})".replace(". ", "\\. ", 1))
        # Not in the navigation, which every page repeats.
        decision.write_text("---\norphan: true\n---\n" + text, "utf-8")
    decisions.write_text("\n".join(listed) + "\n", "utf-8")


def without_inline_scripts(site: Path) -> None:
    """Move the theme's one inline script to a file: the content security policy allows no other."""
    scripts: set[str] = set()
    for path in site.rglob("*.html"):
        html = path.read_text("utf-8")
        scripts.update(_INLINE.findall(html))
        file = os.path.relpath(site / "_static/inline.js", path.parent)
        path.write_text(_INLINE.sub(f'<script src="{file}"></script>', html), "utf-8")
    if len(scripts) != 1:
        raise SystemExit(f"the theme has {len(scripts)} inline scripts instead of one: {scripts}")
    (site / "_static/inline.js").write_text(scripts.pop().strip() + "\n", "utf-8")


def build(target: Path) -> None:
    """Build the guide in place of what is in the folder; warnings are errors."""
    with tempfile.TemporaryDirectory() as place:
        staged, site = Path(place, "docs"), Path(place, "site")
        stage(staged)
        options = ["-q", "-W", "--keep-going", "-b", "html", "-d", f"{place}/doctrees"]
        gc.disable()  # pages are trees of many objects, which stay: a quarter of the time
        if status := sphinx([*options, str(staged), str(site)]):
            raise SystemExit(status)
        without_inline_scripts(site)
        for name in ".buildinfo", "objects.inv":
            (site / name).unlink()
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(site, target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build(Path(sys.argv[1]))
