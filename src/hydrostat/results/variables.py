"""Variables of a recording: quantities that change from row to row, and the coordinates of their fixed dimensions."""

import dataclasses
from collections.abc import Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Variable:
    """One recorded quantity; the record axis comes first and is not listed here.

    **Arguments:** `name`: a Python identifier, the keyword under which rows are appended; `dims`: the names of the
    other dimensions, such as `("node", "component")`; empty for a scalar per row; `shape`: their sizes; `unit`: such as
    `"m"` or `"rad/s"`; empty for a dimensionless quantity; `description`: one line for the reader of the result.
    """

    name: str
    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    unit: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_name("name of a variable", self.name)
        if isinstance(self.dims, str) or isinstance(self.shape, int):
            raise ValueError(f"`dims` and `shape` of {self.name!r} must be tuples; got {self.dims!r}, {self.shape!r}")
        object.__setattr__(self, "dims", tuple(self.dims))
        object.__setattr__(self, "shape", tuple(int(size) for size in self.shape))
        for dim in self.dims:
            check_name(f"dimension of {self.name!r}", dim)
        if len(self.dims) != len(self.shape) or len(set(self.dims)) != len(self.dims) or min(self.shape, default=1) < 1:
            raise ValueError(
                f"{self.name!r} must have one positive size for each of its dimensions, all of different names; "
                f"got dims {self.dims}, shape {self.shape}"
            )


@dataclasses.dataclass(frozen=True)
class Coordinate:
    """The values along one dimension, such as arc length in metres or the names of components.

    **Arguments:** `dim`: the dimension that it labels; `values`: one number or one string per index, shape (size of the
    dimension,); `unit`: of the numbers; `description`: one line for the reader of the result.
    """

    dim: str
    values: Sequence[float] | Sequence[str] | np.ndarray
    unit: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_name("dimension of a coordinate", self.dim)
        values = np.asarray(self.values)
        if values.ndim != 1 or values.dtype.kind not in "biufU":
            raise ValueError(
                f"the coordinate of {self.dim!r} must be a one-dimensional list of numbers or strings; "
                f"got shape {values.shape}, type {values.dtype}"
            )
        object.__setattr__(self, "values", values)


def check_name(what: str, name: object) -> None:
    """Raise ValueError unless `name` is an identifier, and so a safe keyword and a safe file name."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        raise ValueError(f"the {what} must be an identifier such as tip_position; got {name!r}")


def check_layout(axis: str, variables: Sequence[Variable], coordinates: Sequence[Coordinate]) -> None:
    """Raise ValueError unless all names differ and every dimension has one size."""
    check_name("record axis", axis)
    sizes: dict[str, int] = {}
    for variable in variables:
        for dim, size in zip(variable.dims, variable.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ValueError(
                    f"dimension {dim!r} must have one size; got {sizes[dim]} before and {size} in {variable.name!r}"
                )
    names = [axis, *sizes, *(variable.name for variable in variables)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"axis, dimensions and variables must have different names; got {name!r} more than once")
    labelled = [coordinate.dim for coordinate in coordinates]
    for coordinate in coordinates:
        size, got = sizes.get(coordinate.dim), len(coordinate.values)
        if labelled.count(coordinate.dim) > 1:
            raise ValueError(f"dimension {coordinate.dim!r} must have at most one coordinate; got more")
        if size is None:
            raise ValueError(f"a coordinate's dimension must be one of {sorted(sizes)}; got {coordinate.dim!r}")
        if size != got:
            raise ValueError(f"the coordinate of {coordinate.dim!r} must have {size} values; got {got}")
