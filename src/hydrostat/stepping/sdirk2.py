"""The second-order, singly diagonally implicit Runge-Kutta method: the default for stiff arms."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from hydrostat.mechanics.dynamics import Coordinates, factor, residual, solve
from hydrostat.stepping.base import AbstractStepper, Stepped, acting, combine, moved, positions, velocities

GAMMA = 1.0 - 0.5**0.5
"""Makes the method L-stable: Alexander (1977)."""
_HALVINGS = 6


class SDIRK2(AbstractStepper):
    """Two stages, each the root of the inverse dynamics R(q^ + c_q a, v^ + c_v a, a) = 0 in the accelerations a.

    c_v = gamma h, c_q = c_v^2. The root is found by iterating with the articulated recursion that holds mass, material
    damping and material stiffness; geometric stiffness is in R and so in the result, though not in the operator.
    A step that does not converge is made in smaller ones; `rescue=False` leaves that out, as differentiation in
    reverse mode needs.
    """

    tolerance: float = 1e-8
    """On the change that an iteration makes to a segment's strain times its length."""
    max_iterations: int = 40
    rescue: bool = eqx.field(default=True, static=True)
    order: ClassVar[int] = 2

    def step(self, model, state, time, dt, inputs) -> Stepped:
        """The state after one step of dt [s]."""
        if not self.rescue:
            return self._attempt(model, state, time, dt, inputs)

        # Halve until it converges, then go on with that step: 2^-_HALVINGS is the least.
        def going_on(carry):
            _, done, part, _, _ = carry
            return (done < 1.0) & (part > 0.75 * 0.5**_HALVINGS)

        def advance(carry):
            state, done, part, count, _ = carry
            new = self._attempt(model, state, time + done * dt, part * dt, inputs)
            good = new.converged
            state = jax.tree.map(lambda a, b: jnp.where(good, a, b), new.state, state)
            return (
                state,
                done + jnp.where(good, part, 0.0),
                jnp.where(good, part, 0.5 * part),
                count + new.iterations,
                good,
            )

        start = (state, jnp.asarray(0.0), jnp.asarray(1.0), jnp.asarray(0), jnp.asarray(True))
        new, done, _, count, _ = jax.lax.while_loop(going_on, advance, start)
        return Stepped(new, done >= 1.0, count)

    def _attempt(self, model, state, time, dt, inputs) -> Stepped:
        """One step without a safety net. The two stages are one loop, so that a stage is compiled once."""
        h, rest = GAMMA * dt, (1.0 - GAMMA) * dt
        x0, v0 = positions(state), velocities(state)

        def stage(carry, at):
            x_hat, v_hat, guess, converged, count = carry
            given = acting(model, state, time + at * dt, inputs)
            a, good, iterations = self._stage(model, x_hat, v_hat, h, given, guess)
            # What stage 2 starts from, had this been stage 1; and the step, had it been stage 2.
            v_stage = combine((1, v_hat), (h, a))
            v_next = combine((1, v0), (rest, a))
            x_next = combine((1, x0), (rest, v_stage), (h, v_next))
            x_stage = combine((1, x_hat), (h * h, a))
            return (x_next, v_next, a, converged & good, count + iterations), (x_stage, v_stage)

        nothing = Coordinates(jnp.zeros_like(state.q), jnp.zeros(6))
        start = (combine((1, x0), (h, v0)), v0, nothing, jnp.asarray(True), jnp.asarray(0))
        (*_, converged, count), (xs, vs) = jax.lax.scan(stage, start, jnp.array([GAMMA, 1.0]))
        x, v = jax.tree.map(lambda y: y[1], (xs, vs))
        return Stepped(moved(model, state, x, v), converged, count)

    def _stage(self, model, x_hat, v_hat, h, given, guess):
        """The accelerations of a stage, whether they were found, and after how many iterations."""
        c_v, c_q = h, h * h
        guess = jax.lax.stop_gradient(guess)
        factors = jax.lax.stop_gradient(factor(model, combine((1, x_hat), (c_q, guess)), c_v, c_q))
        lengths = jax.lax.stop_gradient(model.arm.segments.length)[:, None]

        def lacking(a):
            return residual(model, combine((1, x_hat), (c_q, a)), combine((1, v_hat), (c_v, a)), a, given)

        def correct(r):
            return solve(factors, jax.tree.map(jnp.negative, r))

        def size(delta):
            return c_q * jnp.maximum(jnp.max(jnp.abs(lengths * delta.q)), jnp.max(jnp.abs(delta.base)))

        def iterate(f, a):
            def going_on(carry):
                _, last, theta, count = carry
                # The error left is about the last change times theta / (1 - theta).
                left = last * jnp.maximum(theta / jnp.maximum(1.0 - theta, 1e-3), 0.1)
                return (left > self.tolerance) & (count < self.max_iterations) & jnp.isfinite(last)

            def improve(carry):
                a, last, _, count = carry
                delta = correct(f(a))
                now = size(delta)
                return combine((1, a), (1, delta)), now, jnp.where(count > 0, now / last, 0.5), count + 1

            start = (a, jnp.asarray(1e300), jnp.asarray(0.5), jnp.asarray(0))
            a, last, theta, count = jax.lax.while_loop(going_on, improve, start)
            left = last * jnp.maximum(theta / jnp.maximum(1.0 - theta, 1e-3), 0.1)
            good = (left <= self.tolerance) & jnp.isfinite(last)
            return a, (good, count)

        def tangent_solve(g, y):
            flat_y, unravel = ravel_pytree(y)

            def apply(flat):
                return ravel_pytree(g(unravel(flat)))[0]

            def by_iteration(matvec, b):
                # Richardson's iteration with the same operator; it converges as the stage did.
                def improve(_, x):
                    return x + ravel_pytree(correct(unravel(-(b - matvec(x)))))[0] * 1.0

                start = ravel_pytree(solve(factors, unravel(b)))[0]
                return jax.lax.fori_loop(0, self.max_iterations, improve, start)

            solution = jax.lax.custom_linear_solve(apply, flat_y, by_iteration, by_iteration)
            return unravel(solution)

        a, (good, count) = jax.lax.custom_root(lacking, guess, iterate, tangent_solve, has_aux=True)
        return a, good, count
