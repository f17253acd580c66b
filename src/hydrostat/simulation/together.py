"""Several runs that advance together, so that their rows can be recorded side by side."""

from collections.abc import Callable, Iterator, Sequence

from hydrostat.errors import DivergedError
from hydrostat.results.trajectory import Trajectory
from hydrostat.simulation.simulate import Run
from hydrostat.system import State

_PIECE_ROWS = 250  # rows that are simulated before they are handed out, at most
_FINER = 4  # steps in place of one, where runs cannot go on with it


def compile_pieces(run: Run, state: State, rows: int) -> Trajectory:
    """Compile what `side_by_side` needs of a run with some rows after the first; gives one piece back for trials."""
    piece = _piece_rows(rows)
    trials = [run.compile(count * run.every * run.dt, state=state) for count in {piece, (rows - 1) % piece + 1}]
    return trials[0]


def _piece_rows(rows: int) -> int:
    """The number of rows of a piece: pieces are of equal size, but for the last."""
    return -(-rows // -(-rows // _PIECE_ROWS))


def side_by_side(
    runs: Sequence[Run],
    states: Sequence[State],
    rows: int,
    refinements: int = 0,
    on_refined: Callable[[float, float], None] | None = None,
) -> Iterator[list[Trajectory]]:
    """Advance runs of equal steps piece by piece; each item holds the same rows of all of them, the first row included.

    When one of them cannot go on, the rows that all of them have are handed out; then all go on with a quarter of the
    step, and its error is raised where that has been tried as often as allowed.

    **Arguments:** `states`: where each run starts; `rows`: of each run, after the first; `refinements`: how often the
    step may be divided; `on_refined`: gets the time [s] and the step [s] where that happens.
    """
    runs, states, piece, done, begun = list(runs), list(states), _piece_rows(rows), 0, False
    while done < rows:
        count = min(piece, rows - done)
        parts, failures = [], []
        for run, state in zip(runs, states, strict=True):
            found: list[Trajectory] = []
            try:
                run(count * run.every * run.dt, state=state, on_rows=found.append)
            except DivergedError as error:
                failures.append(error)
            parts.append(Trajectory.joined(found))
        # The first row of a piece is the last row of the piece before it.
        common = slice(1 if begun else 0, min(len(part) for part in parts))
        if common.stop > common.start:
            yield [part[common] for part in parts]
            begun = True
        states = [part[common.stop - 1 : common.stop].final for part in parts]
        done += common.stop - 1
        if failures:
            if refinements == 0:
                raise failures[0]
            refinements -= 1
            runs = [run.with_step(run.dt / _FINER, run.every * _FINER) for run in runs]
            if on_refined is not None:
                on_refined(float(states[0].time), runs[0].dt)
