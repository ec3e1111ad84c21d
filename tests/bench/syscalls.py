#!/usr/bin/env python3
"""Counts the system calls of Sluice and nginx per piece written, with strace, which slows both down: no times."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import scenarios
from measure import set_up
from peers import LOAD_CORE

SECONDS, TRACED_SECONDS = 6, 3
CALLS = ("recvfrom", "sendto", "sendmsg", "writev", "epoll_wait", "epoll_ctl", "ioctl", "madvise", "futex", "write")


def traced(args, peer, streams, query):
    """Calls by name while the load runs."""
    with set_up(args, peer) as (port, pid), tempfile.NamedTemporaryFile("r") as counts:
        load = subprocess.Popen(["taskset", "-c", LOAD_CORE, args.bin / "bench_load", str(port), str(streams),
                                 str(SECONDS), query], stdout=subprocess.DEVNULL)
        time.sleep(1.5)
        subprocess.run(["timeout", "-s", "INT", str(TRACED_SECONDS), "strace", "-f", "-c", "-U", "calls,name", "-o",
                        counts.name, "-p", str(pid)], stderr=subprocess.DEVNULL, check=False)
        load.wait()
        calls = {}
        for line in pathlib.Path(counts.name).read_text().splitlines():
            fields = line.split()
            if len(fields) == 2 and fields[0].isdigit() and fields[1] != "total":
                calls[fields[1]] = int(fields[0])
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the built programs")
    args = parser.parse_args()
    args.watched_by = (0, 0)
    if not shutil.which("strace"):
        sys.exit("bench: strace is missing; scripts/bootstrap --bench installs it")
    scenario = scenarios.paced(1000)
    streams, _, query = scenarios.LOADS[scenario]
    print(f"| {scenario}, calls per write | " + " | ".join(CALLS) + " |")
    print("|---" * (len(CALLS) + 1) + "|")
    for peer in ("sluice", "nginx"):
        calls = traced(args, peer, streams, query)
        writes = max(1, sum(calls.get(name, 0) for name in ("sendto", "sendmsg", "writev")))
        print(f"| {peer} | " + " | ".join(f"{calls.get(name, 0) / writes:.3f}" for name in CALLS) + " |")


if __name__ == "__main__":
    main()
