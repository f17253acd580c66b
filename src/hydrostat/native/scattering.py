"""Numbers put into an array at given places."""

from itertools import product
from typing import Any

import numpy as np

from hydrostat.native.program import Eqn, NotLoweredError
from hydrostat.native.shaping import Shaping
from hydrostat.native.values import kind_of, known

_MOST_PLACES = 200
"""Largest number of values of a computed index, all of which are tried."""


class Scattering(Shaping):
    """Updates at places, for `Lowering`."""

    def _scatter(self, eqn: Eqn, combine) -> list:
        numbers = eqn.params["dimension_numbers"]
        operand, indices, updates = (self.entries(self.read(atom)) for atom in eqn.inputs)
        found = operand.copy()
        window = [d for d in range(operand.ndim)
                  if d not in (*numbers.inserted_window_dims, *numbers.operand_batching_dims)]  # fmt: skip
        batch = [d for d in range(updates.ndim) if d not in numbers.update_window_dims]
        for at in np.ndindex(*indices.shape[:-1]):
            place: list[Any] = [slice(None)] * updates.ndim
            for d, i in zip(batch, at, strict=True):
                place[d] = i
            part = np.empty([updates.shape[d] for d in numbers.update_window_dims], object)
            part[...] = updates[tuple(place)]
            sizes = [1] * operand.ndim
            for d, n in zip(window, part.shape, strict=True):
                sizes[d] = n
            both = zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)
            fixed = {d: at[i] for d, i in both}
            target = {d: indices[(*at, k)] for k, d in enumerate(numbers.scatter_dims_to_operand_dims)}
            self._put_window(found, part.reshape(sizes), {**fixed, **target}, eqn, combine)
        return [found]

    def _put_window(self, found: np.ndarray, part: np.ndarray, starts: dict[int, Any], eqn: Eqn, combine) -> None:
        """Put a part into an array, where it begins at places that are known or computed; outside nothing is put."""
        e, index = self.e, kind_of(eqn.inputs[1].dtype)
        kind = kind_of(eqn.outputs[0].dtype)
        most = [n - k for n, k in zip(found.shape, part.shape, strict=True)]
        choices = []
        for d in range(found.ndim):
            start = starts.get(d, 0)
            if known(start):
                choices.append([start] if 0 <= start <= most[d] else [])
            else:
                choices.append(list(range(most[d] + 1)))
        if np.prod([len(some) for some in choices]) > _MOST_PLACES:
            raise NotLoweredError("an update at any of many places")
        before = found.copy()
        for begin in product(*choices):
            here: Any = True
            for d, start in starts.items():
                if not known(start):
                    here = e.logic("and", "i1", here, e.compare("eq", index, start, begin[d]))
            for at in np.ndindex(*part.shape):
                to = tuple(a + b for a, b in zip(begin, at, strict=True))
                found[to] = e.select(kind, here, found[to], combine(before[to], part[at]))

    def _do_scatter(self, eqn: Eqn) -> list:
        return self._scatter(eqn, lambda old, new: new)

    def _do_scatter_add(self, eqn: Eqn) -> list:
        kind = kind_of(eqn.outputs[0].dtype)
        return self._scatter(eqn, lambda old, new: self.e.add(kind, old, new))

    def _do_scatter_mul(self, eqn: Eqn) -> list:
        kind = kind_of(eqn.outputs[0].dtype)
        return self._scatter(eqn, lambda old, new: self.e.mul(kind, old, new))
