"""Builds a release into dist/: all distributions, and a list of the image's components.

python tools/release.py https://host/owner/gradwire

The sources do not contain the repository's address, since that depends on where it is published.
The build uses the checked-out commit and makes the README's links point to that address, since a
package's page has no files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: The folder of each distribution.
DISTRIBUTIONS = (".", "clients/python", "clients/command", "clients/tensorflow")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]*)(#[^)\s]*)?\)")


def project(folder: str = ".", root: Path = ROOT) -> dict[str, Any]:
    """The metadata of a distribution."""
    text = (root / folder / "pyproject.toml").read_text("utf-8")
    said: dict[str, Any] = tomllib.loads(text)["project"]
    return said


def absolute(readme: str, folder: str, repository: str, tag: str) -> str:
    """A folder's README with links to the files of a tag, and direct links to pictures."""

    def led(link: re.Match[str]) -> str:
        picture, text, path, anchor = link.groups("")
        place = (ROOT / folder / path).resolve().relative_to(ROOT).as_posix()
        kind = "raw" if picture else "tree" if (ROOT / place).is_dir() else "blob"
        return f"{picture}[{text}]({repository}/{kind}/{tag}/{place}{anchor})"

    return _LINK.sub(led, readme)


def with_urls(pyproject: str, repository: str) -> str:
    """A pyproject.toml with the project's address."""
    urls = {
        "Repository": repository,
        "Documentation": f"{repository}/tree/HEAD/docs",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = "".join(f'{name} = "{address}"\n' for name, address in urls.items())
    return f"{pyproject.rstrip()}\n\n[project.urls]\n{lines}"


def published(source: Path, repository: str) -> None:
    """Insert the address into a copy of the sources."""
    for folder in DISTRIBUTIONS:
        tag = f"v{project(folder, source)['version']}"
        readme, pyproject = (source / folder / name for name in ("README.md", "pyproject.toml"))
        text = absolute(readme.read_text("utf-8"), folder, repository, tag)
        readme.write_text(text, "utf-8")
        pyproject.write_text(with_urls(pyproject.read_text("utf-8"), repository), "utf-8")


def main(repository: str) -> None:
    """Build, check, and print the remaining steps."""
    version = project()["version"]
    if _output("git", "status", "--porcelain"):
        sys.exit("There are changes that are not committed.")
    if f"\n## [{version}]" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        sys.exit(f"CHANGELOG.md has no heading [{version}]: what is released is not unreleased.")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as place:
        archive, source = Path(place, "source.tar"), Path(place, "source")
        _output("git", "archive", "--output", str(archive), "HEAD")
        shutil.unpack_archive(archive, source, filter="data")
        guide = source / "service/gradwire_service/static/guide"
        subprocess.run([sys.executable, source / "tools/guide.py", guide], check=True)  # noqa: S603
        published(source, repository)
        for folder in DISTRIBUTIONS:
            _run("build", "--outdir", str(dist), str(source / folder))
        sbom = dist / f"gradwire-server-{version}.image.cdx.json"
        _run(
            *("cyclonedx_py", "requirements", str(ROOT / "deploy/image/requirements.txt")),
            *("--pyproject", str(source / "pyproject.toml")),
            *("--output-reproducible", "--output-file", str(sbom)),
        )
    _run("twine", "check", "--strict", *map(str, sorted(dist.glob("gradwire*[lz]"))))
    sys.stdout.write(
        f"\nIn dist/ is what v{version} is. To publish it:\n\n"
        f"  git tag --sign v{version} --message 'Gradwire {version}'\n"
        f"  git push origin v{version}\n"
        f"  {sys.executable} -m twine upload dist/*.whl dist/*.tar.gz\n\n"
        f"and attach {sbom.relative_to(ROOT)} to the release, and to the image.\n"
    )


def _run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)  # noqa: S603


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].startswith("https://"):
        sys.exit((__doc__ or "").strip())
    main(sys.argv[1].rstrip("/"))
