"""An octopus of eight arms with twenty segments each, stepped by hydrostat and by MuJoCo in one run on one core.

MuJoCo's octopus has the same arms as chains of rigid capsules, each with a slide and two hinges (486 degrees of
freedom), springs of the same tissue, water as its ellipsoid fluid model, and for the ground its own contact. Its steps
are the largest ones of its fastest integrator (Euler) at which a tip is within 1 % of an arm's length of MuJoCo's own
refined solution: 6.25 ms swimming, 10 ms with the ground. It has no muscles of constant volume, no suckers and, here,
no contact between arms: hydrostat's octopus has all of these, with its controller, and is stepped at 10 and 5 ms.
"""

import json
import time

import numpy as np

import hydrostat as hs
from hydrostat.simulation.simulate import Run

ARMS, SEGMENTS, LENGTH, MASS, BALL = 8, 20, 0.24, 0.126, 0.03
RADII = np.linspace(0.0076, 0.0005, SEGMENTS + 1)
DENSITY, WATER, MODULUS = 1042.0, 1022.0, 1e4
SECONDS, BEST = 10.0, 5


def mujoco_octopus(ground: bool) -> str:
    """The model, as MJCF."""
    step = LENGTH / SEGMENTS
    arms = []
    for arm in range(ARMS):
        angle = 2.0 * np.pi * arm / ARMS
        at = 0.022 * np.array([np.cos(angle), np.sin(angle)])
        chain, close = [], []
        for k in range(SEGMENTS):
            r = 0.5 * (RADII[k] + RADII[k + 1])
            area, moment = np.pi * r**2, 0.25 * np.pi * r**4
            stretch, bend = MODULUS * area / step, MODULUS * moment / step
            joints = "".join(
                f'<joint type="{kind}" axis="{axis}" stiffness="{k_:.6g}" damping="{0.02 * k_:.6g}"/>'
                for kind, axis, k_ in (("slide", "0 0 1", stretch), ("hinge", "1 0 0", bend), ("hinge", "0 1 0", bend))
            )
            place = f"0 0 {step}" if k else f"{at[0]:.5f} {at[1]:.5f} 0"
            turn = "" if k else f' axisangle="{-np.sin(angle):.6f} {np.cos(angle):.6f} 0 1.5707963"'
            shape = f'<geom type="capsule" size="{r:.6f}" fromto="0 0 0 0 0 {step}" density="{DENSITY}"'
            chain.append(
                f'<body pos="{place}"{turn}>{joints}{shape} fluidshape="ellipsoid" contype="2" conaffinity="1"/>'
            )
            close.append("</body>")
        arms.append("".join(chain) + "".join(close))
    floor = '<geom type="plane" size="5 5 1" contype="1" conaffinity="2"/>' if ground else ""
    pull = "0 0 -0.19" if ground else "0 0 0"
    return f"""<mujoco><option gravity="{pull}" density="{WATER}" viscosity="0.001"/>
<worldbody>{floor}<body pos="0 0 {BALL if ground else 0}"><freejoint/>
<geom type="sphere" size="{BALL}" mass="{MASS}" fluidshape="ellipsoid" contype="2" conaffinity="1"/>
{"".join(arms)}</body></worldbody></mujoco>"""


def mujoco_wall(ground: bool, dt: float) -> tuple[float, int]:
    """Wall seconds of a simulated second, arms swinging, and the degrees of freedom."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_octopus(ground))
    model.opt.timestep, model.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_EULER
    bends = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE]
    address = model.jnt_dofadr[bends]
    stiffness = model.jnt_stiffness[bends]
    best, steps = np.inf, round(SECONDS / dt)
    for _ in range(BEST):
        data = mujoco.MjData(model)
        begin = time.perf_counter()
        for i in range(steps):
            data.qfrc_applied[address] = 0.15 * np.sin(2.0 * np.pi * i * dt) * stiffness
            mujoco.mj_step(model, data)
        best = min(best, time.perf_counter() - begin)
        if not np.all(np.isfinite(data.qpos)):
            raise RuntimeError(f"MuJoCo diverged at {dt} s")
    return best / SECONDS, model.nv


def hydrostat_wall(system, controller, dt: float, backend: str) -> tuple[float, float]:
    """Wall seconds of a simulated second, and seconds to compile."""
    begin = time.perf_counter()
    run = Run(system, controller, dt, every=2, backend=backend)
    run.compile(SECONDS)
    compiled, best = time.perf_counter() - begin, np.inf
    for _ in range(BEST):
        begin = time.perf_counter()
        run(SECONDS)
        best = min(best, time.perf_counter() - begin)
    return best / SECONDS, compiled


def main() -> None:
    robot = hs.robots.octopus(ARMS, SEGMENTS)
    around = hs.Water(), hs.ArmContact()
    swim = hs.System(robot, around, gravity=(0.0, 0.0, 0.0)), hs.gaits.Swim(), 1e-2
    crawl = hs.System(robot, [*around, hs.Ground(), hs.Suckers()]), hs.gaits.Crawl(heading=0.0), 5e-3
    found: dict[str, float] = {}
    for name, case, ground, dt in (("swim", swim, False, 6.25e-3), ("crawl", crawl, True, 1e-2)):
        wall, dofs = mujoco_wall(ground, dt)
        found[f"{name}_mujoco_wall_per_second"], found["mujoco_dofs"] = wall, dofs
        for backend in ("native", "xla"):
            own, compiled = hydrostat_wall(*case, backend)
            found[f"{name}_{backend}_wall_per_second"] = own
            found[f"{name}_{backend}_compile_s"] = compiled
            found[f"{name}_{backend}_times_mujoco"] = wall / own
        found[f"{name}_native_times_xla"] = (
            found[f"{name}_xla_wall_per_second"] / found[f"{name}_native_wall_per_second"]
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
