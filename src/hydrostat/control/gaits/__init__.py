"""The central nervous system of an octopus: gaits that tell all arms together what to do.

A gait is a controller that is made in one line, without knowing the robot: `Crawl(heading=0.3)`. Attached to a system,
it finds out how the arms sit on the body; lengths that were found by trying scale with the arms' length.
"""

from hydrostat.control.anatomy import BodyPlan
from hydrostat.control.gaits.alternate import ALTERNATIONS, Alternation, pull_and_push, pull_by_outer_suckers
from hydrostat.control.gaits.base import STROKES, Stroke
from hydrostat.control.gaits.crawl import Crawl, Walk
from hydrostat.control.gaits.crawl_controller import CrawlController, CrawlMemory
from hydrostat.control.gaits.crawl_messages import CrawlBrain, CrawlBrainMemory
from hydrostat.control.gaits.forage import Forage, ForageController, ForageMemory
from hydrostat.control.gaits.jet import Jet, JetController
from hydrostat.control.gaits.stand import Stand
from hydrostat.control.gaits.swim import Beat, Swim, SwimController, SwimMemory
from hydrostat.control.gaits.turn import Turn, TurnController, TurnMemory, TurnStroke

__all__ = [
    "ALTERNATIONS",
    "STROKES",
    "Alternation",
    "Beat",
    "BodyPlan",
    "Crawl",
    "CrawlBrain",
    "CrawlBrainMemory",
    "CrawlController",
    "CrawlMemory",
    "Forage",
    "ForageController",
    "ForageMemory",
    "Jet",
    "JetController",
    "Stand",
    "Stroke",
    "Swim",
    "SwimController",
    "SwimMemory",
    "Turn",
    "TurnController",
    "TurnMemory",
    "TurnStroke",
    "Walk",
    "pull_and_push",
    "pull_by_outer_suckers",
]
