"""What was timed, and how it is told: medians, 95th percentiles, ratios, a table in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Times:
    """Durations of one thing, in milliseconds."""

    ms: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> None:
        self.ms.append(seconds * 1000)

    @property
    def median(self) -> float:
        return statistics.median(self.ms)

    @property
    def p95(self) -> float:
        ranked = sorted(self.ms)
        return ranked[min(len(ranked) - 1, round(0.95 * (len(ranked) - 1)))]

    def __str__(self) -> str:
        return f"{_figure(self.median)} / {_figure(self.p95)}"


@dataclass(frozen=True)
class Line:
    """One line of the table.

    what     the cost as the owner would name it
    ours     median and 95th percentile, with a unit
    floor    the same of the bare operation, and what it is
    ratio    ours over the floor; None where the floor is nothing at all
    goal     what we want, in words
    met      whether that was so in this run
    why      where it was not: the reason
    """

    what: str
    ours: str
    floor: str
    ratio: float | None
    goal: str
    met: bool
    why: str = ""
    samples: int = 0


def compared(
    what: str,
    ours: Times,
    floor: Times,
    floor_is: str,
    *,
    most: float,
    why: str,
    most_p95: float = 0.0,
) -> Line:
    """Return the line of a thing that takes time.

    most       the ratio of the medians we want to stay within
    most_p95   our 95th percentile over the floor's median; 0: not asked for
    why        what the rest of the time goes into
    """
    ratio = ours.median / floor.median
    goal = f"≤ {most:g}×"
    met = ratio <= most
    if most_p95:
        goal += f", p95 ≤ {most_p95:g}×"
        met = met and ours.p95 / floor.median <= most_p95
    return Line(what, f"{ours} ms", f"{floor} ms: {floor_is}", ratio, goal, met, why, len(ours.ms))


def _figure(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(lines: Sequence[Line]) -> str:
    """Return the lines as a Markdown table."""
    rows = [
        "| cost | ours, median / p95 | floor, median / p95 | ratio | goal | met | n |",
        "| --- | --- | --- | ---: | --- | --- | ---: |",
    ]
    for line in lines:
        ratio = "–" if line.ratio is None else f"{line.ratio:.2f}×"
        met = "yes" if line.met else "**no**"
        cells = (line.what, line.ours, line.floor, ratio, line.goal, met, str(line.samples))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def reasons(lines: Sequence[Line]) -> str:
    """Return a list of what missed its goal, each with its reason."""
    missed = [f"- **{line.what}**: {line.why}" for line in lines if not line.met]
    return "\n".join(missed) or "Every goal was met in this run."
