"""One measurement each: processes started anew, one load, what it cost and how long things took."""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from peers import LOAD_CORE, PEERS, accepts, free_port, process, wait_for

IDLE_CONNECTIONS, IDLE_SECONDS = 500, 5


def cpu_seconds(pid):
    """Time on a core of all threads of `pid`; less lies in threads that ended, of which there are none here."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def status_of(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def slab_kib():
    """All the kernel's own objects, of everybody: with a quiet machine, those of this measurement's sockets."""
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("Slab:"):
            return int(line.split()[1])
    return 0


@contextlib.contextmanager
def set_up(args, peer, engine_out=subprocess.DEVNULL):
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        directory = pathlib.Path(name)
        os.chmod(directory, 0o755)  # nginx's worker is another user
        engine = free_port()
        stack.enter_context(process(LOAD_CORE, args.bin / "bench_engine", engine, stdout=engine_out))
        wait_for(lambda: accepts(engine), "bench_engine")
        port, pid = stack.enter_context(PEERS[peer](args, engine, directory))
        # One request warms up what is made lazily.
        urllib.request.urlopen(f"http://127.0.0.1:{port}/?unary=100").read()
        yield port, pid


def load(args, peer, streams, seconds, query):
    with set_up(args, peer) as (port, pid):
        before = (status_of(pid, "VmRSS"), cpu_seconds(pid)) if pid else None
        slab = slab_kib()
        clients = subprocess.Popen(["taskset", "-c", LOAD_CORE, args.bin / "bench_load", str(port), str(streams),
                                    str(seconds), query], stdout=subprocess.PIPE)
        time.sleep(seconds * 0.8)
        during = status_of(pid, "VmRSS") if pid else None
        slab = slab_kib() - slab
        result = json.loads(clients.communicate()[0])
        # bench_load leaves out the first tenth of what it counts, the scheduler does not.
        units = (result["events"] or result["answers"]) / 0.9
        result["units_per_second"] = (result["events"] or result["answers"]) / result["seconds"]
        if pid:
            result["cpu_us"] = (cpu_seconds(pid) - before[1]) * 1e6 / max(units, 1)
            result["kib_per_stream"] = (during - before[0]) / streams
            result["kernel_kib_per_stream"] = slab / streams
    if result["errors"]:
        print(f"  {peer}: {result['errors']} errors", file=sys.stderr)
    return result


def leaving(args, peer, streams):
    """How long after each client left its silent stream the engine heard of it, in ms."""
    with tempfile.NamedTemporaryFile("w+") as heard_file:
        with set_up(args, peer, engine_out=heard_file) as (port, _):
            left = dict(map(str.split, subprocess.run(
                ["taskset", "-c", LOAD_CORE, args.bin / "bench_leave", str(port), str(streams)],
                stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()))

            def heard():
                return pathlib.Path(heard_file.name).read_text().splitlines()

            wait_for(lambda: len(heard()) == streams, f"{streams} cancels behind {peer}", seconds=30)
            at = dict(map(str.split, heard()))
    waits = sorted((int(at[number]) - int(left[number])) / 1e6 for number in left)
    return {"p50 ms": waits[len(waits) // 2], "p99 ms": waits[int(len(waits) * 0.99)], "max ms": waits[-1]}


def idle(args, peer):
    """Connections that were used once and then stand: threads they added, and the share of a core they take."""
    request = b"GET /?unary=100 HTTP/1.1\r\nHost: bench\r\n\r\n"
    with set_up(args, peer) as (port, pid), contextlib.ExitStack() as stack:
        threads = status_of(pid, "Threads")
        rss = status_of(pid, "VmRSS")
        for _ in range(IDLE_CONNECTIONS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(request)
            client.recv(4096)
        time.sleep(1)
        cpu = cpu_seconds(pid)
        time.sleep(IDLE_SECONDS)
        return {"threads added": status_of(pid, "Threads") - threads,
                "share of a core": (cpu_seconds(pid) - cpu) / IDLE_SECONDS,
                "KiB each": (status_of(pid, "VmRSS") - rss) / IDLE_CONNECTIONS}


def watched(args, watched_by, streams, seconds, query):
    quiet = argparse.Namespace(**{**vars(args), "watched_by": watched_by})
    transit = load(quiet, "sluice", streams, seconds, query)["transit_us"]
    return {"p50 us": transit["p50"], "p99 us": transit["p99"]}
