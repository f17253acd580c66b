"""How much a step computes: a guard against code that grows unnoticed, by counts, which no other program disturbs."""

import re
from collections import Counter

import equinox as eqx
import jax.numpy as jnp

import hydrostat as hs
from hydrostat.native.function import lowered
from hydrostat.simulation.backend import _step_of
from hydrostat.simulation.simulate import Run, _first

MOST = {"multiply": 11100, "add": 9600, "divide": 180, "load": 5300, "store": 5450}
"""Instructions of a step of an octopus that swims and keeps its momentum, some percent above what they are."""
KINDS = {"multiply": "fmul", "add": "fadd|fsub", "divide": "fdiv", "load": "load", "store": "store"}


def test_a_step_of_the_octopus_takes_no_more_instructions():
    sea = hs.System(hs.robots.octopus(8, 8), [hs.Water(), hs.ArmContact()], gravity=(0, 0, 0))
    run = Run(sea, hs.gaits.Swim(), 1e-2)
    carry = _first(run.loop, sea.rest(), run.dt, None)
    dynamic, static = eqx.partition((run.loop, jnp.asarray(run.dt)), eqx.is_array)
    like, rest = eqx.partition(carry, eqx.is_array)
    data, text = lowered(_step_of(static, rest), dynamic, like, side_by_side=8, stepping=True)
    words = Counter(re.findall(r"\b(fmul|fadd|fsub|fdiv|load|store)\b", text))
    counts = {name: sum(words[word] for word in pattern.split("|")) for name, pattern in KINDS.items()}
    assert {name: count for name, count in counts.items() if count > MOST[name]} == {}
    # Vectors, and not numbers one by one.
    assert text.count("<8 x double>") > 0.8 * (counts["multiply"] + counts["add"])
    assert data["frame"] < 1e6
