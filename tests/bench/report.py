"""Tables of medians, what was reached of the targets, and charts."""

import statistics
from html import escape

from scenarios import ADDED, ERRORS, GROWTH, KERNEL_KIB, KERNEL_KIB_MORE, KIB, KIB_MORE, MOST, PACED, TARGETS, paced

COLORS = {"sluice": "#0b7285", "nginx": "#2b8a3e", "nginx 64k": "#8ce99a", "haproxy": "#e8590c"}


def add_against_direct(runs):
    """Adds to the figures of each round what the peer added to those that `direct` had in the same round."""
    for round_of_peers in zip(*runs.values()):
        direct = dict(zip(runs, round_of_peers)).get("direct")
        for figures in round_of_peers:
            for name, added in ADDED.items():
                if direct and figures and figures is not direct and figures.get(name) is not None:
                    figures[added] = figures[name] - direct[name]


def medians(rounds):
    """Of figures by name, of the rounds that came to something; of errors the most. None without such a round."""
    done = [figures for figures in rounds if figures]
    if not done:
        return None
    names = dict.fromkeys(name for figures in done for name in figures)
    values = {name: [figures[name] for figures in done if figures.get(name) is not None] for name in names}
    return {name: max(of_name) if name == ERRORS else statistics.median(of_name) if of_name else None
            for name, of_name in values.items()}


def growth(results):
    """What a further stream takes, between the fewest and the most paced streams; None when one was not run."""
    few, many = results.get(paced(PACED[0])), results.get(paced(MOST))
    if not few or not many:
        return None
    return {peer: {more: (many[peer][name] * MOST - few[peer][name] * PACED[0]) / (MOST - PACED[0])
                   for name, more in ((KIB, KIB_MORE), (KERNEL_KIB, KERNEL_KIB_MORE))}
            for peer in few if few[peer] and many.get(peer) and few[peer][KIB] is not None}


def number(value):
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.4f}"


def table(scenario, by_variant, base):
    """One row a variant; in brackets the ratio to the figures of `base`."""
    rows = {variant: row or {} for variant, row in by_variant.items()}
    names = [name for name in dict.fromkeys(name for row in rows.values() for name in row)
             if any(row.get(name) is not None for row in rows.values())]
    lines = [f"| {scenario} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    compared = rows.get(base)
    for variant, row in rows.items():
        cells = []
        for name in names:
            cell = number(row.get(name))
            if compared and variant != base and name != ERRORS and row.get(name) is not None and \
                    (compared.get(name) or 0) > 0:
                cell += f" (x{row[name] / compared[name]:.2f})"
            cells.append(cell)
        lines.append(f"| {variant}{'' if row else ': failed'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def reached(results):
    """Of each target that can be judged: itself, the figure or ratio, and whether it was met."""
    for target in TARGETS:
        by_variant = results.get(target.scenario, {})
        ours = (by_variant.get(target.who) or {}).get(target.figure)
        theirs = (by_variant.get(target.peer) or {}).get(target.figure) if target.peer else 1
        if ours is None or not theirs or theirs < 0:
            continue
        ratio = ours / theirs
        yield target, ratio, ratio >= target.wanted if target.least else ratio <= target.wanted


def targets_table(results):
    """What should be reached and was; scenarios that were not run are left out."""
    lines = ["| scenario | figure | target | reached | |", "|---|---|---|---|---|"]
    for target, ratio, met in reached(results):
        against = f" of {target.peer}" if target.peer else ""
        who = f", {target.who}" if target.who != "sluice" else ""
        lines.append(f"| {target.scenario}{who} | {target.figure} | at {'least' if target.least else 'most'} "
                     f"{target.wanted:g}{against} | {number(ratio)} | {'met' if met else '**missed**'} |")
    return "\n".join(lines)


def chart(results, figure, title):
    """A figure as a ratio to nginx's, as SVG bars; nginx is the line at 1."""
    rows = [(scenario, peer, (by_peer.get(peer) or {}).get(figure), (by_peer.get("nginx") or {}).get(figure))
            for scenario, by_peer in results.items() for peer in ("sluice", "nginx 64k", "haproxy")]
    rows = [(scenario, peer, ours / theirs) for scenario, peer, ours, theirs in rows if ours and theirs]
    left, scale, height = 370, 160, 18
    one = left + scale
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 4 * scale}" height="{height * len(rows) + 50}" '
             'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>',
             f'<text x="8" y="18">{escape(title)}, nginx = 1 (less is better)</text>']
    for index, (scenario, peer, ratio) in enumerate(rows):
        y = 32 + index * height
        width = max(0, min(ratio, 3.5)) * scale
        parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(scenario)}: {peer}</text>'
                     f'<rect x="{left}" y="{y}" width="{width:.0f}" height="{height - 4}" fill="{COLORS[peer]}"/>'
                     f'<text x="{left + width + 4:.0f}" y="{y + 12}">{ratio:.2f}</text>')
    parts.append(f'<line x1="{one}" y1="28" x2="{one}" y2="{32 + height * len(rows)}" stroke="{COLORS["nginx"]}"/></svg>')
    return "\n".join(parts) + "\n"
