"""The limb that is driven: which one of a robot, how it is built, and what follows commands for it.

`find_limb` knows nothing of JAX and refuses what cannot be driven; `Limb` builds the plant and the follower.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hydrostat.errors import InputError, listed, shown
from hydrostat.robots import LimbedSpec, RobotSpec, find_robot
from hydrostat.robots.specs import squid as squid_specs

if TYPE_CHECKING:
    from hydrostat import Robot, System
    from hydrostat.surroundings import AbstractShape
    from hydrostat.teleoperation.following import AbstractFollower

_PIECES = 2  # of each segment of a limb with tendons
_TENDON_FORCE = 2000.0  # N: tension per strain of a tendon with its motor, of limbs of soft rubber; assumed
_TENDON_DAMPING_TIME = 0.3  # s: damping over stiffness of a motor; assumed
_LEAST, _MOST = 0.4, 20.0  # N, of a limb of soft rubber
_BENDING = 0.5  # rad, of the first segment of a limb that cannot be stretched, at the start
_BENT = 0.3  # of a turn per length, that the limb has at the start
_GAIN = 0.3  # 1/s
_POSTURE = 0.3  # 1/s
_CO_CONTRACTION = 0.2
CONTACT = {"stiffness": 40.0, "damping": 5.0, "friction": 0.3, "slip_speed": 5e-3, "onset": 2e-4}
"""Contact with obstacles, of soft tissue; all assumed. `stiffness` [N/m], `damping` [s/m], `slip_speed` [m/s], `onset`
[m]."""


def find_limb(name_or_file: str, limb: str = "") -> "Limb":
    """The limb of a robot by name or of a file.

    **Arguments:** `limb`: which one, of robots with several; the palpation limb of the squid, else the first, when not
    given.
    """
    spec = find_robot(name_or_file)
    if isinstance(spec, RobotSpec):
        if limb:
            raise InputError(f"{spec.name} is a single arm; leave out the limb, {shown(limb)}")
        return Limb(spec, None)
    # The squid's paper anchors four tendons at the tip; with four at every segment its segments bend apart.
    body = squid_specs.squid(tendons="segments") if spec.name == "squid" else spec
    names = [one.name for one in body.limbs]
    chosen = limb or ("palpation" if "palpation" in names else names[0])
    if chosen not in names:
        raise InputError(f"`limb` of {spec.name} must be one of {listed(names)}; got {shown(limb)}")
    return Limb(body.limb(chosen).arm, body)


@dataclass(frozen=True)
class Limb:
    """One limb that can be driven by its tip."""

    spec: RobotSpec
    body: LimbedSpec | None
    """The robot that it is a limb of; None for a single arm."""

    def __post_init__(self):
        if not (self.spec.tendons or self.spec.muscles or self.spec.legs):
            raise InputError(f"{self.spec.name} has nothing to drive it by: neither tendons, muscles nor legs")

    @property
    def name(self) -> str:
        """The name of the limb."""
        return self.spec.name

    @property
    def drive(self) -> str:
        """What a command sets: length, activation or torque."""
        return "length" if self.spec.tendons else "activation" if self.spec.muscles else "torque"

    @property
    def length(self) -> float:
        """The length at rest [m]."""
        return sum(segment.length for segment in self.spec.segments)

    @property
    def _soft(self) -> float:
        """Tendons' forces over those of a limb of soft rubber: bending stiffness over the tendons' offset."""
        if not self.spec.tendons or self.body is not None:
            return 1.0
        offset = max(max(tendon.offset) for tendon in self.spec.tendons)
        radius = max(self.spec.segments[0].radius)
        bend = self.spec.material.youngs_modulus * radius**4 / (offset * self.length)
        reference = squid_specs.ECOFLEX.youngs_modulus * squid_specs.RADII[0] ** 4
        return bend / (reference / (squid_specs.TENDON_OFFSET * squid_specs.LENGTH))

    @property
    def _bend_tension(self) -> float:
        """The tension that bends the first segment by a radian [N]: E I / (offset length)."""
        first, offset = self.spec.segments[0], max(self.spec.tendons[0].offset)
        return self.spec.material.youngs_modulus * np.pi / 4.0 * max(first.radius) ** 4 / (offset * first.length)

    @cached_property
    def _wet(self) -> bool:
        """Whether the limb is one of an animal or vehicle of the sea."""
        return self.body is not None or self.spec.muscles is not None

    def robot(self, drive: str | None = None, **options: Any) -> "Robot":
        """The limb as a robot, its base where the body holds it.

        **Arguments:** `drive`: tension or length, of limbs with tendons; `options`: as those of `build_robot`.
        """
        from hydrostat.robots import build_robot, limb_on_body

        arm = self.spec
        if self.spec.tendons:
            # A segment that cannot be stretched is an arc by its tendons alone: pieces of it hardly differ.
            arm = arm.cut(_PIECES) if any("stretch" in one.modes for one in arm.segments) else arm
            options["drive"] = drive or "length"
            if options["drive"] == "length":
                options["wire_stiffness"] = _TENDON_FORCE * self._soft
        built = limb_on_body(self.body, arm, **options) if self.body else build_robot(arm, free=False, **options)
        return _damped(built) if options.get("drive") == "length" else built

    def system(self, shapes: "Sequence[AbstractShape]") -> "System":
        """The limb in its surroundings, among obstacles."""
        import hydrostat as hs

        sea = (hs.Water(squid_specs.WATER, added_mass=1.0),) if self._wet else ()
        return hs.System(self.robot(), [*sea, hs.Obstacles(hs.ContactLaw(**CONTACT), list(shapes))])

    @cached_property
    def follower(self) -> "AbstractFollower":
        """The inverse kinematics of the limb as it is known."""
        import jax.numpy as jnp

        from hydrostat.teleoperation.following import TendonFollower

        reach = jnp.asarray(0.1 * self.length)
        if not self.spec.tendons:
            return _shape_follower(self, reach)
        known, wires = self._known("tension"), self.robot().one.wires
        assert wires is not None
        assert wires.stiffness is not None
        least, most = (jnp.asarray(x * self._soft) for x in (_LEAST, _MOST))
        return TendonFollower(
            robot=known,
            stiffness=wires.stiffness,
            damping_time=jnp.asarray(_TENDON_DAMPING_TIME),
            least=least,
            most=most,
            gain=jnp.asarray(_GAIN),
            most_correction=reach,
        )

    def statics_model(self, drive: str = "length") -> "Robot":
        """The limb for statics under the lengths of its tendons, or under their tension."""
        return self._known(drive)

    def _known(self, drive: str | None = None, **options: Any) -> "Robot":
        """The limb for statics: in water its weight is less."""
        import equinox as eqx
        import jax.numpy as jnp

        robot, density = self.robot(drive, **options), self.spec.material.density
        down = -9.81 * (1.0 - squid_specs.WATER / density) if self._wet else -9.81
        return eqx.tree_at(lambda r: r.gravity, robot, jnp.array([0.0, 0.0, down]))

    def home(self) -> np.ndarray:
        """The coordinates of the shape at the start, from which the tip can go anywhere."""
        import jax.numpy as jnp

        from hydrostat.mechanics.robot import no_inputs
        from hydrostat.mechanics.statics import equilibrium

        if self.spec.tendons:
            robot = self._known("tension")
            tension = _LEAST * self._soft * jnp.ones(len(self.spec.tendons))
            if not any("stretch" in one.modes for one in self.spec.segments):
                # A straight limb that cannot be stretched cannot move its tip along its axis.
                tension = tension.at[0].add(_BENDING * self._bend_tension)
            return np.asarray(equilibrium(robot, no_inputs(robot)._replace(wires=tension)).q)
        robot = self.robot()
        q = np.array(robot.arm.straight())
        if self.spec.muscles:
            q[:, 0] += _BENT * 2.0 * np.pi / self.length
        return q


def straight_lengths(robot: "Robot"):
    """The lengths of the tendons of a straight limb (w,) [m]."""
    from hydrostat.mechanics.wires import wire_lengths

    return wire_lengths(robot.one, robot.arm.straight())


def _damped(robot: "Robot") -> "Robot":
    """The limb with motors that damp."""
    import equinox as eqx

    wires = robot.one.wires
    assert wires is not None
    assert wires.stiffness is not None
    return eqx.tree_at(lambda r: r.arms.wires.damping, robot, _TENDON_DAMPING_TIME * wires.stiffness)


def _shape_follower(limb: Limb, reach) -> "AbstractFollower":
    """The follower of an arm whose muscles or legs act on every segment."""
    import equinox as eqx
    import jax.numpy as jnp

    from hydrostat.control import KnownArm
    from hydrostat.mechanics import single_arm
    from hydrostat.surroundings import Water
    from hydrostat.teleoperation.following import ShapeFollower

    system = limb.system([])
    known = KnownArm.of(system)
    arm = known.arm
    light = eqx.tree_at(
        lambda m: (m.damping, m.stiffness, m.tissue, m.muscles),
        arm,
        (jnp.zeros_like(arm.damping), jnp.zeros_like(arm.stiffness), None, None),
        is_leaf=lambda x: x is None,
    )
    light = dataclasses.replace(light, constant_volume=False)
    carried = None if known.water is None else known.water.entrained()
    water = None if carried is None else Water(carried.density, normal=0.0, tangential=0.0, added_mass=1.0)
    bare = KnownArm(single_arm(light, gravity=jnp.zeros(3)), water)
    length = arm.arm.segments.length[:, None]
    rest = jnp.asarray(limb.home())
    if limb.spec.muscles:
        turning = jnp.array([mode != "stretch" for mode in arm.arm.segments.modes])
        ease, span = jnp.where(turning, 1.0 / length**2, 0.1), jnp.where(turning, 0.6 / length, 0.3)
        rate = 8.0
    else:
        turning = jnp.arange(6) < 3
        ease, span = jnp.where(turning, 1.0, 0.3 * length**2), jnp.where(turning, 0.4, 0.2 * length)
        rate = 15.0
    base = arm.arm.straight()
    return ShapeFollower(
        known=known,
        bare=bare,
        ease=ease,
        rest=rest,
        low=base - span,
        high=base + span,
        rate=jnp.asarray(rate),
        posture=jnp.asarray(_POSTURE),
        stiffen=jnp.full(arm.arm.count, _CO_CONTRACTION),
        gain=jnp.asarray(_GAIN),
        most_correction=reach,
    )
