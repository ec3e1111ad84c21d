#!/usr/bin/env python3
"""Shows one streamed answer and the events it causes side by side, in the order they arrive.

Starts `sluicectl watch`, sends one chat completion through the gateway, and prints a row for each piece
of text the client gets (left) and each event line (right). Ends when both are complete; exits 1 if the
answer is not byte for byte the expected stream, or if the events do not say that it completed.
"""

import argparse
import http.client
import json
import queue
import re
import shutil
import subprocess
import sys
import threading
import time

TOKEN_WIDTH = 16
SAME_ROW_SECONDS = 0.02  # what arrives together is shown together
PATIENCE_SECONDS = 20


def watch(sluicectl, control, rows):
    """Starts the watch and queues ("event", line) for each of its lines; returns the process."""
    process = subprocess.Popen([sluicectl, "watch", "--server", control, "--output", "text"],
                               stdout=subprocess.PIPE, text=True)

    def read():
        for line in process.stdout:
            rows.put(("event", re.sub(r"  +", "  ", line.rstrip("\n"))))

    threading.Thread(target=read, daemon=True).start()
    return process


def wait_for_watcher(sluicectl, control):
    """An event before the watch is registered would not be seen."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        status = json.loads(subprocess.check_output(
            [sluicectl, "status", "--server", control, "--output", "json"]))
        if int(status["watchers"]) > 0:
            return
        time.sleep(0.05)
    sys.exit("demo: the watch did not start")


def read_answer(gateway, rows):
    """Queues ("token", text) for each SSE event of a streamed answer, then ("end", body)."""
    connection = http.client.HTTPConnection(gateway, timeout=PATIENCE_SECONDS)
    connection.request("POST", "/v1/chat/completions", headers={"Content-Type": "application/json"},
                       body=json.dumps({"model": "demo", "stream": True,
                                        "messages": [{"role": "user", "content": "Show me."}]}))
    answer = connection.getresponse()
    body = b""
    for line in answer:
        body += line
        if line.startswith(b"data: "):
            rows.put(("token", shown(line[len(b"data: "):].strip())))
    rows.put(("end", body))


def shown(data):
    """What a chat client would show of an event; what it would not show is named in parentheses."""
    if data == b"[DONE]":
        return "([DONE])"
    chunk = json.loads(data)
    if not chunk.get("choices"):
        return "(usage)"
    choice = chunk["choices"][0]
    if choice.get("finish_reason"):
        return f"({choice['finish_reason']})"
    return choice["delta"].get("content") or "(role)"


def print_row(token, event):
    text = f"| {token:<{TOKEN_WIDTH}} | {event}".rstrip()
    if sys.stdout.isatty():
        text = text[:shutil.get_terminal_size().columns]
    print(text, flush=True)


def show(rows):
    """Prints rows until answer and events are complete; returns the body and the last event line."""
    print_row("client gets", "sluicectl watch shows")
    print_row("-" * TOKEN_WIDTH, "-" * 60)
    body, last_event, pending = None, None, {}
    while body is None or last_event is None or pending:
        try:
            kind, value = rows.get(timeout=SAME_ROW_SECONDS if pending else PATIENCE_SECONDS)
        except queue.Empty:
            if not pending:
                sys.exit("demo: nothing more came")
            kind = None
        if pending and (kind is None or kind in pending or kind == "end"):
            print_row(pending.get("token", ""), pending.get("event", ""))
            pending = {}
        if kind == "end":
            body = value
        elif kind:
            pending[kind] = value
            if kind == "event" and "  finished  " in value:
                last_event = value
            if len(pending) == 2:
                print_row(pending["token"], pending["event"])
                pending = {}
    return body, last_event


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("gateway", "control", "sluicectl", "expect"):
        arguments.add_argument(f"--{name}", required=True)
    options = arguments.parse_args()
    with open(options.expect, "rb") as file:
        expected = file.read()

    rows = queue.Queue()
    watcher = watch(options.sluicectl, options.control, rows)
    try:
        wait_for_watcher(options.sluicectl, options.control)
        threading.Thread(target=read_answer, args=(options.gateway, rows), daemon=True).start()
        body, finished = show(rows)
    finally:
        watcher.terminate()
        watcher.wait()

    identical = body == expected
    facts = finished.split("  ")[-1]
    print(f"\n{len(body)} bytes through the gateway, "
          f"{'identical to' if identical else 'NOT identical to'} what the engine sent; {facts}")
    return 0 if identical and "cause=completed" in facts else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
