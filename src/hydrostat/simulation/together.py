"""Several runs that advance together, so that their rows can be recorded side by side."""

from collections.abc import Iterator, Sequence

from hydrostat.errors import DivergedError
from hydrostat.results.trajectory import Trajectory
from hydrostat.simulation.simulate import Run
from hydrostat.system import State

_PIECE_ROWS = 250  # rows that are simulated before they are handed out, at most


def compile_pieces(run: Run, state: State, rows: int) -> Trajectory:
    """Compile what `side_by_side` needs of a run with some rows after the first; gives one piece back for trials."""
    piece = _piece_rows(rows)
    trials = [run.compile(count * run.every * run.dt, state=state) for count in {piece, (rows - 1) % piece + 1}]
    return trials[0]


def _piece_rows(rows: int) -> int:
    """The number of rows of a piece: pieces are of equal size, but for the last."""
    return -(-rows // -(-rows // _PIECE_ROWS))


def side_by_side(runs: Sequence[Run], states: Sequence[State], rows: int) -> Iterator[list[Trajectory]]:
    """Advance runs of equal steps piece by piece; each item holds the same rows of all of them, the first row included.

    When one of them cannot go on, the rows that all of them have are handed out before its error is raised.

    **Arguments:** `states`: where each run starts; `rows`: of each run, after the first.
    """
    states, piece = list(states), _piece_rows(rows)
    for done in range(0, rows, piece):
        count = min(piece, rows - done)
        parts, failures = [], []
        for i, run in enumerate(runs):
            found: list[Trajectory] = []
            try:
                run(count * run.every * run.dt, state=states[i], on_rows=found.append)
            except DivergedError as error:
                failures.append(error)
            parts.append(Trajectory.joined(found))
            states[i] = parts[-1].final
        # The first row of a piece is the last row of the piece before it.
        common = slice(1 if done else 0, min(len(part) for part in parts))
        if common.stop > common.start:
            yield [part[common] for part in parts]
        if failures:
            raise failures[0]
