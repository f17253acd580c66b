"""Panels of figures: curves that are all rounding stay flat, and others are not cut."""

import numpy as np
import pytest

from hydrostat.results import figures, panels

TIME = np.linspace(0.0, 1.0, 50)


@pytest.mark.parametrize("size, low, high", [(1e-8, -1.0, 1.0), (0.0, -1.0, 1.0), (30.0, -33.0, 33.0)])
def test_a_panel_reaches_as_far_from_zero_as_it_is_told(size, low, high):
    axes = figures.new_figure(4.0, 3.0).add_subplot()
    panels.draw_curves(axes, TIME, {"up": size * TIME, "down": -size * TIME}, "turn", "[deg]", least=1.0)
    assert axes.get_ylim() == pytest.approx((low, high), rel=1e-6)


def test_without_being_told_a_panel_fits_its_curve():
    axes = figures.new_figure(4.0, 3.0).add_subplot()
    panels.draw_curves(axes, TIME, 1e-8 * TIME)
    assert axes.get_ylim()[1] < 1e-7


def test_all_activations_have_one_scale_of_colours():
    figure = figures.new_figure(4.0, 3.0)
    for cell, size in enumerate((0.01, 0.9)):
        panels.draw_along_arm(figure.add_subplot(1, 2, cell + 1), 1.0, np.full((50, 20), size), "activation")
    images = [image for axes in figure.axes for image in axes.get_images()]
    assert {image.get_clim() for image in images} == {(0.0, 1.0)}
