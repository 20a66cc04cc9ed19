"""Draw plots as inline SVG by matplotlib, in colours that the page sets, so that they follow light, dark and print."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from smriti.receipts.report.view import Bars, Chart, Curves, Dots, Plot, Point
from smriti.receipts.report.words import visible

WIDE_IN = 7.2
NARROW_IN = 3.4
"""Widths in inches of the two drawings of each plot: for a desktop or paper, and for a phone."""

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_INK, _MUTED, _GRID = "#010101", "#020202", "#030303"
_SERIES = ("#0a0a01", "#0a0a02", "#0a0a03", "#0a0a04", "#0a0a05", "#0a0a06")
_VARIABLES = {
    _INK: "var(--ink)",
    _MUTED: "var(--muted)",
    _GRID: "var(--line)",
    **{color: f"var(--s{number})" for number, color in enumerate(_SERIES, 1)},
}
"""What is drawn in these colours gets the page's own; no other colour is drawn in."""
_BEFORE_AFTER = (_SERIES[0], _SERIES[1])
_APART = (*_SERIES[1:3], *_SERIES[4:], _SERIES[3], _SERIES[0])
_CREDIT = (_SERIES[4], _SERIES[1], _SERIES[2], _SERIES[3])
_MARKERS = ("o", "s", "D", "^", "v", "P")
_CHARACTER_IN = 0.079
_LONGEST = {True: 20, False: 44}
"""Characters of a label, narrow and wide; what is longer is cut, and is whole in the table."""
_SIZE = 9.0


def svg(chart: Chart, loud: str) -> tuple[str, str]:
    """Draw a plot for wide and for narrow pages; `loud` is written into it where its figures measure no memory system.

    The same chart gives the same bytes.
    """
    return _draw(chart, loud, narrow=False), _draw(chart, loud, narrow=True)


def _draw(chart: Chart, loud: str, *, narrow: bool) -> str:
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    name = f"plot-{chart.name}-{'narrow' if narrow else 'wide'}"
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "text.parse_math": False,  # a name with two dollar signs is a name
        "font.size": _SIZE,
        "font.family": "DejaVu Sans",  # which matplotlib brings along: the same everywhere
        "axes.facecolor": "none",
        "axes.edgecolor": _MUTED,
        "axes.labelcolor": _INK,
        "text.color": _INK,
        "xtick.color": _MUTED,
        "ytick.color": _MUTED,
        "ytick.labelcolor": _INK,
        "grid.color": _GRID,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    written = io.StringIO()
    with warnings.catch_warnings(), mpl.rc_context({**dict(mpl.rcParamsDefault), "backend": "svg", **settings}):
        figure = Figure(facecolor="none")
        FigureCanvasSVG(figure)
        match chart.plot:
            case Dots():
                _dots(figure, chart.plot, loud, narrow=narrow)
            case Bars():
                _bars(figure, chart.plot, loud, narrow=narrow)
            case Curves():
                _curves(figure, chart.plot, loud, narrow=narrow)
        # The text is written as text: a sign that this font lacks is one that the reader's fonts may have.
        warnings.filterwarnings("ignore", message="Glyph ")
        figure.savefig(written, format="svg", facecolor="none")
    return _finished(written.getvalue(), name, chart)


def _dots(figure: Any, plot: Dots, loud: str, *, narrow: bool) -> None:
    in_row = 1 if plot.connected else max(1, len(plot.series))
    pitch_in = max(0.25, 0.13 * in_row + 0.1)
    axes = _axes(figure, plot, [label for label, _ in plot.rows], pitch_in, loud, narrow=narrow)
    spread = 0.0 if plot.connected else 0.62 / in_row
    if plot.reference is not None:
        axes.axvline(plot.reference, color=_MUTED, linewidth=1.0, linestyle=(0, (2, 2)), zorder=1)
    for row, (_, points) in enumerate(plot.rows):
        if plot.connected:
            _way(axes, row, points)
        for each in points:
            at = row + spread * (each.series - (in_row - 1) / 2)
            _point(axes, plot, each, at)
    _limits(axes, plot, narrow=narrow)


def _colors(plot: Plot) -> tuple[str, ...]:
    if isinstance(plot, Bars):
        return _CREDIT
    return _BEFORE_AFTER if isinstance(plot, Dots) and plot.connected else _APART


def _apart(plot: Plot, series: int) -> tuple[str, str]:
    """Give the colour and the marker of a series: no two of up to 36 have the same of both."""
    colors = _colors(plot)
    if isinstance(plot, Bars):
        return colors[series], "s"
    if isinstance(plot, Dots) and plot.connected:
        return colors[series], "o"
    return colors[series % len(colors)], _MARKERS[(series + series // len(colors)) % len(_MARKERS)]


def _way(axes: Any, row: int, points: Sequence[Point]) -> None:
    (start, end) = (point.value for point in points)
    if start is not None and end is not None and start != end:
        axes.plot([start, end], [row, row], color=_BEFORE_AFTER[1], linewidth=2.2, zorder=2, solid_capstyle="butt")


def _point(axes: Any, plot: Dots, point: Point, at: float) -> None:
    color, marker = _apart(plot, point.series)
    if point.low is not None and point.high is not None:
        axes.plot([point.low, point.high], [at, at], color=color, linewidth=1.6, zorder=2, solid_capstyle="butt")
    if point.ceiling is not None:
        axes.plot(
            [point.ceiling], [at], color=_MUTED, marker="|", markersize=9, markeredgewidth=1.6, zorder=3, clip_on=False
        )
    if point.value is None:
        return
    # Where off and on are the same, the ring of the one stands around the other.
    ring = plot.connected and point.series == 0
    axes.plot(
        [point.value],
        [at],
        marker=marker,
        markersize=8.5 if ring else 5.2,
        markerfacecolor="none" if ring else color,
        markeredgecolor=color,
        markeredgewidth=1.4,
        linestyle="none",
        zorder=4,
        clip_on=False,
    )


def _bars(figure: Any, plot: Bars, loud: str, *, narrow: bool) -> None:
    axes = _axes(figure, plot, [label for label, _ in plot.rows], 0.25, loud, narrow=narrow)
    for row, (_, parts) in enumerate(plot.rows):
        ends = {True: 0.0, False: 0.0}
        for series, part in enumerate(parts):
            if part:
                axes.barh(row, part, left=ends[part > 0], height=0.62, color=_CREDIT[series], linewidth=0, zorder=3)
                ends[part > 0] += part
    axes.axvline(0.0, color=_MUTED, linewidth=1.0, zorder=4)
    axes.set_xlim(-1.02, 1.02)
    axes.set_xticks((-1.0, 0.0, 1.0) if narrow else (-1.0, -0.5, 0.0, 0.5, 1.0))
    axes.xaxis.set_major_formatter(lambda at, _: f"{abs(at):g}")


def _curves(figure: Any, plot: Curves, loud: str, *, narrow: bool) -> None:
    width, height, top = (NARROW_IN if narrow else WIDE_IN), 3.0, _top(plot, loud, narrow=narrow)
    figure.set_size_inches(width, height + top)
    axes = figure.add_axes((0.6 / width, 0.55 / (height + top), 1 - 0.8 / width, (height - 0.6) / (height + top)))
    _legend(figure, plot, loud, narrow=narrow)
    for number in range(len(plot.series)):
        color, marker = _apart(plot, number)
        known = [(k, row[number]) for k, row in zip(plot.at, plot.points, strict=True) if row[number].value is not None]
        axes.plot(
            [k for k, _ in known],
            [point.value for _, point in known],
            color=color,
            marker=marker,
            markersize=5.2,
            linewidth=1.6,
            zorder=3,
        )
        for k, point in known:
            if point.low is not None and point.high is not None:
                axes.plot([k, k], [point.low, point.high], color=color, linewidth=1.2, zorder=2)
    best = [
        (k, row[0].ceiling) for k, row in zip(plot.at, plot.points, strict=True) if row and row[0].ceiling is not None
    ]
    axes.plot([k for k, _ in best], [c for _, c in best], color=_MUTED, linestyle=(0, (4, 3)), linewidth=1.2, zorder=1)
    axes.set_xticks(plot.at)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(plot.across)
    axes.grid(axis="y", linewidth=0.8)
    axes.set_axisbelow(True)


def _axes(figure: Any, plot: Dots | Bars, labels: Sequence[str], pitch_in: float, loud: str, *, narrow: bool) -> Any:
    """Make axes with a row for each label, of a size that follows from their number and length alone."""
    shown = [_cut(visible(label), _LONGEST[narrow]) for label in labels]
    width = NARROW_IN if narrow else WIDE_IN
    left = 0.25 + _CHARACTER_IN * max(map(len, shown), default=0)
    top, bottom, rows = _top(plot, loud, narrow=narrow), 0.55, pitch_in * max(1, len(shown))
    height = top + rows + bottom
    figure.set_size_inches(width, height)
    axes = figure.add_axes((left / width, bottom / height, 1 - (left + 0.2) / width, rows / height))
    _legend(figure, plot, loud, narrow=narrow)
    axes.set_ylim(max(1, len(shown)) - 0.5, -0.5)
    axes.set_yticks(range(len(shown)), shown)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(visible(plot.axis), x=1.0, ha="right")
    axes.grid(axis="x", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    return axes


def _limits(axes: Any, plot: Dots, *, narrow: bool) -> None:
    if plot.unit:
        axes.set_xlim(-0.02, 1.02)
        ticks = (0.0, 0.5, 1.0) if narrow else (0.0, 0.25, 0.5, 0.75, 1.0)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        return
    found = [each for _, points in plot.rows for point in points for each in (point.value, point.low, point.high)]
    known = [each for each in found if each is not None and math.isfinite(each)]
    known.append(0.0)
    if plot.reference is not None:
        known.append(plot.reference)
    if plot.reference == 0.0:
        known += [-0.1, 0.1]  # differences of nothing but 0 have no scale of their own
    low, high = min(known), max(known)
    room = 0.04 * ((high - low) or 1.0)
    axes.set_xlim(low - room, high + room)
    axes.locator_params(axis="x", nbins=4 if narrow else 8)


def _top(plot: Plot, loud: str, *, narrow: bool) -> float:
    return 0.12 + 0.2 * len(_legend_lines(plot, loud, narrow=narrow))


def _legend_lines(plot: Plot, loud: str, *, narrow: bool) -> list[list[int]]:
    """Lay the names of the series into lines; an empty one is the line of `loud`."""
    lines: list[list[int]] = [[]] if loud else []
    room = (NARROW_IN if narrow else WIDE_IN) - 0.3
    used = room
    for number, name in enumerate(plot.series):
        width = 0.35 + _CHARACTER_IN * len(_cut(visible(name), _LONGEST[narrow]))
        if used + width > room:
            lines.append([])
            used = 0.0
        lines[-1].append(number)
        used += width
    return lines


def _legend(figure: Any, plot: Plot, loud: str, *, narrow: bool) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415

    width, height = figure.get_size_inches()
    for line, members in enumerate(_legend_lines(plot, loud, narrow=narrow)):
        y = 1 - (0.14 + 0.2 * line) / height
        if not members:
            figure.text(0.1 / width, y, loud.upper(), color=_INK, weight="bold", va="center")
        x = 0.15
        for number in members:
            name = _cut(visible(plot.series[number]), _LONGEST[narrow])
            color, marker = _apart(plot, number)
            ring = isinstance(plot, Dots) and plot.connected and number == 0
            mark = Line2D(
                [x / width],
                [y],
                marker=marker,
                markersize=8.0 if ring else 6.0,
                markerfacecolor="none" if ring else color,
                markeredgecolor=color,
                markeredgewidth=1.4,
                linestyle="none",
            )
            figure.add_artist(mark)
            figure.text((x + 0.12) / width, y, name, va="center")
            x += 0.35 + _CHARACTER_IN * len(name)


def _cut(label: str, most: int) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _finished(written: str, name: str, chart: Chart) -> str:
    """Name and describe the drawing, give its colours and fonts to the page, and make each id one of its own."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(written)  # noqa: S314  # drawn by matplotlib just now
    for parent in list(root.iter()):
        # A rule for every line of the drawing would be one for every line of the page.
        for foreign in (*parent.findall(f"{{{_SVG}}}style"), *parent.findall(f"{{{_SVG}}}metadata")):
            parent.remove(foreign)
    referred = set(re.findall(r'#([\w.-]+)["\)]', written))
    for element in root.iter():
        _adopt(element, name, referred)
    # The drawing scales with its box; its own size is the largest that it is good for.
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt", "role": "img"}
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    title = ET.Element(f"{{{_SVG}}}title", {"id": f"{name}-title"})
    title.text = visible(chart.title)
    described = ET.Element(f"{{{_SVG}}}desc", {"id": f"{name}-desc"})
    described.text = visible(chart.description)
    root[:0] = [title, described]
    return ET.tostring(root, encoding="unicode")


def _adopt(element: ET.Element, name: str, referred: set[str]) -> None:
    """Make the ids of an element those of this drawing alone, and its style the page's."""
    for attribute, found in list(element.attrib.items()):
        if attribute == "id" and found not in referred:
            del element.attrib[attribute]
        elif attribute == "id":
            element.set(attribute, f"{name}-{found}")
        elif attribute == f"{{{_XLINK}}}href":
            del element.attrib[attribute]
            element.set("href", f"#{name}-{found[1:]}")
        elif attribute == "style":
            element.set(attribute, _restyled(found))
        else:
            element.set(attribute, found.replace("url(#", f"url(#{name}-"))


def _restyled(style: str) -> str:
    for color, variable in _VARIABLES.items():
        style = style.replace(color, variable)
    # The page's own font, in matplotlib's size: `font: bold 9px 'DejaVu Sans', …` says both at once.
    parts = [part.strip() for part in style.split(";") if part.strip()]
    kept = []
    for part in parts:
        key, _, found = part.partition(":")
        if key.strip() == "font":
            size = re.search(r"[\d.]+px", found)
            kept.append(f"font-size: {size[0] if size else f'{_SIZE}px'}")
            if "bold" in found or re.search(r"\b[67]00\b", found):
                kept.append("font-weight: 700")
        elif key.strip() != "font-family":
            kept.append(part)
    return "; ".join(kept)
