"""The scenarios of teleoperation, with their keys."""

from types import SimpleNamespace

from hydrostat.errors import InputError
from hydrostat.robots import AnySpec
from hydrostat.robots.checks import check_squid
from hydrostat.scenarios.keys import Key, Scenario


def _check_links(spec: AnySpec, settings: SimpleNamespace) -> None:
    """Refuse lists that do not say all of every link."""
    del spec
    counts = {name: len(getattr(settings, name)) for name in ("delay_s", "loss", "bandwidth_bps")}
    if len(set(counts.values())) != 1 or not counts["delay_s"]:
        said = ", ".join(f"{count} in `{name}`" for name, count in counts.items())
        raise InputError(f"every link needs a delay, a loss and a bandwidth; got {said}")
    shortest = min((delay for delay in settings.delay_s if delay > 0.0), default=settings.jitter_s)
    if settings.jitter_s > shortest:
        raise InputError(f"`jitter_s` must be at most the shortest delay, {shortest:g} s; got {settings.jitter_s:g}")


TELEOPERATION_SCENARIOS = (
    Scenario(
        name="teleop-link",
        summary="the squid's palpation limb driven by hand over poor links, through a local model and without",
        robot="squid",
        accepts="the built-in squid",
        check_robot=check_squid,
        limbed=True,
        check_settings=_check_links,
        function="hydrostat.scenarios.teleop_link:link",
        keys=(
            Key("delay_s", (0.0, 0.5, 1.0), "s", "of each link, in each direction", least=0.0, most=10.0,
                most_entries=8),
            Key("loss", (0.0, 0.1, 0.3), "", "share of lost packets of each link", least=0.0, most=0.9,
                most_entries=8),
            Key("bandwidth_bps", (0.0, 1e4, 5e3), "bit/s", "of each link in each direction; 0: no limit", least=0.0,
                most=1e12, most_entries=8),
            Key("jitter_s", 0.1, "s", "largest change of the delay, of links that have one", least=0.0, most=10.0),
            Key("softer_percent", 15.0, "%", "how much softer the limb is than both sides know; negative: stiffer",
                least=-50.0, most=50.0),
            Key("contact_stiffness", 40.0, "N/m", "of the obstacle (assumed)", least=5.0, most=1e4),
            Key("face_out_mm", 0.0, "mm", "by which the face is farther than 20 mm from where the hand starts",
                least=-15.0, most=25.0),
            Key("face_turn_deg", 0.0, "deg", "by which the face is turned about y, from where the limb is stiffest",
                least=-40.0, most=40.0),
            Key("force_scale", 25.0, "", "force on the hand over that on the limb", least=0.0, most=1e3),
            Key("seconds", 27.0, "s", "of each episode", least=27.0, most=600.0),
        ),
    ),
)  # fmt: skip
