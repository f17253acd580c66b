"""The trajectory of a system: the result of a rollout or a simulation, and the quantities derived from it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from hydrostat.errors import InputError
from hydrostat.lie import SE3
from hydrostat.mechanics.robot import PerArm
from hydrostat.results import analysis, labels, rows
from hydrostat.results.labels import Variables
from hydrostat.results.trajectory_recorder import TrajectoryRecorder
from hydrostat.surroundings.water import Water
from hydrostat.system import Control, State, System

if TYPE_CHECKING:
    import xarray


class Trajectory(eqx.Module):
    """The motion of a system, row by row; every quantity of a row belongs to the time of that row.

    The row is the leading axis of all arrays. What is a quantity of each arm has the arm next, unless there is but a
    single arm: (rows, arm, ...). Of unequal arms, quantities of segments are a tuple, one array for each arm; tips
    and other quantities of equal shape have the arm as an axis there too.

    What is derived is computed anew each time it is asked for, by functions that are compiled once for each system:
    keep it in a variable where it is used often. Within `jax.jit`, `jax.vmap` and `jax.grad` it is traced; else it
    comes as NumPy arrays.

        traj[10:20]            rows 10 to 19, a trajectory
        traj[-1]               the state of the last row
        traj.between(1.0, 2.0) the rows from 1 s to 2 s
    """

    system: System
    state: State
    control: Control
    """Control of each row during the step that ended there; zeros in the first row."""
    memory: Any
    """Memory of the controller, after the step that ended there."""
    converged: Bool[Array, " rows"]
    """Whether the steps up to the row, since the row before, have converged."""
    iterations: Int[Array, " rows"]
    """Number of iterations that these steps took together."""

    # Rows.

    def __len__(self) -> int:
        return self.state.time.shape[0]

    def __getitem__(self, index) -> Any:
        """The state of a row, or the trajectory of some rows."""
        if isinstance(index, int | np.integer):
            if not -len(self) <= index < len(self):
                raise IndexError(f"a trajectory of {len(self)} rows has no row {index}")
            return jax.tree.map(lambda y: y[index], self.state)
        return self._replaced(lambda y: y[index])

    def __iter__(self):
        """The states of all rows, one by one."""
        return (self[i] for i in range(len(self)))

    def _replaced(self, function) -> "Trajectory":
        """The trajectory with function(array) in the place of every array of rows."""
        arrays = (self.state, self.control, self.memory, self.converged, self.iterations)
        return Trajectory(self.system, *jax.tree.map(function, arrays))

    def between(self, begin: float, end: float) -> "Trajectory":
        """The rows from one time to another [s], both included."""
        time = np.asarray(self.time)
        # Times are sums of steps: a row that lies on the border but for rounding is within.
        slack = 1e-9 * max(float(np.max(np.abs(time), initial=0.0)), 1e-300)
        first, last = np.searchsorted(time, [begin - slack, end + slack])
        if first == last:
            raise InputError(
                f"no row lies between {begin:g} s and {end:g} s; rows go from {time[0]:g} to {time[-1]:g} s"
            )
        found = self[first:last]
        assert isinstance(found, Trajectory)
        return found

    @property
    def final(self) -> State:
        """The state of the last row."""
        return jax.tree.map(lambda y: y[-1], self.state)

    @staticmethod
    def of_states(system: System, state: State, control: Control | None = None) -> "Trajectory":
        """States that were not stepped, such as equilibria under a growing load, as rows; a single state as one row."""
        state = jax.tree.map(jnp.asarray, state)
        held = Control() if control is None else control
        if not state.time.ndim:
            state, held = jax.tree.map(lambda y: y[None], (state, held))
        count = state.time.shape[0]
        return Trajectory(system, state, held, (), jnp.ones(count, bool), jnp.zeros(count, int))

    @staticmethod
    def joined(parts: "Sequence[Trajectory]") -> "Trajectory":
        """Trajectories of one system, one after another."""
        if not parts:
            raise InputError("`parts` must hold at least one trajectory; got none")
        arrays = [(part.state, part.control, part.memory, part.converged, part.iterations) for part in parts]
        traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arrays))
        concatenate = jnp.concatenate if traced else rows.concatenated
        return Trajectory(parts[0].system, *jax.tree.map(lambda *y: concatenate(y), *arrays))

    # What has been integrated.

    @property
    def time(self) -> Any:
        """Times of the rows [s]."""
        return rows.plain(self.state.time)

    @property
    def q(self) -> PerArm:
        """Coordinates of the segments (rows[, arm], n, k)."""
        return rows.plain(self.state.q)

    @property
    def v(self) -> PerArm:
        """Rates of the coordinates (rows[, arm], n, k)."""
        return rows.plain(self.state.v)

    @property
    def activation(self) -> PerArm:
        """Activation of every muscle (rows[, arm], n, m), 0 to 1."""
        return rows.plain(self.state.activation)

    @property
    def body_pose(self) -> SE3:
        """Pose of the body; of a single arm the pose of its base."""
        return rows.plain(self.state.base_pose)

    @property
    def body(self) -> Float[Array, "rows 3"]:
        """Position of the body's origin [m]."""
        return self.body_pose.position

    @property
    def body_twist(self) -> Float[Array, "rows 6"]:
        """Twist of the body, (angular, linear) in its own axes [rad/s, m/s]."""
        return rows.plain(self.state.base_twist)

    @property
    def body_velocity(self) -> Float[Array, "rows 3"]:
        """Velocity of the body's origin, in world axes [m/s]."""
        return self.derived(rows.body_velocity)

    @property
    def yaw(self) -> Any:
        """Yaw of the body: the angle of its x axis about the vertical, without jumps [rad]."""
        R = self.body_pose.rotation
        unwrap, angle = (jnp.unwrap, jnp.arctan2) if isinstance(R, Tracer) else (np.unwrap, np.arctan2)
        return unwrap(angle(R[:, 1, 0], R[:, 0, 0]))

    # Where the arms are.

    @property
    def tip_pose(self) -> SE3:
        """Poses of the tips (rows[, arm])."""
        return self.derived(rows.tip_pose)

    @property
    def tip(self) -> Float[Array, "rows *arm 3"]:
        """Positions of the tips [m]."""
        return self.tip_pose.position

    @property
    def shape(self) -> PerArm:
        """The ends of the segments: poses and radii (rows[, arm], n + 1), the base first."""
        return self.derived(rows.shape)

    @property
    def points(self) -> PerArm:
        """Positions of the ends of the segments, the base first (rows[, arm], n + 1, 3) [m]."""
        return self.derived(rows.points)

    def centreline(self, points_per_segment: int = 8) -> PerArm:
        """Poses and radii along the arms, the base first: (rows[, arm], n g + 1) with g points per segment."""
        return self.derived(rows.Centreline(points_per_segment))

    @property
    def bend(self) -> PerArm:
        """Bend angle of each segment (rows[, arm], n) [rad]."""
        return self.derived(rows.bend)

    @property
    def stretch(self) -> PerArm:
        """Length of each segment over that at rest (rows[, arm], n)."""
        return self.derived(rows.stretch)

    # What drives, and what is held.

    @property
    def tension(self) -> PerArm:
        """Tension of every tendon (rows[, arm], w) [N]."""
        return self.derived(rows.tension)

    @property
    def held(self) -> PerArm:
        """Indicator of segments whose suckers hold the ground (rows[, arm], n)."""
        return self.derived(rows.held)

    @property
    def taken(self) -> PerArm:
        """Indicator of segments whose suckers hold a free object (rows[, arm], n)."""
        return self.derived(rows.taken)

    @property
    def sucker_pull(self) -> PerArm:
        """Largest tension of the suckers of each segment (rows[, arm], n) [N]."""
        return self.derived(rows.sucker_pull)

    @property
    def objects(self) -> Float[Array, "rows o 3"]:
        """Positions of the free objects [m]."""
        return self.derived(rows.objects).position

    @property
    def object_motion(self) -> rows.Object:
        """Position [m], rotation and velocity [m/s] of the free objects (rows, o)."""
        return self.derived(rows.objects)

    @property
    def thrust(self) -> Float[Array, "rows 3"]:
        """Thrust of the jet, in world axes [N]."""
        return self.derived(rows.thrust)

    # Forces.

    def contact_force(self, *kinds: type) -> PerArm:
        """The force of the surroundings on every contact node, in world axes (rows[, arm], nodes, 3) [N].

        **Arguments:** `kinds`: parts of the surroundings, such as `Ground`, `ArmContact`, `Ball`, `Obstacles`, and
        also `Suckers`; the first four when none is named. Water touches no contact node: see `drag_force`.
        """
        if Water in kinds:
            raise InputError("water does not act at the contact nodes of arms; ask for `drag_force`")
        return self.derived(analysis.NodeForce(kinds or analysis.CONTACTS))

    def drag_force(self) -> PerArm:
        """Drag and lift of the water at every flow node, in world axes (rows[, arm], nodes, 3) [N].

        Flow nodes are the Gauss points of the segments. Buoyancy is not in it.
        """
        return self.derived(analysis.NodeForce((Water,), "flow"))

    def body_force(self, *kinds: type) -> Float[Array, "rows 3"]:
        """The force of the surroundings on the body, in world axes [N].

        **Arguments:** `kinds`: as for `contact_force`, and `Water`, of which it is the drag.
        """
        return self.derived(analysis.BodyForce(kinds or analysis.CONTACTS))

    # Energy and momentum.

    def energy(self) -> analysis.Energies:
        """Kinetic, elastic and gravitational energy of the robot, and their sum `total` (rows,) [J]."""
        return self.derived(analysis.energy)

    def power(self) -> Float[Array, " rows"]:
        """Power of actuators, loads and surroundings on the robot [W]; its energy changes by this less
        `dissipation`."""
        return self.derived(analysis.power)

    def dissipation(self) -> Float[Array, " rows"]:
        """The power that the material turns into heat [W]."""
        return self.derived(analysis.dissipation)

    @property
    def muscle_power(self) -> Float[Array, " rows"]:
        """Mechanical power of all muscles [W]."""
        return self.derived(analysis.muscle_power)

    def momentum(self) -> Float[Array, "rows 6"]:
        """Angular momentum about the world's origin and linear momentum, in world axes [kg m^2/s, kg m/s]."""
        return self.derived(analysis.momentum)

    def mean_power(self) -> Float[Array, " rows"]:
        """Power less dissipation in the mean over the step that ended at each row, as SDIRK2 sums it [W].

        For trajectories with a row for every step.
        """
        return self.derived(analysis.mean_power)

    def energy_balance_error(self) -> float:
        """Largest difference between the change of energy and the work done on the robot, over the work of its muscles.

        For trajectories with a row for every step, stepped by SDIRK2.
        """
        return analysis.balance_error(self.time, self.energy().total, self.mean_power(), self.muscle_power)

    # Volume, and what is in what.

    @property
    def pressure(self) -> PerArm:
        """Pressure that keeps the volume of each segment (rows[, arm], n) [Pa]; zero where it is kept exactly."""
        return self.derived(analysis.pressure)

    @property
    def volume_error(self) -> Float[Array, " rows"]:
        """Largest relative error of a segment's volume."""
        return self.derived(analysis.volume_error)

    @property
    def mesh_volume(self) -> Float[Array, "rows *arm"]:
        """Volume within the surface through the rims of the segments' ends [m^3]."""
        return self.derived(analysis.mesh_volume)

    def mesh_volume_error(self) -> float:
        """Largest change of the volume within that surface, over that of the first row."""
        volume = np.asarray(self.mesh_volume)
        return float(np.max(np.abs(volume / volume[0] - 1.0)))

    @property
    def ground_depth(self) -> Float[Array, " rows"]:
        """Largest depth of the robot in the ground, over the local radius; negative above it."""
        return self.derived(analysis.ground_depth)

    @property
    def object_overlap(self) -> Float[Array, "rows o"]:
        """Largest depth of arms in each free object, over their local radius; negative while apart."""
        return self.derived(analysis.object_overlap)

    @property
    def body_overlap(self) -> Float[Array, " rows"]:
        """Largest depth of arms in their body, beyond their bases, over their local radius."""
        return self.derived(analysis.body_overlap)

    # Files and pictures.

    def to_xarray(self, variables: Variables = None) -> "xarray.Dataset":
        """The trajectory as a labelled Dataset, with units, descriptions and coordinates.

        **Arguments:** `variables`: names of `labels.QUANTITIES`, or "all"; a default set when not given. Of unequal
        arms, what the shorter ones lack is not a number.
        """
        return labels.dataset(self, variables)

    def to_netcdf(self, path: str | os.PathLike[str], variables: Variables = None) -> Path:
        """Write that Dataset as one NetCDF file."""
        labels.dataset(self, variables).to_netcdf(path)
        return Path(path)

    def save(self, folder: str | os.PathLike[str], variables: Variables = None, attributes=None) -> Path:
        """Write that Dataset as a result folder, which `hydrostat.load` opens; the folder must not hold one yet."""
        with TrajectoryRecorder(folder, self.system, len(self), variables=variables, attributes=attributes) as recorder:
            recorder.append(self)
        return Path(folder)

    def plot(self, path: str | os.PathLike[str] | None = None, title: str | None = None):
        """Draw the robot at several moments, and its quantities over time: a figure, with a path also as a file."""
        from hydrostat.results.plotting import plot

        return plot(self, path, title)

    def replay(self, path: str | os.PathLike[str], title: str | None = None, **options) -> Path:
        """Write the motion as one HTML file that plays in a browser.

        **Arguments:** `options`: `lines`, `tubes`, what else is to be seen, of `hydrostat.viewer`, row by row as the
        trajectory; `min_radius`, of arms as they are drawn [m], for those too thin to be seen.
        """
        from hydrostat.results.replaying import replay

        return replay(self, path, title, **options)

    def show(self, title: str | None = None, height: int = 480) -> Any:
        """The motion as the value of a cell of a notebook, in a frame of some height [pixels]."""
        from hydrostat.results.showing import show

        return show(self, title, height)

    def video(self, path: str | os.PathLike[str], title: str | None = None, **options) -> Path:
        """Write the motion as an MP4 file; `options` are those of `hydrostat.results.film`."""
        from hydrostat.results.filming import film

        return film(self, path, title, **options)

    # Any function of rows.

    def derived(self, function: rows.RowFunction) -> Any:
        """The values of function(system, row) for every row, a tree of arrays; a function of the top level of a
        module."""
        return self.all_derived(function)[0]

    def all_derived(self, *functions: rows.RowFunction) -> tuple:
        """The values of several row functions, compiled and computed together."""
        if not len(self):
            raise InputError("this trajectory has no rows; nothing can be derived from it")
        return rows.of_rows(self.system, self.state, self.control, *functions)
