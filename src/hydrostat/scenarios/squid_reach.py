"""squid-reach: the squid's four limbs, one robot, at work in the sea by their tendons alone.

The grasper reaches over a bar among obstacles and wraps it; the palpation arm, drawn in by all its tendons, lets go
until its tip measures the set force of a wall; the camera arm points at the bar, and the light arm where the camera arm
points. `squid_reach_scene` has the things around, `squid_reach_plan` the tensions and the controllers,
`squid_reach_results` what is measured and drawn.
"""

import numpy as np

import hydrostat as hs
from hydrostat import exporting
from hydrostat.results import body_tubes, replay_scene
from hydrostat.scenarios.base import Outcome, Run
from hydrostat.scenarios.squid_reach_plan import cut_squid, plan
from hydrostat.scenarios.squid_reach_results import draw, drawn_scene, many_metrics, one_metrics, reached
from hydrostat.scenarios.squid_reach_scene import ReachScene, scenes

_ROW_SECONDS = 0.02
_SECTIONS = 4  # of a piece, of the rigid twin that is written with the scene


def reach(run: Run) -> Outcome:
    """Reach, wrap, press and look, in the standard scene or in some that are drawn."""
    settings, every, found = run.settings, run.steps_per_row(_ROW_SECONDS), []
    drawn = scenes(settings.scenes, run.seed)
    for i, scene in enumerate(drawn):
        with run.compiling("planning"):
            planned = plan(settings, scene)
        options = {"state": planned.start, "every": every, "stepper": hs.LinearImplicitEuler()}
        share = (i / len(drawn), (i + 1) / len(drawn))
        rows = run.simulate(
            planned.system, planned.pilots, settings.seconds, share=share, record=i == 0, label="reaching", **options
        )
        with run.compiling("examining contacts"):
            found.append(reached(rows, planned, scene))
    first, which = found[0], f"the first of {len(found)} scenes" if settings.scenes else "the standard scene"
    title = f"squid-reach: {run.limbed.name} in {which}"
    metrics = one_metrics(first, settings.press_n) if not settings.scenes else many_metrics(found, settings.press_n)
    tubes = body_tubes(run.limbed, len(first.rows))
    return Outcome(
        metrics,
        figure=lambda path: draw(path, found, settings.press_n, title),
        replay=lambda path: replay_scene(drawn_scene(first.rows), path, title, tubes=tubes),
        sim_seconds=len(found) * settings.seconds,
        dt=run.dt,
        steps=len(found) * round(settings.seconds / run.dt),
        files=_export(run, first.rows, drawn[0]),
    )


def _export(run: Run, rows: hs.Trajectory, scene: ReachScene) -> dict[str, str]:
    """The files of the squid as rigid bodies among the objects of the first scene, for MuJoCo in its last pose."""
    spec, pose = cut_squid(run.settings), [np.asarray(q[-1]) for q in rows.q]
    twins = [
        exporting.with_objects(exporting.make_twin(spec, _SECTIONS, chain), scene.shapes) for chain in exporting.CHAINS
    ]
    texts = {"mjcf": exporting.write_mjcf(twins[0], configurations=pose)[0], "urdf": exporting.write_urdf(twins[1])[0]}
    names = {"mjcf": "scene.xml", "urdf": "scene.urdf"}
    for kind, text in texts.items():
        (run.folder / names[kind]).write_text(text)
    return {f"scene_{kind}": str(run.folder / name) for kind, name in names.items()}
