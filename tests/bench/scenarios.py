"""What is run, and what it should reach: ratios to a peer in the same run, or a number where `peer` is None."""

import collections
import resource

# wanted: of the figure, or of its ratio to the peer's; at most, or with `least` at least.
Target = collections.namedtuple("Target", "scenario figure peer wanted who least", defaults=("sluice", False))

CPU, RATE, KIB, KERNEL_KIB = "CPU us each", "each/s", "KiB a stream", "kernel KiB a stream"
FIRST_P50, FIRST_P99, P50, P99 = "first p50 us", "first p99 us", "transit p50 us", "transit p99 us"
OPENING_P50, OPENING_P99 = "opening p50 us", "opening p99 us"
LOAD_CORE, ERRORS = "load core", "errors"
THREADS, SHARE, KIB_EACH = "threads added", "share of a core", "KiB each"
LEFT_P50, LEFT_P99, LEFT_MAX = "p50 ms", "p99 ms", "max ms"
UPDATES, REQUESTS, UNSEEN = "updates/s", "short requests", "updates unseen"
VISIBLE_P50, VISIBLE_P99, VISIBLE_MAX = "visible p50 ms", "visible p99 ms", "visible max ms"
# What `direct` had in the same round is taken off these; the name of the outcome.
ADDED = {FIRST_P50: "added first p50 us", FIRST_P99: "added first p99 us", KERNEL_KIB: "added kernel KiB a stream"}

# The memory of fewer streams says nothing of a stream's.
MEMORY_FROM = 400
NEEDED_DESCRIPTORS = 22_000


def most_streams():
    """10,000, each of which takes a proxy two descriptors; fewer where the limit is lower and cannot be raised."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if 0 <= hard < NEEDED_DESCRIPTORS:
        try:
            hard = NEEDED_DESCRIPTORS
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 10_000 if hard < 0 else min(10_000, (hard - 1_000) // 2)


def paced(streams):
    """20,000 events a second in all: what the core of load and engine holds beside every peer."""
    return f"{streams:,} streams, 20,000 events/s in all"


def paced_query(streams):
    return f"events=100000&bytes=180&interval_us={streams * 50}"


MOST = most_streams()
PACED = (1000, 2000, 5000, MOST)
FIRST_OF_1, FIRST_OF_50 = "first event, 1 stream", "first event, 50 streams"
SATURATION, BURSTS, UNARY = "saturation, 1 event a write", "saturation, 32 events a write", "unary JSON, 32 connections"
TOKENS = "400 streams, 50 events/s each"

# name: streams, seconds, query of bench_engine
LOADS = {
    FIRST_OF_1: (1, 10, "events=2&bytes=180&interval_us=20000"),
    FIRST_OF_50: (50, 6, "events=5&bytes=180&interval_us=20000"),
    SATURATION: (64, 5, "events=20000&bytes=180"),
    BURSTS: (64, 5, "events=20000&bytes=180&burst=32"),
    TOKENS: (400, 8, paced_query(400)),
    **{paced(n): (n, 8, paced_query(n)) for n in PACED},
    UNARY: (32, 5, "unary=400"),
}

GROWTH = f"memory, from {PACED[0]:,} to {MOST:,} streams"
KIB_MORE, KERNEL_KIB_MORE = "KiB each further stream", "kernel KiB each further stream"

LEAVING, LEAVING_STREAMS = "1,000 clients leave silent streams", 1000
IDLE, IDLE_CONNECTIONS, IDLE_SECONDS = "500 idle keep-alive connections", 500, 5

# What watchers cost the streams. Shorter than the 10 s after which the gateway ends one that takes nothing.
WATCHED = "watchers, 1,000 streams, 10 events/s each"
WATCHED_LOAD = (1000, 7, "events=100000&bytes=180&interval_us=100000")
# name: watchers that read, watchers that are stuck
WATCHED_BY = {"0 watchers": (0, 0), "1 watcher": (1, 0), "1 stuck watcher": (0, 1), "50 watchers, half stuck": (25, 25)}

CHANGING = "configuration updates beside 200 streams, 10 events/s each, and short requests"
CHANGING_LOAD = (200, 6, "events=100000&bytes=180&interval_us=100000")
# name: updates a second
CHANGES = {"no updates": 0, "1,000 updates/s": 1000}

TARGETS = [
    *(Target(s, f, "nginx", 1.0) for s in (FIRST_OF_1, FIRST_OF_50) for f in (ADDED[FIRST_P50], ADDED[FIRST_P99])),
    *(Target(paced(n), P50, "nginx", 1.0) for n in PACED),
    *(Target(paced(n), P99, "nginx", 0.6) for n in PACED),
    *(Target(SATURATION, CPU, peer, 0.8) for peer in ("nginx", "haproxy")),
    *(Target(SATURATION, RATE, peer, 1.0, least=True) for peer in ("nginx", "haproxy")),
    Target(BURSTS, CPU, "nginx", 0.65),
    Target(BURSTS, CPU, "haproxy", 1.0),
    *(Target(paced(n), CPU, peer, 0.8) for n in (1000, 5000, MOST) for peer in ("nginx", "haproxy")),
    Target(paced(MOST), KIB, None, 12.0),
    Target(paced(MOST), ADDED[KERNEL_KIB], "nginx", 1.0),
    Target(UNARY, CPU, "nginx", 1.0),
    Target(LEAVING, LEFT_P99, "nginx", 1.0),
    Target(LEAVING, LEFT_MAX, None, 20.0),
    Target(IDLE, THREADS, None, 0),
    Target(IDLE, SHARE, None, 0.01),
    Target(WATCHED, P99, "0 watchers", 1.02, who="50 watchers, half stuck"),
    Target(CHANGING, UPDATES, None, 990, who="1,000 updates/s", least=True),
    Target(CHANGING, ERRORS, None, 0, who="1,000 updates/s"),
    Target(CHANGING, VISIBLE_P99, None, 50, who="1,000 updates/s"),
]
