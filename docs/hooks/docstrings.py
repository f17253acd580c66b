"""What mkdocstrings is told about hydrostat: constructors that nobody wrote, and brackets that are no links."""

import importlib
import inspect
import re

import griffe


class PlainBrackets(griffe.Extension):
    """Writes brackets outside code spans as entities: they hold units and array entries, and would be read as links."""

    def on_instance(self, *, obj: griffe.Object, **_) -> None:
        """Treat one module, class, function or attribute."""
        if obj.docstring:
            parts = re.split(r"(`[^`]*`)", obj.docstring.value)
            parts[::2] = [part.replace("[", "&#91;").replace("]", "&#93;") for part in parts[::2]]
            obj.docstring.value = "".join(parts)


class Constructors(griffe.Extension):
    """Gives the arguments of constructors that are made from the fields of a class: of modules and named tuples."""

    def on_package(self, *, pkg: griffe.Module, **_) -> None:
        """Treat all classes of the package."""
        self._visit(pkg, set())

    def _visit(self, parent: griffe.Module | griffe.Class, seen: set[str]) -> None:
        for member in list(parent.members.values()):
            # A package that another one names is known to that one by an alias.
            target = _target(member)
            if target is None or target.path in seen:
                continue
            seen.add(target.path)
            if isinstance(target, griffe.Class) and not isinstance(target.members.get("__init__"), griffe.Function):
                _construct(target)
            self._visit(target, seen)


def _target(member) -> griffe.Module | griffe.Class | None:
    """The module or class of hydrostat that a member is."""
    try:
        own = member.final_target if member.is_alias else member
    except griffe.GriffeError:
        return None
    inside = isinstance(own, griffe.Module | griffe.Class) and own.path.startswith("hydrostat")
    return own if inside else None


def _construct(cls: griffe.Class) -> None:
    """Add the constructor that Python has made."""
    own = importlib.import_module(cls.module.path)
    for name in cls.path.removeprefix(cls.module.path + ".").split("."):
        own = getattr(own, name, None)
    made = constructor(own)
    if made is None:
        return
    parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
    for one in made:
        field = cls.members.get(one.name)
        annotation = field.annotation if isinstance(field, griffe.Attribute) else None
        default = None if one.default is inspect.Parameter.empty else _shown(one.default)
        kind = griffe.ParameterKind[one.kind.name.lower()]
        parameters.append(griffe.Parameter(one.name, annotation=annotation, kind=kind, default=default))
    init = griffe.Function("__init__", parameters=griffe.Parameters(*parameters), parent=cls, lineno=0, endlineno=0)
    cls.set_member("__init__", init)


def constructor(cls) -> list[inspect.Parameter] | None:
    """The parameters of a class's constructor without self; None where it has none of its own."""
    function = getattr(cls, "__init__", object.__init__)
    if function is object.__init__:
        function = getattr(cls, "__new__", object.__new__)
    if function in (object.__init__, object.__new__):
        return None
    try:
        return list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return None


def _shown(value) -> str:
    """A default as a reader would write it."""
    text = repr(value)
    return text if len(text) <= 40 and "<" not in text else "..."
