#!/usr/bin/env python3
"""Counts the system calls of the proxies per piece written, with strace, which slows them down: no times."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import scenarios
from measure import await_counting, clients, set_up

PEERS, SECONDS, TRACED_SECONDS = ("sluice", "nginx", "haproxy"), 5, 3
WRITES = ("sendto", "sendmsg", "writev")
CALLS = ("recvfrom", *WRITES, "epoll_wait", "epoll_ctl", "ioctl", "madvise", "futex", "write")


def traced(options, peer, streams, query):
    """Calls by name while the load runs."""
    with set_up(options, peer) as up, tempfile.NamedTemporaryFile("r") as counts, \
            clients(SECONDS, options.bin / "bench_load", up.port, streams, SECONDS, query) as child:
        await_counting(child)
        subprocess.run(["timeout", "-s", "INT", str(TRACED_SECONDS), "strace", "-f", "-c", "-U", "calls,name", "-o",
                        counts.name, "-p", str(up.pid)], stderr=subprocess.DEVNULL, check=False)
        calls = {}
        for line in pathlib.Path(counts.name).read_text().splitlines():
            fields = line.split()
            if len(fields) == 2 and fields[0].isdigit() and fields[1] != "total":
                calls[fields[1]] = int(fields[0])
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the built programs")
    options = parser.parse_args()
    options.watched_by, options.most_streams = (0, 0), scenarios.MOST
    if not shutil.which("strace"):
        sys.exit("bench: strace is missing; scripts/bootstrap --bench installs it")
    scenario = scenarios.paced(1000)
    streams, _, query = scenarios.LOADS[scenario]
    print(f"| {scenario}, calls per write | " + " | ".join(CALLS) + " |")
    print("|---" * (len(CALLS) + 1) + "|")
    for peer in PEERS:
        calls = traced(options, peer, streams, query)
        writes = max(1, sum(calls.get(name, 0) for name in WRITES))
        print(f"| {peer} | " + " | ".join(f"{calls.get(name, 0) / writes:.3f}" for name in CALLS) + " |")


if __name__ == "__main__":
    main()
