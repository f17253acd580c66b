"""An octopus of eight arms with twenty segments each, stepped by hydrostat and by MuJoCo in one run on one core.

MuJoCo's octopus has the same arms as chains of rigid capsules, each with a slide and two hinges (486 degrees of
freedom), springs of the same tissue, water as its ellipsoid fluid model, and for the ground its own contact; its
integrator is its fastest, Euler's (`implicitfast` takes 70 times as long for this octopus). It has no muscles of
constant volume, no suckers and, here, no contact between arms: hydrostat's octopus has all of these, with its
controller.

In open water each program takes its largest step at which a tip, seen from the body, is within 1 % of an arm's length
of the same program's refined solution, for two motions: arms that sway gently at 1 Hz, and arms that beat as the
swimming octopus does, 3.6 times a second. MuJoCo's torques are those that bend a resting joint by 0.15 rad in the first
and by 1.2 rad in the second; its tips then move by about 25 and 20 mm. Those of hydrostat's octopus move farther in
both. On the ground motion is not smooth, and the steps are 10 ms for MuJoCo's octopus, which sways, and 5 ms for
hydrostat's, which crawls.
"""

import json
import time

import numpy as np

import hydrostat as hs
from hydrostat.errors import DivergedError
from hydrostat.simulation.simulate import Run

ARMS, SEGMENTS, LENGTH, MASS, BALL = 8, 20, 0.24, 0.126, 0.03
RADII = np.linspace(0.0076, 0.0005, SEGMENTS + 1)
DENSITY, WATER, MODULUS = 1042.0, 1022.0, 1e4
SECONDS, BEST = 10.0, 5
ROW, REFINED, COMPARED = 0.05, 2.5e-4, 1.0
"""From row to row, the step of refined solutions, and how long motions are compared [s]."""
PARTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100)
"""Into how many steps a row is divided, the largest ones first."""


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


class Mujoco:
    """MuJoCo's octopus, whose joints are driven by torques that swing."""

    def __init__(self, ground: bool, angle: float, frequency: float):
        """**Arguments:** `angle`: by which the torques bend a joint at rest [rad]; `frequency`: of their swing
        [1/s]."""
        import mujoco

        self._mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(mujoco_octopus(ground))
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        bends = [j for j in range(self.model.njnt) if self.model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE]
        self._address, self._torque = self.model.jnt_dofadr[bends], angle * self.model.jnt_stiffness[bends]
        self._rate = 2.0 * np.pi * frequency

    def tips(self, dt: float, seconds: float) -> np.ndarray:
        """The tip of the first arm from the body, every `ROW` seconds (rows, 3) [m]."""
        found = []
        self._run(dt, seconds, lambda data: found.append(data.xpos[SEGMENTS + 1] - data.xpos[1]))
        return np.array(found)

    def wall(self, dt: float) -> float:
        """Wall seconds of a simulated second."""
        best = np.inf
        for _ in range(BEST):
            begin = time.perf_counter()
            self._run(dt, SECONDS, lambda _: None)
            best = min(best, time.perf_counter() - begin)
        return best / SECONDS

    def _run(self, dt: float, seconds: float, row) -> None:
        self.model.opt.timestep = dt
        data, every = self._mujoco.MjData(self.model), round(ROW / dt)
        for i in range(round(seconds / dt)):
            data.qfrc_applied[self._address] = np.sin(self._rate * i * dt) * self._torque
            self._mujoco.mj_step(self.model, data)
            if (i + 1) % every == 0:
                row(data)
        if not np.all(np.isfinite(data.qpos)):
            raise RuntimeError(f"MuJoCo diverged at {dt} s")


class Hydrostat:
    """The octopus of hydrostat with its controller."""

    def __init__(self, system, controller):
        self._of = system, controller

    def _ready(self, dt: float, seconds: float) -> Run:
        run = Run(*self._of, dt, every=round(ROW / dt), backend="native")
        run.compile(seconds)
        return run

    def tips(self, dt: float, seconds: float) -> np.ndarray:
        """The tip of the first arm from the body, every `ROW` seconds (rows, 3) [m]."""
        found = self._ready(dt, seconds)(seconds)
        return (np.asarray(found.tip)[:, 0] - np.asarray(found.body))[1:]

    def wall(self, dt: float) -> float:
        """Wall seconds of a simulated second."""
        run, best = self._ready(dt, SECONDS), np.inf
        for _ in range(BEST):
            begin = time.perf_counter()
            run(SECONDS)
            best = min(best, time.perf_counter() - begin)
        return best / SECONDS


def largest_step(octopus, seconds: float) -> tuple[float, float, float]:
    """The largest step within 1 % at the tip, that error [% of an arm's length], and how far the tip moves [m]."""
    refined = octopus.tips(REFINED, seconds)
    moves = float(np.linalg.norm(np.ptp(refined, axis=0)))
    for parts in PARTS:
        dt = ROW / parts
        try:
            error = 100.0 * np.linalg.norm(octopus.tips(dt, seconds) - refined, axis=1).max() / LENGTH
        except (RuntimeError, DivergedError):
            continue
        if error <= 1.0:
            return dt, float(error), moves
    raise RuntimeError("no step is within 1 % of the refined solution")


def main() -> None:
    around = hs.Water(), hs.ArmContact()
    sea = hs.System(hs.robots.octopus(ARMS, SEGMENTS, pitch_deg=40.0), around, gravity=(0.0, 0.0, 0.0))
    gentle, beating = hs.gaits.Swim(closed_loop=False, period=1.0, swing=0.04, stiffen=0.04), hs.gaits.Swim()
    found: dict[str, float] = {}
    for name, controller, angle, frequency in (("sway", gentle, 0.15, 1.0), ("swim", beating, 1.2, 1.0 / 0.28)):
        for program, octopus in (("mujoco", Mujoco(False, angle, frequency)), ("native", Hydrostat(sea, controller))):
            dt, error, moves = largest_step(octopus, COMPARED)
            found[f"{name}_{program}_dt_ms"], found[f"{name}_{program}_error_percent"] = 1e3 * dt, error
            found[f"{name}_{program}_tip_moves_mm"] = 1e3 * moves
            found[f"{name}_{program}_wall_per_second"] = octopus.wall(dt)
    shore = hs.System(hs.robots.octopus(ARMS, SEGMENTS), [*around, hs.Ground(), hs.Suckers()])
    crawling = hs.gaits.Crawl(heading=0.0)
    swaying = Mujoco(True, 0.15, 1.0)
    found["mujoco_dofs"] = swaying.model.nv
    for program, octopus, dt in (
        ("mujoco", swaying, 1e-2),
        ("native", Hydrostat(shore, crawling), 5e-3),
    ):
        found[f"crawl_{program}_dt_ms"] = 1e3 * dt
        found[f"crawl_{program}_wall_per_second"] = octopus.wall(dt)
    for name in ("sway", "swim", "crawl"):
        found[f"{name}_times_mujoco"] = (
            found[f"{name}_mujoco_wall_per_second"] / found[f"{name}_native_wall_per_second"]
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
