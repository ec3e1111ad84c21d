#!/usr/bin/env python3
"""Runs the benchmark scenarios, peer by peer in turns, and prints tables of medians and what was reached of the targets.

The proxy has core 0, the load and the engine share core 1. Each measurement starts its processes anew, so that
memory is what this many streams cost. CPU is the scheduler's own count of the proxy's threads, while the load counts.
Exits 1 when a measurement came to nothing; the others are reported all the same.
"""

import argparse
import json
import pathlib
import shutil
import signal
import sys

import measure
import report
import scenarios
from peers import PEERS, Failed, facts


def in_turns(options, scenario, variants, measure_one):
    """Figures of each round by variant, None for a round that came to nothing; every variant has its turn in each."""
    runs = {variant: [] for variant in variants}
    for number in range(options.rounds):
        for variant in variants:
            print(f"{scenario}: round {number + 1} of {options.rounds}, {variant}", file=sys.stderr)
            try:
                runs[variant].append(measure_one(variant))
            except (Failed, OSError, ValueError) as reason:
                print(f"  failed: {reason}", file=sys.stderr)
                runs[variant].append(None)
    report.add_against_direct(runs)
    return runs


def run(options):
    """Yields each scenario with its rounds by variant, and the variant to compare with."""
    def seconds(at_most):
        return min(at_most, options.seconds)

    def short(load):
        return load[0], seconds(load[1]), load[2]

    proxies = [peer for peer in PEERS if peer != "direct"]
    for scenario, load in scenarios.LOADS.items():
        if options.only in scenario:
            yield scenario, in_turns(options, scenario, PEERS, lambda peer, load=load: measure.load(
                options, peer, *short(load))), "nginx"
    if options.only in scenarios.LEAVING:
        yield scenarios.LEAVING, in_turns(options, scenarios.LEAVING, PEERS, lambda peer: measure.leaving(
            options, peer, scenarios.LEAVING_STREAMS)), "nginx"
    if options.only in scenarios.IDLE:
        yield scenarios.IDLE, in_turns(options, scenarios.IDLE, proxies, lambda peer: measure.idle(
            options, peer, scenarios.IDLE_CONNECTIONS, seconds(scenarios.IDLE_SECONDS))), None
    if options.only in scenarios.WATCHED:
        yield scenarios.WATCHED, in_turns(options, scenarios.WATCHED, scenarios.WATCHED_BY, lambda name: measure.watched(
            options, scenarios.WATCHED_BY[name], *short(scenarios.WATCHED_LOAD))), "0 watchers"
    if options.only in scenarios.CHANGING:
        yield scenarios.CHANGING, in_turns(options, scenarios.CHANGING, scenarios.CHANGES, lambda name: measure.changing(
            options, scenarios.CHANGES[name], *short(scenarios.CHANGING_LOAD))), "no updates"


def write_report(options, rounds, bases):
    results = {scenario: {variant: report.medians(figures) for variant, figures in by_variant.items()}
               for scenario, by_variant in rounds.items()}
    shown = dict(results)
    if grown := report.growth(results):
        shown[scenarios.GROWTH] = grown
    tables = [report.table(scenario, by_variant, bases.get(scenario, "nginx"))
              for scenario, by_variant in shown.items()]
    known = {**facts(), "rounds": options.rounds, "longest load s": options.seconds, "watchers": options.watchers}
    text = "\n\n".join([report.targets_table(results), *tables,
                        ", ".join(f"{name}: {value}" for name, value in known.items())])
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(
        json.dumps({"facts": known, "medians": shown, "rounds": rounds}, indent=1) + "\n")
    (options.out / "results.md").write_text(text + "\n")
    (options.out / "cpu.svg").write_text(
        report.chart(results, scenarios.CPU, "CPU of the proxy per event or request"))
    (options.out / "transit.svg").write_text(
        report.chart(results, scenarios.P99, "Time of an event from engine to client, p99"))
    return text


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the built programs")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the tables and charts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=60, help="no load lasts longer")
    parser.add_argument("--quick", action="store_true", help="for a look: 2 rounds, 2 seconds")
    parser.add_argument("--watchers", type=int, default=1, help="clients that follow all of Sluice's events meanwhile")
    parser.add_argument("--only", default="", help="scenarios whose name holds this")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 2, 2
    options.watched_by = (options.watchers, 0)
    options.most_streams = scenarios.MOST
    return options


def main():
    options = parse_options()
    for program in ("nginx", "haproxy", "setpriv", "taskset"):
        if not shutil.which(program):
            sys.exit(f"bench: {program} is missing; scripts/bootstrap --bench installs it")
    # So that processes and folders of a run that is told to end go with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    rounds, bases, text = {}, {}, ""
    for scenario, by_variant, base in run(options):
        rounds[scenario], bases[scenario] = by_variant, base
        text = write_report(options, rounds, bases)  # after each, so that a run cut short leaves what it had
    if not text:
        sys.exit(f"bench: no scenario has \"{options.only}\" in its name")
    print(text)
    if any(figures is None for by_variant in rounds.values() for of in by_variant.values() for figures in of):
        sys.exit(1)


if __name__ == "__main__":
    main()
