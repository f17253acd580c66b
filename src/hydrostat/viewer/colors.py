"""Colours of a live scene, red, green and blue from 0 to 255, and scales from quantities to colours."""

import numpy as np

SKIN = (196, 104, 88)
ARMS = ((214, 96, 77), (62, 128, 146), (230, 162, 60), (120, 122, 180))
"""Colours of unequal arms, one after another."""
BODY = (186, 98, 84)
FIN = (216, 148, 128)
PREY = (70, 130, 190)
OBSTACLE = (150, 146, 136)
LONGITUDINAL = (255, 221, 64)
"""Colour of a longitudinal or oblique muscle that is fully activated."""
RADIAL = (72, 160, 255)
"""Colour of a radial muscle that is fully activated."""
SUCKER = (238, 214, 200)
HOLDS_GROUND = (46, 214, 130)
HOLDS_OBJECT = (255, 140, 26)
SLACK, TIGHT = (120, 136, 150), (235, 64, 44)
"""Colours of a tendon without tension, and of one with the largest tension so far."""
LEG, RING = (104, 108, 116), (40, 118, 128)
"""Colours of the legs and of the rings of a chain of platforms."""
CURRENT = (86, 160, 214)
FORCE = (226, 64, 160)
TRAIL = (128, 134, 144)
TARGET = (40, 170, 90)


def mixed(low: tuple | np.ndarray, high: tuple | np.ndarray, share: np.ndarray) -> np.ndarray:
    """Colours [..., 3] between two, from `low` where the share [...] is 0 to `high` where it is 1."""
    share = np.clip(np.asarray(share, float), 0.0, 1.0)[..., None]
    return np.round((1.0 - share) * np.asarray(low) + share * np.asarray(high)).astype(np.uint8)


def of_instances(shades: np.ndarray) -> np.ndarray:
    """Colours of the instances of a batched mesh, which the page takes as amounts of light, not as it takes others."""
    share = shades / 255.0
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)


def css(color: tuple) -> str:
    """A colour as a style sheet writes it."""
    return f"rgb({color[0]},{color[1]},{color[2]})"
