"""The reference names everything that is public, each with a docstring, and every constructor with its arguments."""

import ast
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

import hydrostat

HOOKS = Path(__file__).parents[2] / "docs" / "hooks"
SOURCE = Path(hydrostat.__file__).parent


def hook(name):
    """A hook of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_hook_{name}", HOOKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


api = hook("api")
PAGES = {module: api.page(module) for module in api.modules()}
NAMES = [name for module in api.modules() for name in api.public_names(module)]
OBJECTS = [name for name in NAMES if not name.module and name.package != "hydrostat"]


def test_every_package_with_public_names_has_a_page():
    packages = [path.parent for path in SOURCE.rglob("__init__.py") if "__all__" in path.read_text()]
    wanted = {".".join(("hydrostat", *path.relative_to(SOURCE).parts)) for path in packages}
    assert wanted <= set(PAGES)


@pytest.mark.parametrize("module", [module for module in PAGES if module != "hydrostat.native"])
def test_every_name_is_on_a_page(module):
    exported = getattr(importlib.import_module(module), "__all__", None)
    shown = {name.name for name in api.public_names(module)}
    if exported is not None:
        assert shown == {name for name in exported if not name.startswith("_")}
    text = "\n".join(PAGES.values())
    for name in api.public_names(module):
        described = f"::: {name.defined}\n" in text + "\n"
        assert described, f"{module}.{name.name} is described on no page"


def test_names_are_what_they_are_said_to_be():
    for name in OBJECTS:
        module, _, last = name.defined.rpartition(".")
        own = getattr(importlib.import_module(name.package), name.name)
        assert own is getattr(importlib.import_module(module), last), name


def docstring(name) -> str:
    """What is written about a name where it is defined."""
    module, _, last = name.defined.rpartition(".")
    body = ast.parse(Path(inspect.getfile(importlib.import_module(module))).read_text()).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == last:
            return ast.get_docstring(node) or ""
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == last for target in targets):
            known = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            return str(after.value.value) if known else ""
    return ""


def test_every_name_has_a_docstring():
    assert [f"{name.package}.{name.name}" for name in OBJECTS if not docstring(name).strip()] == []


def test_every_constructor_is_shown_with_its_arguments():
    griffe = pytest.importorskip("griffe")
    docstrings = hook("docstrings")
    extensions = griffe.load_extensions(docstrings.Constructors)
    package = griffe.load("hydrostat", search_paths=[str(SOURCE.parent)], extensions=extensions)
    for name in OBJECTS:
        module, _, last = name.defined.rpartition(".")
        own = getattr(importlib.import_module(module), last)
        if not inspect.isclass(own):
            continue
        wanted = [one.name for one in docstrings.constructor(own) or ()]
        members = package[name.defined.removeprefix("hydrostat.")].members
        init = members.get("__init__")
        shown = [] if init is None else [one.name for one in init.parameters][1:]
        assert shown == wanted, name
