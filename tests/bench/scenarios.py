"""What is run, and what it should reach: ratios to a peer in the same run, or a number where `peer` is None."""

from collections import namedtuple

# at_most: of the figure, or of its ratio to the peer's
Target = namedtuple("Target", "scenario figure peer at_most")

CPU, RATE, KIB = "CPU us each", "each/s", "KiB a stream"
FIRST_P50, FIRST_P99, P50, P99 = "first p50 us", "first p99 us", "transit p50 us", "transit p99 us"


def paced(streams):
    """20,000 events a second in all: what the core of load and engine holds beside every peer. The most streams are
    what a limit of 20,000 descriptors carries."""
    return f"{streams:,} streams, 20,000 events/s in all"


def paced_query(streams):
    return f"events=100000&bytes=180&interval_us={streams * 50}"


PACED = (1000, 2000, 5000, 9500)
SATURATION, BURSTS, UNARY = "saturation, 1 event a write", "saturation, 32 events a write", "unary JSON, 32 connections"
FIRST_OF_1, FIRST_OF_50 = "first event, 1 stream", "first event, 50 streams"

# name: streams, seconds, query of bench_engine
LOADS = {
    FIRST_OF_1: (1, 6, "events=5&bytes=180&interval_us=20000"),
    FIRST_OF_50: (50, 6, "events=25&bytes=180&interval_us=20000"),
    SATURATION: (64, 5, "events=20000&bytes=180"),
    BURSTS: (64, 5, "events=20000&bytes=180&burst=32"),
    **{paced(n): (n, 10, paced_query(n)) for n in PACED},
    UNARY: (32, 5, "unary=400"),
}

LEAVING, LEAVING_STREAMS = "1,000 clients leave silent streams", 1000
IDLE = "500 idle keep-alive connections"

# What watchers cost the streams. Shorter than the 10 s after which the gateway ends one that takes nothing.
WATCHED = "watchers, 1,000 streams, 10 events/s each"
WATCHED_LOAD = (1000, 8, "events=100000&bytes=180&interval_us=100000")
# name: watchers that read, watchers that are stuck
WATCHED_BY = {"0 watchers": (0, 0), "1 watcher": (1, 0), "1 stuck watcher": (0, 1), "50 watchers, half stuck": (25, 25)}

TARGETS = [
    *(Target(s, f, "nginx", 1.0) for s in (FIRST_OF_1, FIRST_OF_50) for f in (FIRST_P50, FIRST_P99)),
    Target(SATURATION, CPU, "nginx", 0.8),
    Target(SATURATION, CPU, "haproxy", 0.8),
    Target(BURSTS, CPU, "nginx", 0.65),
    Target(BURSTS, CPU, "haproxy", 1.0),
    *(Target(paced(n), P50, "nginx", 1.0) for n in PACED),
    *(Target(paced(n), P99, "nginx", 0.6) for n in PACED),
    *(Target(paced(n), CPU, peer, 0.8) for n in (1000, 5000, 9500) for peer in ("nginx", "haproxy")),
    Target(paced(9500), KIB, None, 12.0),
    Target(UNARY, CPU, "nginx", 1.0),
    Target(LEAVING, "p99 ms", "nginx", 1.0),
    Target(LEAVING, "max ms", None, 20.0),
    Target(IDLE, "threads added", None, 0),
    Target(IDLE, "share of a core", None, 0.01),
]
