"""Figures in the prose of a page: which of them stand in no command, in nothing that one prints, and are not named."""

import re

from printed import statements

ELSEWHERE = ("What the paper does", "The corrected model", "Printed errors", "What we assumed")
"""Headings of what no command prints: the paper, its errors, which other tests hold, and assumptions."""
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"<!-- not printed: (.*?)-->", re.DOTALL)
_SKIPPED = re.compile(
    r"<figure.*?</figure>|<!--.*?-->|\\\[.*?\\\]|\\\(.*?\\\)|\]\([^)]*\)|!\[[^]]*\]",
    re.DOTALL | re.MULTILINE,
)
_UNITS = "mm/s|m/s|mm|µm|ms|m|s|°|degrees|%|N|mN|Hz|kHz|g|kg|kPa|MPa|GPa|radii|of a radius|lengths|kN"
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_FIGURE = re.compile(rf"(?<![\w.])(\d+\.\d+|\d+(?= ?(?:{_UNITS})(?![\w])))(?:\s?×\s?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(e[+-]?\d+))?")
_ANY = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_SCALES = (1.0, 1e3, 1e-3, 100.0, 0.01)
"""Between what a metric is and what prose says: a share and percent, m and mm."""


def sections(text: str) -> list[tuple[str, str]]:
    """Headings of a page and what stands below each."""
    parts = re.split(r"^#+ (.*)\n", re.sub(r"^#(?= )", "##", text), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def untraced(text: str) -> list[str]:
    """Figures of a section without a source in it."""
    sources = [float(one) for said in statements(text) for value in said.said for one in _ANY.findall(value)]
    bare = _FENCE.sub(" ", text)
    for typed in [*_FENCE.findall(text), *re.findall(r"`([^`\n]+)`", bare)]:
        sources += [float(one) for one in _ANY.findall(typed)]
    named = " ".join(_NAMED.findall(text))
    sources += [float(one) for one in _ANY.findall(named)]
    prose = re.sub(r"`[^`]*`", " ", _SKIPPED.sub(" ", bare))
    return [found[0] for found in _FIGURE.finditer(prose) if not _is_among(found, sources)]


def _is_among(found: re.Match, sources: list[float]) -> bool:
    """Whether a figure is one of the sources, rounded to its digits and perhaps in another unit."""
    exponent = int((found[2] or "0").translate(_POWERS)) + int((found[3] or "e0")[1:])
    figure = float(found[1]) * 10.0**exponent
    digit = 10.0 ** (exponent - len(found[1].partition(".")[2]))
    return any(abs(figure - scale * one) <= (0.5 + 1e-6) * digit for scale in _SCALES for one in sources)
