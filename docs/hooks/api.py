"""Adds to the site one page per public module of src/hydrostat, whichever there are."""

import ast
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_PACKAGE = Path(__file__).parents[2] / "src" / "hydrostat"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages under one heading."""
    config.nav = [*(config.nav or []), {"API": [{f"hydrostat.{name}": f"api/{name}.md"} for name in _modules()]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Make the pages."""
    for name in _modules():
        files.append(File.generated(config, f"api/{name}.md", content=_page(name)))
    return files


def _modules() -> list[str]:
    """The public packages with an __init__ and the public single modules, by name."""
    packages = [path.parent.name for path in _PACKAGE.glob("*/__init__.py")]
    singles = [path.stem for path in _PACKAGE.glob("*.py")]
    return sorted(name for name in packages + singles if not name.startswith("_"))


def _page(name: str) -> str:
    """A module's own names, then those of its submodules that are public by name."""
    blocks = [f"# hydrostat.{name}", f"::: hydrostat.{name}"]
    exported = _exported(_PACKAGE / name / "__init__.py") or []
    for submodule in _public_submodules(_PACKAGE / name):
        # What the package shows already is not shown again.
        seen = "|".join(["_.*", *(other for other in exported if other != submodule)])
        full = f"hydrostat.{name}.{submodule}"
        options = f"    options:\n      heading_level: 3\n      filters: ['!^({seen})$']"
        blocks += [f"## {full}", f"::: {full}\n{options}"]
    return "\n\n".join(blocks) + "\n"


def _public_submodules(package: Path) -> list[str]:
    """The submodules that the package's `__all__` names; all public ones where it has no `__all__`."""
    if not package.is_dir():
        return []
    submodules = sorted(path.stem for path in package.glob("*.py") if not path.stem.startswith("_"))
    exported = _exported(package / "__init__.py")
    return submodules if exported is None else [name for name in submodules if name in exported]


def _exported(path: Path) -> list[str] | None:
    """The strings of `__all__`, where it is a plain list of them."""
    if not path.exists():
        return None
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return ast.literal_eval(node.value)
    return None
