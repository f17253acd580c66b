"""The hierarchy of an octopus: a brain (CNS) sends few messages, arms (PNS) do the rest by themselves and report.

A `Message` says which motion an arm is to make, when it is to be complete, and its few parameters (Kang et al. 2012,
section 7). `Arm` turns it, with what the arm feels of itself, into the activation of all muscles, and answers by a
`Report`: how far it is, whether it is done or has failed, and what it holds. `Nerves` take time, and may lose what is
sent. `Commanded` gives orders by the clock; `gaits.Crawl(nerves=Nerves())` crawls in this way.
"""

from hydrostat.control.hierarchy.arms import Arm, ArmMemory
from hydrostat.control.hierarchy.brain import Brain, Order, Schedule
from hydrostat.control.hierarchy.controller import (
    Commanded,
    HierarchyController,
    HierarchyMemory,
    Outbox,
    Traffic,
    attached,
)
from hydrostat.control.hierarchy.messages import (
    DONE,
    IDLE,
    NO_HOLD,
    NOT_REACHED,
    TOO_LATE,
    UNDER_WAY,
    Message,
    Orders,
    Report,
    failed,
)
from hydrostat.control.hierarchy.motions import MOTIONS, Drive, GoalMotion, Moment, Motion
from hydrostat.control.hierarchy.nerves import NerveMemory, Nerves
from hydrostat.control.hierarchy.senses import Feeling, Senses

__all__ = [
    "DONE",
    "IDLE",
    "MOTIONS",
    "NOT_REACHED",
    "NO_HOLD",
    "TOO_LATE",
    "UNDER_WAY",
    "Arm",
    "ArmMemory",
    "Brain",
    "Commanded",
    "Drive",
    "Feeling",
    "GoalMotion",
    "HierarchyController",
    "HierarchyMemory",
    "Message",
    "Moment",
    "Motion",
    "NerveMemory",
    "Nerves",
    "Order",
    "Orders",
    "Outbox",
    "Report",
    "Schedule",
    "Senses",
    "Traffic",
    "attached",
    "failed",
]
