"""The page docs/benchmarks.md, and its figure, from the results of the benchmarks."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import figure

NAMES = {"hydrostat": "hydrostat", "mujoco": "MuJoCo", "pyelastica": "PyElastica", "soromox": "SoRoMoX"}
CASES = {
    "dry": (
        "A soft arm falls in air",
        "A silicone arm (240 mm, radius 7.5 to 2.5 mm, 1 MPa), clamped horizontally and let go, for one second, "
        "without damping. All programs have the same physics here. PyElastica's error is that of its 20 elements: it "
        "falls with the first power of their length, the others' with the second. With bends alone the tip differs "
        "from that of a rod with all strains by {bends_alone_error_percent:.2g} %.",
    ),
    "damped": (
        "The same arm, damped",
        "Viscosity of 10 ms times Young's modulus. MuJoCo's Euler method is implicit in joint damping, which is "
        "where it is at its best. PyElastica has no such damping; SoRoMoX's explicit solvers would need far "
        "smaller steps.",
    ),
    "water": (
        "An arm in a current",
        "The size and the tissue of the octopus arm, without muscles, in water that flows across it at 0.1 m/s. "
        "Not the same physics: hydrostat has the drag of a slender body across and along, MuJoCo the ellipsoid model "
        "of its fluid forces. Each is compared with its own solution at a far smaller step; PyElastica and SoRoMoX "
        "have no water.",
    ),
    "nitinol": (
        "A stiff rod",
        "A NiTi rod of 60 cm by 2 mm, clamped horizontally and let go, without damping. PyElastica was run for 0.02 s "
        "only, at about its largest stable step: its time is exact, its error unknown.",
    ),
}
OTHERS = {
    "octopus": "An octopus in open water whose arms sway gently at 1 Hz, one that beats its arms as in swimming, and "
    "one that crawls on the ground. MuJoCo's has the same arms as chains of rigid links; it has no muscles of constant "
    "volume, no suckers and no contact between arms, hydrostat's has all of these and its controller. In open water "
    "each program has its own largest step within 1 % of its refined solution. MuJoCo's arms beat by far less than "
    "hydrostat's: `tip_moves_mm` says by how much. On the ground hydrostat's octopus crawls and MuJoCo's sways.",
    "rod": "The stiff rod with 20 g at its tip, all six strains: error of the tip and speed at several steps.",
    "scaling": "Cost of a step by the number of segments.",
    "squid": "Four soft limbs in water, stepped one at a time by a control loop of 1 kHz.",
    "forward_kinematics": "Tip poses of one million three-segment shapes, beside NumPy with the same formulas written "
    "three ways.",
    "tracking": "A control tick of a chain of 10 to 30 platforms, beside the same law in NumPy and the paper's "
    "times, which were measured on other hardware.",
}


ENGINES = {
    "native": "machine code, all cores",
    "native_one_core": "machine code, one core",
    "xla": "XLA, all cores",
    "kernel": "kernel by hand, all cores",
    "kernel_one_core": "kernel by hand, one core",
}


def write(results: dict[str, Any], docs: Path) -> None:
    """Write the page, and its figure where there is something to draw."""
    if "arm" in results:
        picture = docs / "assets" / "figures" / "work-precision.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure.work_precision(results["arm"], picture)
    (docs / "benchmarks.md").write_text(text(results))


def text(results: dict[str, Any]) -> str:
    """The page."""
    machine = results.get("machine", {})
    lines = [
        "<!-- Written by `make bench` from benchmarks/results.json; changes here are lost. -->",
        "",
        "# Benchmarks",
        "",
    ]
    lines += [
        "What hydrostat costs, beside other programs: `make bench` measures all of it anew and writes this page. "
        "Figures are the best of several runs, side by side in one run"
        + (f", on {machine['processor']}, {machine['cores']} cores" if machine else "")
        + ". One core unless said otherwise. Read the ratios: other hardware has other times.",
        "",
    ]
    parts = {"arm": arms, "sorosim": sorosim, "batch": batch, "gradient": gradient, "start": start}
    for name, part in parts.items():
        if name in results:
            lines += [*part(results[name]), ""]
    others = [name for name in OTHERS if name in results]
    if others:
        lines += ["## More of hydrostat", ""]
    for name in others:
        lines += [f"### {name.replace('_', ' ').capitalize()}", "", OTHERS[name], ""]
        lines += [*table(("figure", "value"), results[name].items()), ""]
    return "\n".join(lines).rstrip() + "\n"


def arms(found: dict[str, Any]) -> list[str]:
    """One arm in every program."""
    lines = ["## One arm, four programs", ""]
    lines += [
        "For each method the step that costs least while the tip stays within 1 % of length of the same model's own "
        "solution at a far smaller step. *Error* is the largest distance of the tip from the converged rod with the "
        "same strains (80 segments in hydrostat), over the length. Each program has its best setting; its file in "
        "`benchmarks/peers` gives the reasons. MuJoCo's hinges are in the middle of sections, which makes it "
        "second order in their length. hydrostat runs as [machine code](machine-code.md).",
        "",
    ]
    for sentence in found["left_out"]:
        lines += [f"Left out: {sentence}.", ""]
    lines += ["![Error of the tip over wall time](assets/figures/work-precision.png)", ""]
    for case, (title, about) in CASES.items():
        if case in found:
            lines += [f"### {title}", "", about.format(**found[case]), "", *_arm_table(found[case]["rows"]), ""]
    return lines


def _arm_table(rows: list[dict[str, Any]]) -> list[str]:
    head = ("program", "method", "strains", "segments", "step [ms]", "µs a step", "wall s / simulated s",
            "error of the step [%]", "error [%]", "times hydrostat's best")  # fmt: skip
    walls = [row["best"]["wall_per_second"] for row in rows if row["best"] and row["program"] == "hydrostat"]
    fastest = min(walls, default=math.nan)
    body = []
    for row in rows:
        best, name = row["best"], NAMES[row["program"]] + (f" {row['version']}" if row["version"] else "")
        start = (name, row["method"], row["strains"], row["segments"])
        if best is None:
            body.append((*start, "none within 1 %", *[None] * 5))
            continue
        names = ("dt_ms", "us_per_step", "wall_per_second", "step_error_percent", "error_percent")
        body.append((*start, *(best.get(key) for key in names), best["wall_per_second"] / fastest))
    return table(head, body)


def sorosim(found: dict[str, Any]) -> list[str]:
    """Shapes and releases by SoRoSim."""
    lines = ["## Cosserat rods computed with SoRoSim", ""]
    lines += [
        "500 static shapes and ten releases of rods of spring steel and TPU from the OpenCR project, computed by "
        f"others with SoRoSim; hydrostat with {found['segments']} segments and all six strains. Positions in the "
        "data are rounded to 0.1 mm and loads to four digits, which alone moves a tip at rest by about 0.02 %.",
        "",
        "Of the releases the last columns are at 0.5 ms, and at 0.5 ms with 72 segments: hydrostat's converged "
        "solution. Where that is farther from the data than fewer segments are, their error and that of the data "
        "cancel in part, and the small figure is not accuracy. The damping times in the data are rounded to 0.1 ms, "
        "which alone changes the RMS error of a TPU release by up to 0.2 %. Viscosity in twist and shear matters "
        "less: halving it changes that of releases 1 and 5 by at most 0.02 %.",
        "",
    ]
    head = ("material", "shapes", "mean error [%]", "worst [%]", "ms a shape", "from `equilibrium` [%]")
    keys = ("shapes", "tip_error_percent_mean", "tip_error_percent_worst", "ms_per_shape")
    materials = {"springsteel": "spring steel", "tpu": "TPU"}
    body = [
        (said, *(found[f"{name}_statics"][key] for key in keys),
         found[f"{name}_statics"]["difference_from_equilibrium_percent"])
        for name, said in materials.items()
    ]  # fmt: skip
    lines += [*table(head, body), ""]
    head = ("material", "releases", "step [ms]", "RMS error, mean [%]", "RMS error of each [%]", "at 0.5 ms [%]",
            "at 0.5 ms, 72 segments [%]", "real-time factor")  # fmt: skip
    keys = ("releases", "dt_ms", "rms_error_percent_mean", "rms_error_percent", "rms_error_percent_converged_step",
            "rms_error_percent_converged", "real_time_factor")  # fmt: skip
    lines += table(
        head, [(said, *(found[f"{name}_releases"][key] for key in keys)) for name, said in materials.items()]
    )
    return lines


def batch(found: dict[str, Any]) -> list[str]:
    """Batches of arms."""
    lines = ["## Many arms at once", ""]
    lines += [
        f"Steps of one arm a second, of octopus arms of {found['segments']} segments at {found['dt_ms']:g} ms through "
        f"`jax.vmap(hs.rollout)`; {found['cores']} cores where it says all. The kernel written by hand measures the "
        "hardware, not a simulator: its arms have as many coordinates but no muscles and no constant volume, and one "
        "linear solve a step, where hydrostat's default iterates two implicit stages. The passive arm in hydrostat is "
        "the kernel's arm, by the kernel's method, the linearly implicit Euler method.",
        "",
    ]
    rows = []
    for name, said in (("water", "in water"), ("dry", "dry"), ("passive", "dry, passive")):
        for key, engine in ENGINES.items():
            values = found.get(f"{name}_{key}")
            if values is not None:
                missing = [None] * (len(found["counts"]) - len(values))
                rows.append((said, engine, *(f"{value:,.0f}" for value in values), *missing))
    return lines + table(("arm", "engine", *(f"{count} arm{'s' * (count > 1)}" for count in found["counts"])), rows)


def gradient(found: dict[str, Any]) -> list[str]:
    """The gradient of a rollout."""
    lines = ["## A gradient", ""]
    lines += [
        f"The tip after {found['steps']} steps of an octopus arm in water by the activation of its "
        f"{found['parameters']} muscles, in reverse mode, back through the steps by machine code. Beside it is what "
        "differences would take: where parameters are few, they are the quicker way. Memory is that of XLA's part; "
        "machine code keeps the carry of every row besides.",
        "",
    ]
    return lines + table(("figure", "value"), found.items())


def start(found: dict[str, Any]) -> list[str]:
    """The first result."""
    lines = ["## The first result", ""]
    lines += [
        "Seconds from the start of a process to its end: a simulated second of an octopus arm in water, and of a "
        "crawling octopus. Cold is with an empty cache folder, warm the process after it.",
        "",
    ]
    return lines + table(("figure", "seconds"), found.items())


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    """A table in Markdown."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(shown, row)) + " |" for row in rows]


def shown(value: Any) -> str:
    """A value for people: three digits, and a dash for what is not there."""
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, bool | str | int):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"
