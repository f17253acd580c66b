"""Elementary functions of vectors: sine, cosine and exponential, which a C library has for single numbers only.

Arguments are reduced after Cody and Waite; the polynomials of sine and cosine are those of fdlibm (Sun, 1993), that of
the exponential is Taylor's. Errors are some units in the last place for arguments up to a million.
"""

from hydrostat.native.emitter import Emitter
from hydrostat.native.values import Entry, known

_SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
_COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
# Half of pi and the logarithm of 2 in parts, of which the first have zeros at their ends.
_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_TWO_OVER_PI = 6.36619772367581382433e-01
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
_LOG2_E = 1.44269504088896338700e00


def _polynomial(e: Emitter, z, coefficients) -> Entry:
    found = coefficients[-1]
    for c in coefficients[-2::-1]:
        found = e.add("double", e.mul("double", found, z), c)
    return found


def sine(e: Emitter, x, quarter: int) -> Entry:
    """sin(x + quarter pi / 2) of the lanes of x."""
    d = "double"
    n = e.intrinsic("rint", d, e.mul(d, x, _TWO_OVER_PI), flags=False)
    r = x
    for part in _HALF_PI:
        r = e.sub(d, r, e.mul(d, n, part))
    z = e.mul(d, r, r)
    sin = e.add(d, r, e.mul(d, e.mul(d, r, z), _polynomial(e, z, _SIN)))
    cos = e.add(d, e.sub(d, 1.0, e.mul(d, 0.5, z)), e.mul(d, e.mul(d, z, z), _polynomial(e, z, _COS)))
    turn = e.add("i64", e.convert(n, d, "i64"), quarter)
    odd = e.compare("ne", "i64", e.logic("and", "i64", turn, 1), 0)
    lower = e.compare("ne", "i64", e.logic("and", "i64", turn, 2), 0)
    found = e.select(d, odd, sin, cos)
    return e.select(d, lower, found, e.neg(d, found))


def exponential(e: Emitter, x) -> Entry:
    """exp(x) of the lanes of x."""
    d = "double"
    inside = e.select(d, e.compare("lt", d, x, 709.0), 709.0, x)
    inside = e.select(d, e.compare("gt", d, inside, -708.0), -708.0, inside)
    n = e.intrinsic("rint", d, e.mul(d, inside, _LOG2_E), flags=False)
    r = inside
    for part in _LN2:
        r = e.sub(d, r, e.mul(d, n, part))
    factorial, coefficients = 1.0, [1.0]
    for i in range(1, 14):
        factorial *= i
        coefficients.append(1.0 / factorial)
    bits = e.shift("shl", "i64", e.add("i64", e.convert(n, d, "i64"), 1023), 52)
    scale: Entry = bits
    if not known(bits):
        scale = e.emit(
            ("bits", bits), d, bits.vec, f"bitcast {e.type('i64', bits.vec)} {bits.name} to {e.type(d, bits.vec)}"
        )
    found = e.mul(d, _polynomial(e, r, coefficients), scale)
    found = e.select(d, e.compare("lt", d, x, -708.0), found, 0.0)
    found = e.select(d, e.compare("gt", d, x, 709.7), found, float("inf"))
    return e.select(d, e.compare("ne", d, x, x), found, x)
