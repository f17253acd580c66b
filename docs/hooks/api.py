"""Adds to the site a reference of every public name: one page per public package or module of src/hydrostat.

A public name is one of an `__all__`, or of a module without one. A package's page has its own names, each from where it
is defined, and then the modules that it names.
"""

import ast
import functools
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

SOURCE = Path(__file__).parents[2] / "src"
TOP = "hydrostat"
# What hydrostat is made of, for those who change it, and not for those who use it.
_INSIDE = ("native", "compiling", "measuring", "least_squares", "benchmarking", "cli")


class Name(NamedTuple):
    """A public name of a package."""

    package: str
    name: str
    defined: str
    """The full name of what it is, where it is defined; of a module, the module."""
    module: bool
    """Whether it is a module itself."""


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """List the pages under the heading of the reference, or at the end where there is none."""
    pages = [{name: _file(name)} for name in modules()]
    nav = list(config.nav or [])
    found = [entry["Reference"] for entry in nav if isinstance(entry, dict) and "Reference" in entry]
    (found[0] if found else nav).append({"Every name": pages})
    config.nav = nav
    return config


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Make the pages."""
    from mkdocs.structure.files import File

    for name in modules():
        files.append(File.generated(config, _file(name), content=page(name)))
    return files


@functools.cache
def modules() -> list[str]:
    """The modules that have a page: hydrostat, its public packages and single modules, and packages they name."""
    package = SOURCE / TOP
    inner = [path.parent.name for path in package.glob("*/__init__.py")] + [path.stem for path in package.glob("*.py")]
    found = [f"{TOP}.{name}" for name in sorted(inner) if not name.startswith("_")]
    deeper = [n.defined for one in found for n in public_names(one) if n.module and _is_package(n.defined)]
    users = [name for name in found if name.split(".")[1] not in _INSIDE]
    return [TOP, *sorted({*users, *deeper}), *(name for name in found if name not in users)]


def page(module: str) -> str:
    """What a module says of itself, then its names."""
    lines = [f"# {module}", _directive(module, members="false")]
    names = public_names(module)
    if module == TOP:
        rows = ["| name | what it is |", "|---|---|"]
        return "\n\n".join([*lines, "\n".join([*rows, *(f"| {_link(name)} | {_summary(name)} |" for name in names)])])
    for name in names:
        if name.module and _is_package(name.defined):
            lines.append(
                f"## {name.name}\n\nA package of its own: [{name.defined}]({_file(name.defined, beside=True)})."
            )
        elif name.module:
            lines += [f"## {name.defined}", _directive(name.defined, heading_level="3")]
        elif home(name) != module:
            lines.append(f"## {name.name}\n\n{_summary(name)} See {_link(name)}.")
        else:
            lines += [f'<a id="{name.package}.{name.name}"></a>', _directive(name.defined, root=True)]
    return "\n\n".join(lines) + "\n"


def _file(module: str, beside: bool = False) -> str:
    """The page of a module in the site, or as one of the pages beside it sees it."""
    name = f"{module.removeprefix(TOP + '.')}.md"
    return name if beside else f"api/{name}"


@functools.cache
def public_names(module: str) -> list[Name]:
    """The names of a module's `__all__`; all public ones that it defines where it has none."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    exported = _exported(tree)
    if exported is None:
        exported = [name for name in _definitions(tree) if not name.startswith("_")]
    found = (Name(module, name, *_resolved(module, name)) for name in exported if not name.startswith("_"))
    return sorted(found, key=lambda one: (one.module, one.name.lower()) if module == TOP else one.module)


def _resolved(module: str, name: str) -> tuple[str, bool]:
    """Where a name of a module is defined, and whether it is a module."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    if name in _definitions(tree):
        return f"{module}.{name}", False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    # A function may have the name of the module that it is in.
                    if node.module.startswith(TOP) and _path(node.module).exists() and node.module != module:
                        inside = ast.parse(_path(node.module).read_text(encoding="utf-8"))
                        if alias.name in _definitions(inside) or alias.name in _imported(inside):
                            return _resolved(node.module, alias.name)
                    return f"{node.module}.{alias.name}", True
    return f"{module}.{name}", True


def _directive(path: str, root: bool = False, **options: str) -> str:
    """What tells mkdocstrings to write something down."""
    if root:
        options = {
            "show_root_heading": "true",
            "show_root_full_path": "false",
            "show_root_toc_entry": "true",
            **options,
        }
    lines = [f"      {key}: {value}" for key, value in options.items()]
    return "\n".join([f"::: {path}", *(["    options:"] if lines else []), *lines])


def home(name: Name) -> str:
    """The module on whose page a name is described: of those that have it, the one it is defined in, else the first."""
    having = [module for module in modules()[1:] if any(n.defined == name.defined for n in public_names(module))]
    return next((module for module in having if name.defined.startswith(f"{module}.")), having[0])


def _link(name: Name) -> str:
    """The name of hydrostat itself as a link to where it is described."""
    if name.module:
        return f"[`{name.name}`]({_file(name.defined, beside=True)})"
    place = home(name)
    return f"[`{name.name}`]({_file(place, beside=True)}#{place}.{name.name})"


def _summary(name: Name) -> str:
    """The first sentence of what is said about a name, or about its module."""
    module, _, last = name.defined.rpartition(".")
    node: ast.AST = ast.parse(_path(name.defined if name.module else module).read_text(encoding="utf-8"))
    if not name.module:
        node = _definitions(node)[last]
    words = ast.get_docstring(node) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) else ""
    first = " ".join((words or "").split("\n\n")[0].split())
    return first.replace("[", "&#91;").replace("]", "&#93;").replace("|", "\\|")


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """What a module defines at its top."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update({target.id: node for target in node.targets if isinstance(target, ast.Name)})
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def _imported(tree: ast.Module) -> set[str]:
    """The names that a module imports from others."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name for node in nodes for alias in node.names}


def _exported(tree: ast.Module) -> list[str] | None:
    """The strings of `__all__`, where there is one."""
    node = _definitions(tree).get("__all__")
    return ast.literal_eval(node.value) if isinstance(node, ast.Assign) else None


def _path(module: str) -> Path:
    """The file of a module."""
    place = SOURCE.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _is_package(module: str) -> bool:
    return SOURCE.joinpath(*module.split(".")).is_dir()
