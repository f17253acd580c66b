"""Chains of segments: poses against products of plain matrices, Jacobians against autodiff and finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hydrostat import SE3
from hydrostat.bodies import Arm, Material, Section
from hydrostat.lie import se3
from hydrostat.mechanics import kinematics
from hydrostat.segments import MODES, Arc, StrainSegment

EPS = np.finfo(float).eps
BASE = np.array([0.4, -0.7, 0.2, 0.3, -0.1, 0.5])  # a twist whose exp is a base pose of no special kind


def make_arm(lengths, modes=("bend_x", "bend_y"), base=BASE, **segments):
    n = len(lengths)
    return Arm(
        segments=StrainSegment(jnp.asarray(lengths), modes, **segments),
        section=Section(jnp.full(n, 0.02), jnp.full(n, 0.02)),
        material=Material(*(jnp.ones(n) for _ in range(4))),
        T_world_base=se3.exp(jnp.asarray(base)),
    )


# --- Poses


def elementary(axis, angle):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
    return T


def paper_segment(alpha, theta, length):
    """Boccolato's transformation, corrected: Ry(a) Rz(-b) Trans_y(L sinc b) Rz(-b) Ry(-a), the arm along Y."""
    b = theta / 2
    shift = np.eye(4)
    shift[1, 3] = length * np.sinc(b / np.pi)
    half = elementary("z", -b)
    return elementary("y", alpha) @ half @ shift @ half @ elementary("y", -alpha)


# Columns are the paper's X, Y, Z in our frame: x, z, -y.
OURS_PAPER = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], float)

LENGTHS = np.array([0.35, 0.3, 0.42])
SHAPES = np.radians(
    [
        [[30, 40], [-100, 70], [200, 110]],  # (azimuth, bend) of each segment
        [[0, 0], [0, 0], [0, 0]],
        [[90, 170], [0, 1e-6], [-45, 90]],
        [[120, 57.29577951308232], [240, 180], [0, 30]],
    ]
)


@pytest.fixture(scope="module")
def tentacle():
    return make_arm(LENGTHS)


@pytest.fixture(scope="module")
def shapes(tentacle):
    """The configurations of SHAPES, [shape, segment, coordinate]."""

    def of(azimuths, bends):
        arc = Arc(bends, azimuths, jnp.asarray(LENGTHS))
        return jax.vmap(lambda segment, arc: segment.from_arc(arc))(tentacle.segments, arc)

    return jnp.stack([of(jnp.asarray(shape[:, 0]), jnp.asarray(shape[:, 1])) for shape in SHAPES])


@pytest.fixture(scope="module")
def everything(tentacle, shapes):
    """All poses that the module offers, for all shapes as one batch, as matrices."""
    distances = jnp.array([0.0, 0.1, 0.35, 0.5, 0.65, 0.65 + 1e-12, 0.9, 1.07])

    def of(q):
        return {
            "ends": kinematics.segment_poses(tentacle, q).as_matrix(),
            "tip": kinematics.tip_pose(tentacle, q).as_matrix(),
            "nodes": kinematics.node_poses(tentacle, q, jnp.array([0.0, 0.25, 0.5, 1.0])).as_matrix(),
            "line": kinematics.centreline(tentacle, q, 4).as_matrix(),
            "points": jax.vmap(lambda d: kinematics.pose_at(tentacle, q, d).as_matrix())(distances),
        }

    return distances, {name: np.asarray(value) for name, value in jax.jit(jax.vmap(of))(shapes).items()}


def test_chain_is_the_product_of_the_papers_matrices(tentacle, everything):
    _, poses = everything
    # Lengths of about 1 m, products of three matrices of a dozen roundings each.
    bound = 30 * EPS
    for shape, ends, tip in zip(SHAPES, poses["ends"], poses["tip"], strict=True):
        T = tentacle.T_world_base.as_matrix()
        np.testing.assert_allclose(ends[0], T, atol=bound)
        for (alpha, theta), length, end in zip(shape, LENGTHS, ends[1:], strict=True):
            T = T @ OURS_PAPER @ paper_segment(alpha, theta, length) @ OURS_PAPER.T
            np.testing.assert_allclose(end, T, atol=bound)
        np.testing.assert_allclose(tip, T, atol=bound)


def test_nodes_lie_on_arcs_of_the_papers_formula(everything):
    _, poses = everything
    for i, shape in enumerate(SHAPES):
        for j, (alpha, theta) in enumerate(shape):
            for g, s in enumerate([0.0, 0.25, 0.5, 1.0]):
                part = OURS_PAPER @ paper_segment(alpha, s * theta, s * LENGTHS[j]) @ OURS_PAPER.T
                np.testing.assert_allclose(poses["nodes"][i, j, g], poses["ends"][i, j] @ part, atol=30 * EPS)


def test_centreline_nodes_and_points_agree(everything):
    distances, poses = everything
    assert poses["line"].shape == (len(SHAPES), 3 * 4 + 1, 4, 4)

    def close(a, b):
        np.testing.assert_allclose(a, b, rtol=0, atol=30 * EPS)

    close(poses["line"][:, 0], poses["ends"][:, 0])
    close(poses["line"][:, 4::4], poses["ends"][:, 1:])
    close(poses["line"][:, 1], poses["nodes"][:, 0, 1])
    close(poses["line"][:, 10], poses["nodes"][:, 2, 2])
    for d, T in zip(np.asarray(distances), np.moveaxis(poses["points"], 1, 0), strict=True):
        segment = min(int(np.searchsorted(np.cumsum(LENGTHS) - 1e-9, d)), 2)
        along = d - np.sum(LENGTHS[:segment])
        for i, shape in enumerate(SHAPES):
            alpha, theta = shape[segment]
            part = paper_segment(alpha, theta * along / LENGTHS[segment], along)
            expected = poses["ends"][i, segment] @ OURS_PAPER @ part @ OURS_PAPER.T
            # The point 1e-12 beyond a boundary may be reckoned to either side, where the curvature jumps.
            np.testing.assert_allclose(T[i], expected, atol=100 * EPS + (1e-11 if d == 0.65 + 1e-12 else 0))


def test_points_beyond_the_tip_go_on_along_the_arc(tentacle, shapes):
    q = shapes[0]
    beyond = kinematics.pose_at(tentacle, q, jnp.asarray(LENGTHS.sum() + 0.1)).as_matrix()
    alpha, theta = SHAPES[0, 2]
    rest = OURS_PAPER @ paper_segment(alpha, theta * 0.1 / LENGTHS[2], 0.1) @ OURS_PAPER.T
    np.testing.assert_allclose(beyond, kinematics.tip_pose(tentacle, q).as_matrix() @ rest, atol=60 * EPS)
    # Ends that are known already are used, not reckoned anew.
    moved = se3.exp(jnp.asarray([0.0, 0, 0, 1, 2, 3]))
    known = jax.vmap(lambda T: moved @ T)(kinematics.segment_poses(tentacle, q))
    shifted = kinematics.pose_at(tentacle, q, jnp.asarray(LENGTHS.sum() + 0.1), known).position
    np.testing.assert_allclose(shifted, beyond[:3, 3] + np.array([1, 2, 3]), atol=60 * EPS)


def test_straight_arm_points_along_z():
    arm = make_arm([0.1, 0.2, 0.3], base=np.zeros(6))
    tip = kinematics.tip_pose(arm, arm.straight())
    np.testing.assert_allclose(
        tip.as_matrix(), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.6], [0, 0, 0, 1]], atol=4 * EPS
    )


def test_more_segments_of_the_same_strain_change_nothing():
    # Coordinates are strains, so cutting a segment into ten leaves every point where it was.
    strain = np.array([1.2, -2.0, 0.7, 0.05, -0.1, 0.1])
    whole, cut = make_arm([0.5], MODES), make_arm([0.05] * 10, MODES)
    one = kinematics.tip_pose(whole, jnp.asarray(strain[None])).as_matrix()
    ten = kinematics.tip_pose(cut, jnp.asarray(np.tile(strain, (10, 1)))).as_matrix()
    np.testing.assert_allclose(one, ten, atol=50 * EPS)


# --- Jacobians


def twists_of(T, dT):
    """Body twists of a pose matrix T from its derivatives dT [4, 4, ...]."""
    rate = np.tensordot(np.linalg.inv(T), dT, 1)
    angular = np.stack([rate[2, 1] - rate[1, 2], rate[0, 2] - rate[2, 0], rate[1, 0] - rate[0, 1]]) / 2
    return np.concatenate([angular, rate[:3, 3]])


def random_case(n, modes, seed):
    """An arm of n unequal segments with rest strain and some coordinates locked, and a configuration."""
    random = np.random.default_rng(seed)
    k = len(modes)
    free = random.random((n, k)) > 0.3
    arm = make_arm(random.uniform(0.5, 1.5, n) / n, modes, free=free, rest_strain=0.1 * random.normal(size=(n, 6)))
    scale = np.where(np.arange(6) < 3, 2.0, 0.1)[[MODES.index(mode) for mode in modes]]
    return arm, scale * random.normal(size=(n, k)), free


CASES = {
    "one segment, six modes": (1, MODES),
    "three segments, two bends": (3, ("bend_x", "bend_y")),
    "twenty segments, six modes": (20, MODES),
}


@pytest.fixture(scope="module", params=CASES, ids=list(CASES))
def case(request):
    """An arm, its free mask, and everything about two configurations of it: a random one, and the unstrained one."""
    n, modes = CASES[request.param]
    arm, bent, free = random_case(n, modes, seed=n)
    configurations = np.stack([bent, np.zeros_like(bent)])

    def matrices(q):
        return kinematics.segment_poses(arm, q).as_matrix()[1:]

    @jax.jit
    @jax.vmap
    def evaluate(q):
        return {
            "poses": matrices(q),
            "derivatives": jax.jacfwd(matrices)(q),
            "body": kinematics.body_jacobians(arm, q),
            "tip": kinematics.tip_body_jacobian(arm, q),
            "world": kinematics.tip_world_jacobian(arm, q),
        }

    move = jax.jit(jax.vmap(matrices))
    results = {name: np.asarray(value) for name, value in evaluate(jnp.asarray(configurations)).items()}
    return configurations, free, results, lambda q: np.asarray(move(jnp.asarray(q)))


# Twists of arms of 1 m, through chains of up to 20 products.
JACOBIAN_BOUND = 200 * EPS


def test_body_jacobians_against_autodiff(case):
    configurations, _, results, _ = case
    n = configurations.shape[1]
    for poses, derivatives, body in zip(results["poses"], results["derivatives"], results["body"], strict=True):
        for i in range(n):
            np.testing.assert_allclose(body[i], twists_of(poses[i], derivatives[i]), rtol=0, atol=JACOBIAN_BOUND)
            # What comes after a point does not move it.
            assert np.all(body[i][:, i + 1 :] == 0)


def test_tip_jacobians_against_autodiff(case):
    _, _, results, _ = case
    for poses, derivatives, tip, world in zip(
        results["poses"], results["derivatives"], results["tip"], results["world"], strict=True
    ):
        np.testing.assert_allclose(tip, twists_of(poses[-1], derivatives[-1]), rtol=0, atol=JACOBIAN_BOUND)
        # In world axes: the rate of the position itself, and the angular velocity of R' R^T.
        np.testing.assert_allclose(world[3:], derivatives[-1][:3, 3], rtol=0, atol=JACOBIAN_BOUND)
        spin = np.einsum("abnk,cb->acnk", derivatives[-1][:3, :3], poses[-1][:3, :3])
        angular = np.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
        np.testing.assert_allclose(world[:3], angular, rtol=0, atol=JACOBIAN_BOUND)


def test_jacobians_against_differences(case):
    configurations, _, results, move = case
    h = 1e-5
    for q, poses, body in zip(configurations, results["poses"], results["body"], strict=True):
        steps = h * np.eye(q.size).reshape(q.size, *q.shape)
        differences = (move(q + steps) - move(q - steps)) / (2 * h)
        for i in range(len(q)):
            expected = twists_of(poses[i], np.moveaxis(differences[:, i], 0, -1)).reshape(6, *q.shape)
            # h^2 / 6 times a third derivative of at most 1 m^4, and the rounding of poses over h.
            np.testing.assert_allclose(body[i], expected, rtol=0, atol=h**2 + 50 * EPS / h)


def test_locked_coordinates_move_nothing(case):
    _, free, results, _ = case
    assert not np.all(free)
    assert np.all(results["body"][:, :, :, ~free] == 0)
    assert np.all(results["world"][:, :, ~free] == 0)
    # And every free one moves the tip.
    assert np.all(np.any(results["tip"][:, :, free] != 0, axis=1))


def test_batch_equals_loop(tentacle):
    def both(q):
        return kinematics.tip_pose(tentacle, q).as_matrix(), kinematics.tip_world_jacobian(tentacle, q)

    qs = jnp.asarray(np.random.default_rng(5).normal(size=(2, 3, 3, 2)) * 3)
    batch, one = jax.jit(jax.vmap(jax.vmap(both)))(qs), jax.jit(both)
    for i, j in np.ndindex(2, 3):
        for whole, single in zip(batch, one(qs[i, j]), strict=True):
            # The same sums in another order of instructions.
            np.testing.assert_allclose(whole[i, j], single, atol=20 * EPS)


def test_large_batches_are_the_same_piece_by_piece(tentacle):
    # More than two pieces of the size that is worked on together, and not a whole number of them.
    qs = jnp.asarray(np.random.default_rng(7).normal(size=(2100, 3, 2)) * 3)
    pieces = jax.jit(kinematics.tip_poses)(tentacle, qs)
    whole = jax.jit(jax.vmap(kinematics.tip_pose, in_axes=(None, 0)))(tentacle, qs)
    assert pieces.position.shape == (2100, 3)
    np.testing.assert_allclose(pieces.as_matrix(), whole.as_matrix(), atol=20 * EPS)


def test_moving_the_base_moves_everything_with_it(tentacle):
    random = np.random.default_rng(6)
    q = jnp.asarray(random.normal(size=(3, 2)) * 3)
    move = se3.exp(jnp.asarray([0.3, 1.2, -0.8, 2.0, -3.0, 1.0]))

    @jax.jit
    def evaluate(T_world_base):
        arm = Arm(tentacle.segments, tentacle.section, tentacle.material, T_world_base)
        line = kinematics.centreline(arm, q, 3)
        return line.as_matrix(), kinematics.tip_body_jacobian(arm, q), kinematics.tip_world_jacobian(arm, q)

    here, body, world = (np.asarray(x) for x in evaluate(tentacle.T_world_base))
    there, body_there, world_there = (np.asarray(x) for x in evaluate(move @ tentacle.T_world_base))
    bound = 60 * EPS  # positions of about 4 m
    np.testing.assert_allclose(there, np.asarray(move.as_matrix()) @ here, atol=bound)
    # What the body sees of itself does not change; world axes turn.
    np.testing.assert_allclose(body_there, body, atol=bound)
    turned = np.einsum("ab,vbnk->vank", move.rotation, world.reshape(2, 3, 3, 2)).reshape(6, 3, 2)
    np.testing.assert_allclose(world_there, turned, atol=bound)


def test_to_world_turns_rows_only():
    T = SE3(jnp.asarray(Rotation.from_euler("z", 90, degrees=True).as_matrix()), jnp.array([5.0, 6.0, 7.0]))
    world = kinematics.to_world(T, jnp.eye(6))
    # The node's own velocity: its place in the world does not enter.
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(world, np.kron(np.eye(2), quarter), atol=2 * EPS)
