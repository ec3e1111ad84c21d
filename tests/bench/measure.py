"""One measurement each: processes started anew, one load, what it cost and how long things took.

Each returns figures by name, None for what a peer does not have; raises Failed when it came to nothing.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import scenarios as of
from peers import LOAD_CORE, PEERS, Failed, accepts, free_port, pinned, process, wait_for

# port, pid and control as in peers.Proxy
SetUp = collections.namedtuple("SetUp", "port pid control engine engine_pid")


def cpu_seconds(pid):
    """Time on a core of all threads of `pid`; less lies in threads that ended, of which there are none here."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def status_of(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def kernel_kib():
    """The kernel's own objects, page tables, stacks and TCP buffers of everybody."""
    kib = 0
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        name, value = line.split()[:2]
        if name in ("Slab:", "PageTables:", "KernelStack:"):
            kib += int(value)
    for line in pathlib.Path("/proc/net/sockstat").read_text().splitlines():
        if line.startswith("TCP:"):
            kib += int(line.split()[-1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    return kib


@contextlib.contextmanager
def set_up(options, peer, engine_out=subprocess.DEVNULL):
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        directory = pathlib.Path(name)
        os.chmod(directory, 0o755)  # nginx's worker is another user
        engine = free_port()
        engine_pid = stack.enter_context(
            process(LOAD_CORE, options.bin / "bench_engine", engine, stdout=engine_out))
        wait_for(lambda: accepts(engine), "bench_engine")
        proxy = stack.enter_context(PEERS[peer](options, engine, directory))
        # One request warms up what is made lazily.
        urllib.request.urlopen(f"http://127.0.0.1:{proxy.port}/?unary=100", timeout=10).read()
        yield SetUp(*proxy, engine, engine_pid)


@contextlib.contextmanager
def clients(seconds, program, *arguments):
    """A program of the load side that ends by itself after about `seconds`, or else is ended."""
    with subprocess.Popen(pinned(LOAD_CORE, program, *arguments), stdout=subprocess.PIPE, text=True) as child:
        watchdog = threading.Timer(seconds + 60, child.kill)
        watchdog.start()
        try:
            yield child
        finally:
            watchdog.cancel()
            child.kill()


def answer_of(child):
    """The one JSON object a program of the load side prints at its end."""
    line = child.stdout.readline()
    if not line:
        raise Failed("the load ended early")
    return json.loads(line)


def await_counting(child):
    if child.stdout.readline() != "counting\n":
        raise Failed("the load ended early")


def load(options, peer, streams, seconds, query):
    with set_up(options, peer) as up:
        rss, kernel = status_of(up.pid, "VmRSS") if up.pid else None, kernel_kib()
        with clients(seconds, options.bin / "bench_load", up.port, streams, seconds, query) as child:
            await_counting(child)
            cpu = cpu_seconds(up.pid) if up.pid else None
            load_cpu = cpu_seconds(child.pid) + cpu_seconds(up.engine_pid)
            time.sleep(seconds * 0.8)
            kernel = kernel_kib() - kernel
            rss = status_of(up.pid, "VmRSS") - rss if up.pid else None
            load_cpu = cpu_seconds(child.pid) + cpu_seconds(up.engine_pid) - load_cpu
            result = answer_of(child)
            cpu = cpu_seconds(up.pid) - cpu if up.pid else None
    units = result["events"] or result["answers"]
    if not units:
        raise Failed("nothing came through")
    none = {"p50": None, "p99": None}
    first, opening = result["first_us"], result["opening_us"]
    first, opening = (first, none) if first["count"] else (none, opening)
    transit = result["transit_us"] if result["events"] else none
    weighed = streams >= of.MEMORY_FROM
    return {of.CPU: cpu * 1e6 / units if up.pid else None, of.RATE: units / result["seconds"],
            of.FIRST_P50: first["p50"], of.FIRST_P99: first["p99"],
            of.OPENING_P50: opening["p50"], of.OPENING_P99: opening["p99"],
            of.P50: transit["p50"], of.P99: transit["p99"],
            of.KIB: rss / streams if up.pid and weighed else None,
            of.KERNEL_KIB: kernel / streams if weighed else None,
            of.LOAD_CORE: load_cpu / (seconds * 0.8), of.ERRORS: result["errors"]}


def leaving(options, peer, streams):
    """How long after each client left its silent stream the engine heard of it."""
    with tempfile.NamedTemporaryFile("w+") as heard_file:
        with set_up(options, peer, engine_out=heard_file) as up, \
                clients(10, options.bin / "bench_leave", up.port, streams) as child:
            left = dict(map(str.split, child.stdout))
            if len(left) != streams:
                raise Failed("not all streams came up")

            def heard():
                return pathlib.Path(heard_file.name).read_text().splitlines()

            wait_for(lambda: len(heard()) == streams, f"{streams} cancels", seconds=30)
            at = dict(map(str.split, heard()))
    waits = sorted((int(at[number]) - int(left[number])) / 1e6 for number in left)
    return {of.LEFT_P50: waits[len(waits) // 2], of.LEFT_P99: waits[int(len(waits) * 0.99)],
            of.LEFT_MAX: waits[-1]}


def idle(options, peer, connections, seconds):
    """Connections that were used once and then stand: threads they added, and the share of a core they take."""
    request = b"GET /?unary=100 HTTP/1.1\r\nHost: bench\r\n\r\n"
    with set_up(options, peer) as up, contextlib.ExitStack() as stack:
        threads, rss = status_of(up.pid, "Threads"), status_of(up.pid, "VmRSS")
        for _ in range(connections):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", up.port), timeout=10))
            client.sendall(request)
            if not client.recv(4096).startswith(b"HTTP/1.1 200 "):
                raise Failed("a client was refused")
        time.sleep(1)
        cpu = cpu_seconds(up.pid)
        time.sleep(seconds)
        return {of.THREADS: status_of(up.pid, "Threads") - threads,
                of.SHARE: (cpu_seconds(up.pid) - cpu) / seconds,
                of.KIB_EACH: (status_of(up.pid, "VmRSS") - rss) / connections}


def watched(options, watched_by, streams, seconds, query):
    """What a load has of `watched_by`, as (those that read, those that are stuck)."""
    figures = load(argparse.Namespace(**{**vars(options), "watched_by": watched_by}), "sluice", streams, seconds, query)
    return {name: figures[name] for name in (of.P50, of.P99, of.CPU, of.LOAD_CORE, of.ERRORS)}


def changing(options, per_second, streams, seconds, query):
    """What streams and short requests have of changes of the configuration, so many a second."""
    with set_up(options, "sluice") as up, \
            clients(seconds + 2, options.bin / "bench_load", up.port, streams, seconds, query) as child:
        await_counting(child)
        with clients(seconds, options.bin / "bench_config", up.port, up.control, up.engine, per_second,
                     max(1, seconds - 1)) as changes:
            cpu = cpu_seconds(up.pid)
            changed = answer_of(changes)
            cpu = (cpu_seconds(up.pid) - cpu) / max(1, seconds - 1)
        result = answer_of(child)
    visible = changed["visible_ms"] or {"p50": None, "p99": None, "max": None}
    return {of.UPDATES: changed["updates_per_second"], of.VISIBLE_P50: visible["p50"],
            of.VISIBLE_P99: visible["p99"], of.VISIBLE_MAX: visible["max"],
            of.UNSEEN: changed["unseen"], of.REQUESTS: changed["answers"],
            of.ERRORS: changed["failed"] + result["errors"],
            of.P50: result["transit_us"]["p50"], of.P99: result["transit_us"]["p99"], of.SHARE: cpu}
