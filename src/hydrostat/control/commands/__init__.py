"""The peripheral nervous system of a muscular arm: commands in words of motion, turned into activations of muscles.

A command is a controller that is made in one line, without knowing the robot: `Reach(azimuth=0.3)`. It says what the
arm does and how long that takes; attached to a system it gives the activation of every muscle of every segment, 0 to 1.
Commands can follow each other (`Sequence`), act at the same time (`Parallel`), and differ from arm to arm (`PerArm`).
`ReachTo`, `ReachAlong` and `FetchTo` answer to what the arm observes of itself, `Retrieve` and `Throw`
also to what it sees.
"""

from hydrostat.control.anatomy import Anatomy
from hydrostat.control.commands.base import Command, CommandController, part
from hydrostat.control.commands.combined import Parallel, PerArm, Sequence
from hydrostat.control.commands.contractions import Bend, Elongate, Shorten, Stiffen, Twist
from hydrostat.control.commands.feedback import FetchTo, ReachTo
from hydrostat.control.commands.holding import Grasp, Release
from hydrostat.control.commands.reaching import Fetch, Reach
from hydrostat.control.commands.retrieving import Retrieve
from hydrostat.control.commands.throwing import Throw
from hydrostat.control.commands.travelling import ReachAlong
from hydrostat.control.commands.whipping import Whip

__all__ = [
    "Anatomy",
    "Bend",
    "Command",
    "CommandController",
    "Elongate",
    "Fetch",
    "FetchTo",
    "Grasp",
    "Parallel",
    "PerArm",
    "Reach",
    "ReachAlong",
    "ReachTo",
    "Release",
    "Retrieve",
    "Sequence",
    "Shorten",
    "Stiffen",
    "Throw",
    "Twist",
    "Whip",
    "part",
]
