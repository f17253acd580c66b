"""The second-order, singly diagonally implicit Runge-Kutta method: the default for stiff arms."""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hydrostat.mechanics.dynamics import factor, residual, solve
from hydrostat.mechanics.motion import Coordinates, like_coordinates
from hydrostat.mechanics.robot import split
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, combine, moved, positions, velocities
from hydrostat.stepping.implicit import implicit_root
from hydrostat.stepping.momentum import Momentum, kept, momentum_of, outer_wrench

GAMMA = 1.0 - 0.5**0.5
"""The coefficient gamma that makes the method L-stable: Alexander (1977)."""
_HALVINGS = 6
_USUAL = 1e-3  # s, least step for which the tolerance holds as it is
_ROUNDING = 2.0**-49  # rad or m, where changes end: some roundings of a rotation, whose entries are of order one
_UNKNOWN = 0.5  # ratio of two changes where none is known yet
_LEAST = 0.01  # least share of a change that is taken to be left
_SHARES = (-3.0, 1.0)  # bounds of what Anderson's acceleration takes of the iteration before
_SLOWEST = 0.3  # ratio of two changes from where the operator is made anew: it costs as much as two iterations
_FASTEST = 0.1  # least ratio of two changes that is expected of a stage by the one before, where contact may come


class Memory(NamedTuple):
    """What a step of `SDIRK2` leaves for the next one."""

    first: Coordinates
    """The accelerations of its first stage."""
    second: Coordinates
    """The accelerations at its end."""
    known: Float[Array, ""]
    """1 where these accelerations are known, 0 where they are zeros: before the first step, and after a step that had
    to be made in smaller ones, within which they changed too fast to be extrapolated."""
    momentum: Momentum | None
    """The momentum at its end, where that is kept."""


class SDIRK2(AbstractStepper):
    """Two stages, each the root of the inverse dynamics R(q^ + c_q a, v^ + c_v a, a) = 0 in the accelerations a.

    c_v = gamma h, c_q = c_v^2. The root is found by iterating with the articulated recursion that holds mass and the
    local damping and stiffness of material, wires and surroundings, accelerated after Anderson (1965); geometric
    stiffness is in R and so in the result, though not in the operator. The iteration starts from accelerations that
    are extrapolated from the last two stages, unless contact may come and go. A step that does not converge is made in
    smaller ones; `rescue=False` leaves that out, as differentiation in reverse mode needs.
    """

    tolerance: float = 1e-8
    """Tolerance on the change that an iteration makes to a segment's strain times its length, for steps of 1 ms and
    more.

    For shorter ones it falls with the fourth power of the step, down to rounding, so that what the iteration leaves
    stays as small beside the error of the method, O(dt^3) a step in velocities.
    """
    max_iterations: int = 40
    rescue: bool = eqx.field(default=True, static=True)
    order: ClassVar[int] = 2

    def init(self, model, state, inputs, *, keep_momentum: bool = False) -> Memory:
        """The memory before the first step: accelerations that are not known, and the momentum."""
        none = like_coordinates(model)
        return Memory(none, none, jnp.zeros(()), momentum_of(model, state, inputs) if keep_momentum else None)

    def step(self, model, state, time, dt, inputs, *, keep_momentum: bool = False, memory=None) -> Stepped:
        """The state after one step of dt [s]."""
        # A position that is off by e leaves a velocity off by e / c_v; the method's own error of it is O(dt^3). Parts
        # of a step that is halved need no more than the whole.
        tolerance = self.tolerance * jnp.minimum(1.0, (dt / _USUAL) ** 4)
        if not self.rescue:
            return self._attempt(model, state, time, dt, inputs, tolerance, keep_momentum, memory)

        # Halve until it converges, then go on with that step: 2^-_HALVINGS is the least.
        def going_on(carry):
            _, _, done, part, _ = carry
            return (done < 1.0) & (part > 0.75 * 0.5**_HALVINGS)

        def advance(carry):
            state, memory, done, part, count = carry
            step = time + done * dt, part * dt
            new = self._attempt(model, state, *step, inputs, tolerance, keep_momentum, memory)
            good = new.converged
            state, held = jax.tree.map(lambda a, b: jnp.where(good, a, b), (new.state, new.memory), (state, memory))
            if memory is not None:
                whole = good & (part == 1.0)
                known = jax.tree.map(lambda y: jnp.where(whole, y, 0.0), held._replace(momentum=None))
                memory = known._replace(momentum=held.momentum)
            done, count = done + jnp.where(good, part, 0.0), count + new.iterations
            return state, memory, done, jnp.where(good, part, 0.5 * part), count

        start = (state, memory, jnp.asarray(0.0), jnp.asarray(1.0), jnp.asarray(0))
        new, memory, done, _, count = jax.lax.while_loop(going_on, advance, start)
        return Stepped(new, done >= 1.0, count, memory)

    def _attempt(
        self, model, state, time, dt, inputs, tolerance, keep_momentum: bool, memory: Memory | None
    ) -> Stepped:
        """One step without a safety net. The two stages are one loop, so that a stage is compiled once."""
        h, rest = GAMMA * dt, (1.0 - GAMMA) * dt
        x0, v0 = positions(state), velocities(state)
        x_first = combine((1, x0), (h, v0))
        stage_inputs = acting(model, state, time + GAMMA * dt, inputs)
        changing = _changing(model, stage_inputs)
        # In a flow, which slows everything, both stages do with one operator. A rod that swings freely needs one for
        # each. Where it can change at any time it is made within the loop, also at first: one copy of it is compiled.
        shared = not changing and stage_inputs.surroundings is not None
        # What has passed since the stage before, over what passed between that one and the one before it.
        none = like_coordinates(model)
        first, second, known = none, none, jnp.zeros(())
        smooth = memory is not None and not changing
        if memory is not None and smooth:
            first, second, known, _ = memory
        ratios = np.array([GAMMA / (1.0 - GAMMA), (1.0 - GAMMA) / GAMMA])
        # An operator for both stages is that of the middle of the step, as far as it is foreseen.
        half = 0.5 * dt
        x_half = combine((1, x0), (half, v0), (0.5 * half**2, second))
        factors = _operator(model, x_half, combine((1, v0), (half, second)), h, stage_inputs)
        if not shared:
            factors = jax.tree.map(jnp.zeros_like, factors)

        def stage(carry, of):
            x_hat, v_hat, last, before, theta, factors, converged, count = carry
            at, ratio = of
            guess = combine((1.0 + known * ratio, last), (-known * ratio, before)) if smooth else last
            stage_inputs = acting(model, state, time + at * dt, inputs)
            if not changing and not shared:
                at_guess = combine((1, x_hat), (h * h, guess)), combine((1, v_hat), (h, guess))
                factors = _operator(model, *at_guess, h, stage_inputs)
            made = (count > 0) if changing else None
            a, factors, theta, good, iterations = self._stage(
                model, x_hat, v_hat, h, stage_inputs, guess, theta, factors, made, tolerance
            )
            # What stage 2 starts from, had this been stage 1; and the step, had it been stage 2.
            v_stage = combine((1, v_hat), (h, a))
            v_next = combine((1, v0), (rest, a))
            x_next = combine((1, x0), (rest, v_stage), (h, v_next))
            x_stage = combine((1, x_hat), (h * h, a))
            wrench = outer_wrench(model, state, x_stage, v_stage, stage_inputs) if keep_momentum else jnp.zeros(6)
            carry = (x_next, v_next, a, last, theta, factors, converged & good, count + iterations)
            return carry, (x_stage, v_stage, wrench)

        start = (x_first, v0, second, first, jnp.asarray(_UNKNOWN), factors, jnp.asarray(True), jnp.asarray(0))
        stages = np.array([GAMMA, 1.0]), ratios
        (_, _, second, first, _, _, converged, count), (xs, vs, wrenches) = jax.lax.scan(stage, start, stages)
        x, v = jax.tree.map(lambda y: y[1], (xs, vs))
        momentum = None
        if keep_momentum:
            wrench = (1.0 - GAMMA) * wrenches[0] + GAMMA * wrenches[1]
            at_begin = None if memory is None else memory.momentum
            new, momentum = kept(model, state, x, v, dt, stage_inputs, wrench, at_begin)
        else:
            new = moved(model, state, x, v)
        if memory is not None:
            first, second = jax.lax.stop_gradient((first, second)) if smooth else (none, none)
            memory = Memory(first, second, jnp.ones(()) if smooth else known, momentum)
        return Stepped(new, converged, count, memory)

    def _stage(self, model, x_hat, v_hat, h, inputs, guess, theta, factors, made, tolerance):
        """The accelerations of a stage, their rate of convergence, whether they have converged, and after how many
        iterations.

        **Arguments:** `theta`: ratio of two changes in the stage before, which is about what it will be here;
        `factors`: of the operator; `made`: whether they have been made, None where they hold for the whole step.
        """
        c_v, c_q = h, h * h
        guess = jax.lax.stop_gradient(guess)
        fixed_model, fixed_inputs, fixed_x, fixed_v = jax.lax.stop_gradient((model, inputs, x_hat, v_hat))

        def operator(a):
            return _operator(model, combine((1, x_hat), (c_q, a)), combine((1, v_hat), (c_v, a)), h, inputs)

        def improve(carry):
            a, a_before, delta_before, factors, last, theta, count = carry
            stale = jnp.asarray(False)
            if made is not None:
                stale = ((theta > _SLOWEST) & (count > 1)) | ((count == 0) & ~made)
                factors = jax.lax.cond(stale, operator, lambda _: factors, a)
            x, v = combine((1, fixed_x), (c_q, a)), combine((1, fixed_v), (c_v, a))
            delta = solve(factors, jax.tree.map(jnp.negative, residual(fixed_model, x, v, a, fixed_inputs)))
            now = _size(fixed_model, delta, c_q)
            # Anderson's acceleration with one iteration before, unless that had another operator: from where the
            # change would be least on the line through both.
            turned = combine((1, delta), (-1, delta_before))
            share = _product(delta, turned) / jnp.maximum(_product(turned, turned), 1e-300)
            share = jnp.where((count > 0) & ~stale, jnp.clip(share, *_SHARES), 0.0)
            new = combine((1.0 - share, a), (share, a_before), (1.0 - share, delta), (share, delta_before))
            return new, a, delta, factors, now, jnp.where(count > 0, now / last, before), count + 1

        def found(last, theta):
            return (_left(last, theta) <= tolerance) | (last <= _ROUNDING)

        def going_on(carry):
            *_, last, theta, count = carry
            return ~found(last, theta) & (count < self.max_iterations) & jnp.isfinite(last)

        before = jax.lax.stop_gradient(theta if made is None else jnp.maximum(theta, _FASTEST))
        zero = jax.tree.map(jnp.zeros_like, guess)
        start = (guess, zero, zero, factors, jnp.asarray(1e300), before, jnp.asarray(0))
        root, _, _, factors, last, theta, count = jax.lax.while_loop(going_on, improve, start)
        good = found(last, theta)

        parameters = (model, x_hat, v_hat, h, inputs)
        return implicit_root((root, factors), parameters, _stage_residual, solve), factors, theta, good, count


def _operator(model, x, v, h, inputs):
    """The factors of the operator that a stage iterates with; no derivative goes through them."""
    model, x, v, h, inputs = jax.lax.stop_gradient((model, x, v, h, inputs))
    return factor(model, x, v, h, h * h, inputs)


def _stage_residual(a, parameters):
    """The residual of a stage at accelerations a."""
    model, x_hat, v_hat, h, inputs = parameters
    return residual(model, combine((1, x_hat), (h * h, a)), combine((1, v_hat), (h, a)), a, inputs)


def _left(last, theta):
    """An estimate of the error after an iteration: the last change times theta / (1 - theta), with a margin."""
    return last * jnp.maximum(2.0 * theta / jnp.maximum(1.0 - theta, 1e-3), _LEAST)


def _changing(model, inputs) -> bool:
    """Whether the operator can change much within a step: contact comes and goes, wires go slack."""
    by_length = any(arm.wires is not None and arm.wires.stiffness is not None for arm in model.each)
    return by_length or (inputs.surroundings is not None and inputs.surroundings.abrupt)


def _product(a, b):
    """The scalar product of coordinates."""
    return sum(jnp.sum(x * y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def _size(model, delta, c_q):
    """The largest change of a position: strains times lengths, and the base."""
    turns = [
        jnp.max(jnp.abs(arm.arm.segments.scale[:, None] * part))
        for arm, part in zip(model.each, split(model, delta.q), strict=True)
    ]
    return c_q * jnp.max(jnp.stack([*turns, jnp.max(jnp.abs(delta.base))]))
