"""Tables of medians, what was reached of the targets, and a chart."""

import statistics
from html import escape

from scenarios import CPU, FIRST_P50, FIRST_P99, KIB, P50, P99, RATE, TARGETS

COLORS = {"sluice": "#0b7285", "nginx": "#2b8a3e", "nginx 64k": "#8ce99a", "haproxy": "#e8590c"}


def figures_of_load(result):
    """The numbers of one load that go into the table; None where there are none."""
    transit, first = result["transit_us"], result["first_us"]
    events = result["events"] > 0
    return {CPU: result.get("cpu_us"), RATE: result["units_per_second"], FIRST_P50: first["p50"], FIRST_P99: first["p99"],
            P50: transit["p50"] if events else None, P99: transit["p99"] if events else None,
            KIB: result.get("kib_per_stream"), "kernel KiB a stream": result.get("kernel_kib_per_stream")}


def medians(runs):
    """Of runs that are figures by name."""
    return {name: statistics.median([run[name] for run in runs]) if runs[0][name] is not None else None
            for name in runs[0]}


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.4f}"


def table(scenario, by_peer, base):
    """One row a peer; in brackets the ratio of the first row's figures to those of `base`."""
    names = list(next(iter(by_peer.values())))
    lines = [f"| {scenario} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    compared = by_peer.get(base)
    for peer, row in by_peer.items():
        cells = []
        for name in names:
            cell = number(row[name])
            if compared and peer != base and row[name] is not None and compared[name]:
                cell += f" (x{row[name] / compared[name]:.2f})"
            cells.append(cell)
        lines.append(f"| {peer} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def targets_table(results):
    """What Sluice should reach and did; scenarios that were not run are left out."""
    lines = ["| target | at most | reached | |", "|---|---|---|---|"]
    for target in TARGETS:
        by_peer = results.get(target.scenario, {})
        ours = by_peer.get("sluice", {}).get(target.figure)
        theirs = by_peer.get(target.peer, {}).get(target.figure) if target.peer else 1
        if ours is None or not theirs:
            continue
        reached = ours / theirs
        against = f" of {target.peer}'s" if target.peer else ""
        lines.append(f"| {target.scenario}: {target.figure}{against} | {target.at_most:g} | {reached:.2f} | "
                     f"{'met' if reached <= target.at_most else '**missed**'} |")
    return "\n".join(lines)


def chart(results):
    """CPU per event or request as a ratio to nginx's, as SVG bars; nginx is the line at 1."""
    rows = [(scenario, peer, by_peer[peer][CPU] / by_peer["nginx"][CPU])
            for scenario, by_peer in results.items()
            for peer in ("sluice", "nginx 64k", "haproxy")
            if by_peer.get("nginx", {}).get(CPU) and by_peer.get(peer, {}).get(CPU)]
    left, scale, height = 330, 160, 18
    one = left + scale
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 4 * scale}" height="{height * len(rows) + 50}" '
             'font-family="sans-serif" font-size="12">',
             '<text x="8" y="18">CPU of the proxy per event or request, nginx = 1 (less is better)</text>']
    for index, (scenario, peer, ratio) in enumerate(rows):
        y = 32 + index * height
        width = min(ratio, 3.5) * scale
        parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(scenario)}: {peer}</text>'
                     f'<rect x="{left}" y="{y}" width="{width:.0f}" height="{height - 4}" fill="{COLORS[peer]}"/>'
                     f'<text x="{left + width + 4:.0f}" y="{y + 12}">{ratio:.2f}</text>')
    parts.append(f'<line x1="{one}" y1="28" x2="{one}" y2="{32 + height * len(rows)}" stroke="{COLORS["nginx"]}"/></svg>')
    return "\n".join(parts) + "\n"
