#!/usr/bin/env python3
"""Runs the benchmark scenarios, peer by peer in turns, and prints tables of medians and what was reached of the targets.

The proxy has core 0, the load and the engine share core 1. Each measurement starts its processes anew, so that
memory is what this many streams cost. CPU is the scheduler's own count of the proxy's threads, over the load's run.
"""

import argparse
import json
import pathlib
import shutil
import sys

import measure
import report
import scenarios
from peers import PEERS, versions


def in_turns(args, scenario, variants, measure_one):
    """Figures by variant, medians over rounds in which every variant has its turn."""
    runs = {variant: [] for variant in variants}
    for number in range(args.rounds):
        for variant in variants:
            print(f"{scenario}: round {number + 1} of {args.rounds}, {variant}", file=sys.stderr)
            runs[variant].append(measure_one(variant))
    return {variant: report.medians(of_variant) for variant, of_variant in runs.items()}


def run(args):
    """Yields each scenario with its figures by variant, and the variant to compare with."""
    proxies = [peer for peer in PEERS if peer != "direct"]
    for scenario, (streams, seconds, query) in scenarios.LOADS.items():
        if args.only in scenario:
            load = (streams, min(seconds, args.seconds), query)
            yield scenario, in_turns(args, scenario, PEERS, lambda peer, load=load: report.figures_of_load(
                measure.load(args, peer, *load))), "nginx"
    if args.only in scenarios.LEAVING:
        yield scenarios.LEAVING, in_turns(args, scenarios.LEAVING, PEERS, lambda peer: measure.leaving(
            args, peer, scenarios.LEAVING_STREAMS)), "nginx"
    if args.only in scenarios.IDLE:
        yield scenarios.IDLE, in_turns(args, scenarios.IDLE, proxies, lambda peer: measure.idle(args, peer)), None
    if args.only in scenarios.WATCHED:
        yield scenarios.WATCHED, in_turns(args, scenarios.WATCHED, scenarios.WATCHED_BY, lambda name: measure.watched(
            args, scenarios.WATCHED_BY[name], *scenarios.WATCHED_LOAD)), "0 watchers"


def write_report(args, results, bases):
    tables = [report.table(scenario, by_variant, bases[scenario]) for scenario, by_variant in results.items()]
    facts = {**versions(), "rounds": args.rounds}
    text = "\n\n".join([report.targets_table(results), *tables,
                        ", ".join(f"{name}: {value}" for name, value in facts.items())])
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps({"facts": facts, "medians": results}, indent=1) + "\n")
    (args.out / "results.md").write_text(text + "\n")
    (args.out / "cpu.svg").write_text(report.chart(results))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the built programs")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for results.md, results.json, cpu.svg")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=60, help="no load lasts longer, for a quick look")
    parser.add_argument("--watchers", type=int, default=1, help="clients that follow all of Sluice's events meanwhile")
    parser.add_argument("--only", default="", help="scenarios whose name holds this")
    args = parser.parse_args()
    args.watched_by = (args.watchers, 0)
    for peer in ("nginx", "haproxy"):
        if not shutil.which(peer):
            sys.exit(f"bench: {peer} is missing; scripts/bootstrap --bench installs it")

    results, bases, text = {}, {}, ""
    for scenario, by_variant, base in run(args):
        results[scenario], bases[scenario] = by_variant, base
        text = write_report(args, results, bases)  # after each, so that a run cut short leaves what it had
    print(text)


if __name__ == "__main__":
    main()
