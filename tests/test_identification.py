"""Identification: values from the record of a finer rod than the one that is fitted, and the bias of few arcs."""

import numpy as np
import pytest

import hydrostat as hs
from hydrostat.errors import InputError
from hydrostat.identification import TipModel, TipRecord, read_tip_heights
from hydrostat.robots import build_robot
from hydrostat.robots.specs.finger import finger

INTERVAL, ROWS = 0.02, 20
CURVATURE = -np.deg2rad(40.0) / 0.3


def start(pieces):
    return np.full((2 * pieces, 1), CURVATURE)


def record_of(pieces):
    """The record of a chain of many arcs, with a step that is an eighth of the model's."""
    system = hs.System(build_robot(finger().cut(pieces)))
    dt = INTERVAL / 32
    motion = hs.simulate(system, seconds=ROWS * INTERVAL, dt=dt, every=32, state=system.rest(start(pieces)))
    return TipRecord(INTERVAL, np.asarray(motion.tip)[1:, [0, 2]])


@pytest.mark.slow
def test_the_modulus_of_a_converged_rod_is_found_by_a_coarser_one():
    record = record_of(20)
    fits = {}
    for pieces in (1, 4):
        model = TipModel(finger().cut(pieces), start(pieces), INTERVAL, ROWS, 4)
        fits[pieces] = model.fit(record, [0.9, 1.5])
    # Two arcs are 5 % too stiff in the first frequency, and so 10 % in the modulus; the error falls with the square of
    # their number. The standard error knows nothing of it.
    off = {pieces: fit.factors[0] - 1.0 for pieces, fit in fits.items()}
    assert -0.15 < off[1] < -0.05
    assert abs(off[4]) < 0.02
    finer = TipModel(finger().cut(20), start(20), INTERVAL, ROWS, 8)
    bias = TipModel(finger().cut(4), start(4), INTERVAL, ROWS, 4).bias(fits[4].factors, finer)
    assert bias[0] == pytest.approx(off[4], abs=0.25 * abs(off[4]) + 2e-4)


class StubModel(TipModel):
    """A path that is linear in the logarithms, with an error of its own."""

    def __init__(self, error):
        self.error, self.slopes = error, np.random.default_rng(0).normal(size=(ROWS, 2, 2))

    def path(self, p):
        return self.slopes @ (np.asarray(p) + self.error)

    def path_and_slopes(self, p):
        return self.path(p), self.slopes


def test_the_bias_is_the_error_that_a_fit_to_a_better_model_makes():
    # The model's path leads that of the truth by 3 % and -20 % of its factors: fitted to it, it finds that much less.
    error = np.array([0.03, -0.2])
    model, truth = StubModel(error), StubModel(np.zeros(2))
    fit = model.fit(TipRecord(INTERVAL, truth.path(np.zeros(2))), [0.8, 2.0])
    assert np.log(fit.factors) == pytest.approx(-error, abs=1e-9)
    assert model.bias(fit.factors, truth) == pytest.approx(-error, abs=1e-9)


WEIGHTS = (0.0, 20.0, 100.0)


def test_measured_heights(tmp_path):
    file = tmp_path / "heights.csv"
    file.write_text("time,100,0\n0,0.2,0.2\n0.1,,0.1\n0.25,-0.1,0.0\n")
    found = read_tip_heights(str(file), WEIGHTS)
    assert found.time.tolist() == [0.0, 0.1, 0.25]
    np.testing.assert_array_equal(found.heights, [[0.2, np.nan, 0.2], [0.1, np.nan, np.nan], [0.0, np.nan, -0.1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold rows of numbers"),
        ("time,0\n", "must hold rows of numbers"),
        ("time\n0\n1\n", "must hold rows of numbers"),
        ("time,light\n0,1\n", "must hold rows of numbers"),
        ("time,0\n0,here\n", "must hold rows of numbers"),
        ("time,0\n0,1,2\n", "must hold rows of numbers"),
        ("time,50\n0,1\n", "has a column for 50 g; `tip_masses_g` has 0, 20, 100"),
        ("time,0\n0.1,1\n0.1,1\n", "ascending times"),
        ("time,0\n-1,1\n", "ascending times"),
        ("time,0\n,1\n", "ascending times"),
        ("time,0\n0,inf\n", "finite numbers"),
    ],
)
def test_malformed_heights_are_refused_in_one_line(text, message, tmp_path):
    file = tmp_path / "heights.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_tip_heights(str(file), WEIGHTS)
    assert "\n" not in str(caught.value)


def test_missing_heights_are_refused():
    with pytest.raises(InputError, match="could not be read: No such file"):
        read_tip_heights("/no/such/file.csv", WEIGHTS)
