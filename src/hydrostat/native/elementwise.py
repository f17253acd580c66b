"""Operations on single numbers, by the name that JAX gives them."""

import math

import numpy as np

from hydrostat.native.emitter import Emitter
from hydrostat.native.functions import exponential, sine
from hydrostat.native.program import Eqn, NotLoweredError
from hydrostat.native.values import is_float, kind_of, known

_COMPARE = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_LIBRARY = {
    "log": "log", "log1p": "log1p", "expm1": "expm1", "tan": "tan", "tanh": "tanh", "asin": "asin", "acos": "acos",
    "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "cbrt": "cbrt", "erf": "erf", "pow": "pow", "exp2": "exp2", "rem": "fmod",
}  # fmt: skip


def scalar(e: Emitter, eqn: Eqn):  # noqa: PLR0912 (a list of names)
    """The function of single numbers that an equation applies to every entry."""
    name, p = eqn.name, eqn.params
    dtype = np.dtype(eqn.inputs[0].dtype)
    kind, signed = kind_of(dtype), dtype.kind != "u"
    out = kind_of(eqn.outputs[0].dtype)
    if name in ("add", "add_any"):
        return lambda a, b: e.add(kind, a, b)
    if name == "sub":
        return lambda a, b: e.sub(kind, a, b)
    if name == "mul":
        return (lambda a, b: e.logic("and", kind, a, b)) if kind == "i1" else lambda a, b: e.mul(kind, a, b)
    if name == "div":
        return lambda a, b: e.div(kind, a, b, signed)
    if name == "neg":
        return lambda a: e.neg(kind, a)
    if name in _COMPARE:
        return lambda a, b: e.compare(name, kind, a, b, signed)
    if name in ("lt_to", "le_to"):
        return lambda a, b: _total_order(e, name[:2], kind, a, b, signed)
    if name in ("and", "or", "xor"):
        return lambda a, b: e.logic(name, kind, a, b)
    if name == "not":
        return lambda a: e.invert(kind, a)
    if name in ("max", "min"):
        return lambda a, b: extreme(e, name, kind, a, b, signed)
    if name == "select_n":
        return lambda which, *cases: _select(e, kind, out, which, cases)
    if name == "clamp":
        other = kind_of(eqn.inputs[1].dtype)
        return lambda low, x, high: extreme(e, "min", other, extreme(e, "max", other, x, low, signed), high, signed)
    if name == "convert_element_type":
        return lambda a: e.convert(a, kind, out, signed and (dtype.kind != "f" or eqn.outputs[0].dtype.kind != "u"))
    if name == "integer_pow":
        return lambda a: _power(e, kind, a, p["y"])
    if name == "square":
        return lambda a: e.mul(kind, a, a)
    if name == "imag":
        return lambda a: 0.0
    if name == "is_finite":
        return lambda a: e.compare("lt", kind, _absolute(e, kind, a), math.inf)
    if name == "abs":
        return lambda a: _absolute(e, kind, a)
    if name == "sign":
        return lambda a: _sign(e, kind, a)
    if name.startswith("shift_"):
        op = {"shift_left": "shl", "shift_right_logical": "lshr", "shift_right_arithmetic": "ashr"}[name]
        return lambda a, b: e.shift(op, kind, a, b)
    if name == "rem" and not is_float(kind):
        return lambda a, b: e.remainder(kind, a, b, signed)
    if not is_float(kind):
        raise NotLoweredError(f"{name} of whole numbers")
    if name == "sqrt":
        return lambda a: math.sqrt(a) if known(a) else e.intrinsic("sqrt", kind, a)
    if name == "rsqrt":
        return lambda a: e.div(kind, 1.0, e.intrinsic("sqrt", kind, a))
    if name in ("floor", "ceil"):
        return lambda a: float(getattr(math, name)(a)) if known(a) else e.intrinsic(name, kind, a)
    if name == "round":
        rounding = "roundeven" if int(p.get("rounding_method", 1)) == 1 else "round"
        return lambda a: e.intrinsic(rounding, kind, a)
    if name in ("sin", "cos"):
        return lambda a: _trigonometric(e, name, kind, a)
    if name == "exp":
        return lambda a: _exp(e, kind, a)
    if name == "logistic":
        return lambda a: e.div(kind, 1.0, e.add(kind, 1.0, _exp(e, kind, e.neg(kind, a))))
    if name in _LIBRARY and kind == "double":
        return lambda *args: e.library(_LIBRARY[name], kind, *args)
    raise NotLoweredError(name)


def extreme(e: Emitter, name: str, kind: str, a, b, signed: bool = True):
    """The greater or the lesser of two numbers; no number where one is none."""
    if known(a) and known(b):
        return max(a, b) if name == "max" else min(a, b)
    if kind == "i1":
        return e.logic("or" if name == "max" else "and", kind, a, b)
    if is_float(kind):
        # Not a number wins, as in NumPy: a comparison with it is false, and it is told by itself.
        first = e.compare("gt" if name == "max" else "lt", kind, a, b)
        best = e.select(kind, first, b, a)
        return e.select(kind, e.compare("ne", kind, a, a), best, a) if not known(a) else best
    return e.select(kind, e.compare("gt" if name == "max" else "lt", kind, a, b, signed), b, a)


def _total_order(e: Emitter, name: str, kind: str, a, b, signed: bool):
    """a < b or a <= b with what is not a number above all numbers; both zeros are one, as searches have made them."""
    below = e.compare(name, kind, a, b, signed)
    if not is_float(kind):
        return below
    none = e.compare("ne", kind, b, b)
    if name == "lt":
        none = e.logic("and", "i1", none, e.compare("eq", kind, a, a))
    return e.logic("or", "i1", below, none)


def _select(e: Emitter, kind: str, out: str, which, cases):
    if kind == "i1":
        return e.select(out, which, *cases)
    found = cases[-1]
    for i in range(len(cases) - 2, -1, -1):
        found = e.select(out, e.compare("eq", kind, which, i), found, cases[i])
    return found


def _power(e: Emitter, kind: str, a, y: int):
    if y < 0:
        return e.div(kind, 1.0, _power(e, kind, a, -y))
    found, square = (1.0 if is_float(kind) else 1), a
    while y:
        if y & 1:
            found = e.mul(kind, found, square)
        y >>= 1
        if y:
            square = e.mul(kind, square, square)
    return found


def _absolute(e: Emitter, kind: str, a):
    if known(a):
        return abs(a)
    if is_float(kind):
        return e.intrinsic("fabs", kind, a)
    return e.select(kind, e.compare("lt", kind, a, 0), a, e.neg(kind, a))


def _sign(e: Emitter, kind: str, a):
    one = 1.0 if is_float(kind) else 1
    found = e.select(kind, e.compare("lt", kind, a, 0 * one), 0 * one, -one)
    return e.select(kind, e.compare("gt", kind, a, 0 * one), found, one)


def _trigonometric(e: Emitter, name: str, kind: str, a):
    if known(a):
        return getattr(math, name)(a)
    if kind != "double" or not a.vec:
        return e.library(name, kind, a)
    return sine(e, a, 0 if name == "sin" else 1)


def _exp(e: Emitter, kind: str, a):
    if known(a):
        return math.exp(a)
    return exponential(e, a) if kind == "double" and a.vec else e.library("exp", kind, a)
