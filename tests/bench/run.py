#!/usr/bin/env python3
"""Runs the benchmark scenarios, proxy by proxy in turns, and prints a table of ratios against nginx.

The proxy has core 0, the load and the engine share core 1. Each measurement starts its processes anew, so that
memory is what this many streams cost. CPU is the scheduler's own count of the proxy's threads, over the load's run.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

PROXY_CORE, LOAD_CORE = "0", "1"

# name: streams, seconds, query of bench_engine
SCENARIOS = {
    "saturation, 1 event a write": (64, 5, "events=20000&bytes=180"),
    "saturation, 32 events a write": (64, 5, "events=20000&bytes=180&burst=32"),
    "1,000 streams, 10 events/s each": (1000, 8, "events=100000&bytes=180&interval_us=100000"),
    "2,000 streams, 10 events/s each": (2000, 8, "events=100000&bytes=180&interval_us=100000"),
    "unary JSON, 32 connections": (32, 5, "unary=400"),
}

LEAVING = "clients leave silent streams"

# What watchers cost the streams. Shorter than the 10 s after which the gateway ends one that takes nothing.
WATCHED = "watchers, 1,000 streams, 10 events/s each"
WATCHED_LOAD = (1000, 8, "events=100000&bytes=180&interval_us=100000")
# name: watchers that read, watchers that are stuck
WATCHED_BY = {"0 watchers": (0, 0), "1 watcher": (1, 0), "1 stuck watcher": (0, 1), "50 watchers, half stuck": (25, 25)}

NGINX_CONF = """
worker_processes 1; daemon off; pid {dir}/nginx.pid; error_log {dir}/error.log;
worker_rlimit_nofile 65536;
events {{ worker_connections 30000; }}
http {{
  access_log off; keepalive_requests 10000000; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi; uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  upstream engine {{ server 127.0.0.1:{engine}; keepalive 256; keepalive_requests 10000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_read_timeout 600s;
    }}
  }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"bench: {what} did not come up")
        time.sleep(0.02)


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def process(core, *command, stdout=subprocess.DEVNULL):
    child = subprocess.Popen(["taskset", "-c", core, *map(str, command)], stdout=stdout, stderr=subprocess.DEVNULL)
    try:
        yield child.pid
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextlib.contextmanager
def sluice(args, engine, directory):
    port, control, admin = free_port(), free_port(), free_port()
    config = directory / "sluice.json"
    config.write_text(json.dumps({
        "pools": [{"id": "bench", "endpoints": [{"id": "engine", "uri": f"http://127.0.0.1:{engine}"}]}],
        "routes": [{"model": "*", "pool": "bench"}]}))
    with process(PROXY_CORE, args.bin / "sluiced", "--config", config, "--loops", 1, "--listen", f"127.0.0.1:{port}",
                 "--control", f"127.0.0.1:{control}", "--admin", f"127.0.0.1:{admin}", "--drain", "0s") as pid:
        wait_for(lambda: accepts(port), "sluiced")
        with contextlib.ExitStack() as watchers:
            for _ in range(args.watchers):
                watchers.enter_context(process(LOAD_CORE, args.bin / "sluicectl", "--server", f"127.0.0.1:{control}", "watch"))
            if any(args.watched_by):
                said = watchers.enter_context(open(directory / "watchers", "w+"))
                watchers.enter_context(process(LOAD_CORE, args.bin / "bench_watch", control, *args.watched_by, stdout=said))
                wait_for(lambda: (directory / "watchers").read_text() == "ready\n", "bench_watch")
            yield port, pid


@contextlib.contextmanager
def nginx(_, engine, directory):
    port = free_port()
    conf = directory / "nginx.conf"
    conf.write_text(NGINX_CONF.format(dir=directory, engine=engine, port=port))
    with process(PROXY_CORE, "nginx", "-c", conf, "-e", directory / "error.log") as pid:
        wait_for(lambda: accepts(port), "nginx")
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        yield port, int(children[0])


@contextlib.contextmanager
def direct(_, engine, __):
    yield engine, None


PROXIES = {"sluice": sluice, "nginx": nginx, "direct": direct}


def cpu_seconds(pid):
    """Time on a core of all threads of `pid`; less lies in threads that ended, of which there are none here."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def measure(args, proxy, streams, seconds, query):
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        directory = pathlib.Path(name)
        os.chmod(directory, 0o755)  # nginx's worker is another user
        engine = free_port()
        stack.enter_context(process(LOAD_CORE, args.bin / "bench_engine", engine))
        wait_for(lambda: accepts(engine), "bench_engine")
        port, pid = stack.enter_context(PROXIES[proxy](args, engine, directory))
        # One request warms up what is made lazily.
        urllib.request.urlopen(f"http://127.0.0.1:{port}/?unary=100").read()
        before = (resident_kib(pid), cpu_seconds(pid)) if pid else None
        load = subprocess.Popen(["taskset", "-c", LOAD_CORE, args.bin / "bench_load", str(port), str(streams),
                                 str(seconds), query], stdout=subprocess.PIPE)
        time.sleep(seconds * 0.8)
        during = resident_kib(pid) if pid else None
        result = json.loads(load.communicate()[0])
        # bench_load leaves out the first tenth of what it counts, the scheduler does not.
        units = (result["events"] or result["answers"]) / 0.9
        result["units_per_second"] = (result["events"] or result["answers"]) / result["seconds"]
        if pid:
            result["cpu_us"] = (cpu_seconds(pid) - before[1]) * 1e6 / max(units, 1)
            result["kib_per_stream"] = (during - before[0]) / streams
    if result["errors"]:
        print(f"  {proxy}: {result['errors']} errors", file=sys.stderr)
    return result


def measure_leaving(args, proxy, streams):
    """How long after each client left its silent stream the engine heard of it, in ms."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        directory = pathlib.Path(name)
        os.chmod(directory, 0o755)
        engine = free_port()
        heard_file = stack.enter_context(open(directory / "heard", "w+"))
        stack.enter_context(process(LOAD_CORE, args.bin / "bench_engine", engine, stdout=heard_file))
        wait_for(lambda: accepts(engine), "bench_engine")
        port, _ = stack.enter_context(PROXIES[proxy](args, engine, directory))
        left = dict(map(str.split, subprocess.run(
            ["taskset", "-c", LOAD_CORE, args.bin / "bench_leave", str(port), str(streams)],
            stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()))

        def heard():
            return (directory / "heard").read_text().splitlines()

        wait_for(lambda: len(heard()) == streams, f"{streams} cancels behind {proxy}", seconds=30)
        at = dict(map(str.split, heard()))
    waits = sorted((int(at[number]) - int(left[number])) / 1e6 for number in left)
    return {"p50 ms": waits[len(waits) // 2], "p99 ms": waits[int(len(waits) * 0.99)], "max ms": waits[-1]}


def measure_watched(args, watched_by):
    quiet = argparse.Namespace(**{**vars(args), "watchers": 0, "watched_by": watched_by})
    return measure(quiet, "sluice", *WATCHED_LOAD)["transit_us"]


def watched_table(results):
    names = ["p50", "p99"]
    lines = ["| " + WATCHED + " | p50 us | p99 us |", "|---|---|---|"]
    base = {name: median([run[name] for run in results["0 watchers"]]) for name in names}
    for watchers, runs in results.items():
        cells = []
        for name in names:
            value = median([run[name] for run in runs])
            cells.append(f"{value:,.0f} (x{value / base[name]:.3f})")
        lines.append(f"| {watchers} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def leaving_table(results):
    names = ["p50 ms", "p99 ms", "max ms"]
    lines = ["| 1,000 clients leave silent streams | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for proxy, runs in results.items():
        lines.append(f"| {proxy} | " + " | ".join(f"{median([run[name] for run in runs]):.2f}" for name in names) + " |")
    return "\n".join(lines)


def figures(result):
    """The numbers of one measurement that go into the table; None where the proxy has none."""
    latency = result["transit_us"] if result["events"] else result["first_us"]
    return {"CPU us each": result.get("cpu_us"), "each/s": result["units_per_second"],
            "p50 us": latency["p50"], "p99 us": latency["p99"], "KiB a stream": result.get("kib_per_stream")}


def median(values):
    return statistics.median(values) if values and values[0] is not None else None


def table(results):
    names = ["CPU us each", "each/s", "p50 us", "p99 us", "KiB a stream"]
    lines = ["| scenario | proxy | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for scenario, by_proxy in results.items():
        medians = {proxy: {name: median([figures(run)[name] for run in runs]) for name in names}
                   for proxy, runs in by_proxy.items()}
        for proxy, row in medians.items():
            cells = []
            for name in names:
                value, base = row[name], medians.get("nginx", {}).get(name)
                cell = "–" if value is None else f"{value:.2f}" if value < 100 else f"{value:,.0f}"
                if proxy == "sluice" and value is not None and base and base > 0:
                    cell += f" (x{value / base:.2f})"
                cells.append(cell)
            lines.append(f"| {scenario} | {proxy} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the built programs")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for results.md and results.json")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--watchers", type=int, default=1, help="sluicectl watch processes on Sluice's event plane")
    parser.add_argument("--only", default="", help="scenarios whose name holds this")
    parser.set_defaults(watched_by=(0, 0))
    args = parser.parse_args()
    if not shutil.which("nginx"):
        sys.exit("bench: nginx is missing; scripts/bootstrap --bench installs it")

    results = {}
    for scenario, (streams, seconds, query) in SCENARIOS.items():
        if args.only not in scenario:
            continue
        runs = results[scenario] = {proxy: [] for proxy in PROXIES}
        for number in range(args.rounds):
            for proxy in PROXIES:
                print(f"{scenario}: round {number + 1} of {args.rounds}, {proxy}", file=sys.stderr)
                runs[proxy].append(measure(args, proxy, streams, seconds, query))
    text = table(results)
    if args.only in WATCHED:
        watched = results[WATCHED] = {watchers: [] for watchers in WATCHED_BY}
        for number in range(args.rounds):
            for watchers, watched_by in WATCHED_BY.items():
                print(f"{WATCHED}: round {number + 1} of {args.rounds}, {watchers}", file=sys.stderr)
                watched[watchers].append(measure_watched(args, watched_by))
        text += "\n\n" + watched_table(watched)
    if args.only in LEAVING:
        leaving = results[LEAVING] = {proxy: [] for proxy in PROXIES}
        for number in range(args.rounds):
            for proxy in PROXIES:
                print(f"{LEAVING}: round {number + 1} of {args.rounds}, {proxy}", file=sys.stderr)
                leaving[proxy].append(measure_leaving(args, proxy, 1000))
        text += "\n\n" + leaving_table(leaving)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (args.out / "results.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
