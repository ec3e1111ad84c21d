"""What is measured: Sluice, nginx with two buffer sizes, HAProxy, and no proxy at all, each on a core of its own."""

import collections
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

PROXY_CORE, LOAD_CORE = "0", "1"

# pid: the process that relays; control: the port that takes changes; both None where there is none.
Proxy = collections.namedtuple("Proxy", "port pid control", defaults=(None, None))

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
      proxy_buffering off; proxy_read_timeout 600s; {buffers}
    }}
  }}
}}
"""

HAPROXY_CONF = """
global
  nbthread 1
  maxconn {connections}
defaults
  mode http
  option abortonclose
  option http-no-delay
  http-reuse always
  timeout connect 5s
  timeout client 600s
  timeout server 600s
frontend clients
  bind 127.0.0.1:{port} backlog 4096
  default_backend engines
backend engines
  server engine 127.0.0.1:{engine} pool-max-conn -1
"""


class Failed(Exception):
    """A measurement came to nothing; the run goes on without it."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"no {what} after {seconds} s")
        time.sleep(0.02)


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def pinned(core, *command):
    """The command on one core, ended by the kernel should this process die without doing so."""
    return ["setpriv", "--pdeathsig", "TERM", "taskset", "-c", core, *map(str, command)]


@contextlib.contextmanager
def process(core, *command, stdout=subprocess.DEVNULL):
    with subprocess.Popen(pinned(core, *command), stdout=stdout, stderr=subprocess.DEVNULL) as child:
        try:
            yield child.pid
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()


@contextlib.contextmanager
def sluice(options, engine, directory):
    port, control, admin = free_port(), free_port(), free_port()
    config = directory / "sluice.json"
    config.write_text(json.dumps({
        "pools": [{"id": "bench", "endpoints": [{"id": "engine", "uri": f"http://127.0.0.1:{engine}"}]}],
        "routes": [{"model": "*", "pool": "bench"}]}))
    with process(PROXY_CORE, options.bin / "sluiced", "--config", config, "--loops", 1, "--listen",
                 f"127.0.0.1:{port}", "--control", f"127.0.0.1:{control}", "--admin", f"127.0.0.1:{admin}",
                 "--drain", "0s") as pid:
        wait_for(lambda: accepts(port) and accepts(control), "sluiced")
        with contextlib.ExitStack() as watchers:
            if any(options.watched_by):
                said = watchers.enter_context(open(directory / "watchers", "w+"))
                watchers.enter_context(
                    process(LOAD_CORE, options.bin / "bench_watch", control, *options.watched_by, stdout=said))
                wait_for(lambda: (directory / "watchers").read_text() == "ready\n", "bench_watch")
            yield Proxy(port, pid, control)


@contextlib.contextmanager
def nginx(_, engine, directory, buffers=""):
    port = free_port()
    conf = directory / "nginx.conf"
    conf.write_text(NGINX_CONF.format(dir=directory, engine=engine, port=port, buffers=buffers))
    with process(PROXY_CORE, "nginx", "-c", conf, "-e", directory / "error.log") as pid:
        wait_for(lambda: accepts(port), "nginx")
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        yield Proxy(port, int(children[0]))


def nginx_64k(options, engine, directory):
    return nginx(options, engine, directory, buffers="proxy_buffer_size 64k; proxy_buffers 8 64k;")


@contextlib.contextmanager
def haproxy(options, engine, directory):
    port = free_port()
    conf = directory / "haproxy.cfg"
    conf.write_text(HAPROXY_CONF.format(engine=engine, port=port, connections=options.most_streams + 100))
    with process(PROXY_CORE, "haproxy", "-db", "-f", conf) as pid:
        wait_for(lambda: accepts(port), "haproxy")
        yield Proxy(port, pid)


@contextlib.contextmanager
def direct(_, engine, __):
    yield Proxy(engine)


PEERS = {"sluice": sluice, "nginx": nginx, "nginx 64k": nginx_64k, "haproxy": haproxy, "direct": direct}


def facts():
    """What the numbers depend on."""
    def first_line(*command):
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
        return said.splitlines()[0].strip() if said else ""
    return {"commit": first_line("git", "describe", "--always", "--dirty", "--exclude=*"),
            "nginx": first_line("nginx", "-v"), "haproxy": first_line("haproxy", "-v"),
            "kernel": first_line("uname", "-sr"), "cores": os.cpu_count(),
            "processor": first_line("sh", "-c", "grep -m1 'model name' /proc/cpuinfo | cut -d: -f2")}
