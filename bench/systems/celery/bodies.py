"""What a job does, by the names in workloads/workload.ts."""

import json
import os
import time

from pools import http_get, http_request, postgres_sleep

CPU_ITERATIONS = 100_000
# About 7 ms in Python: the plain loop takes that already.
CPU_LONG_ITERATIONS = 100_000


def spin(iterations):
    value = 0
    for i in range(iterations):
        value = (value * 31 + i) & 0x7FFFFFFF
    return value


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def wait(_index):
    time.sleep(0.005)


def compute(_index):
    spin(CPU_ITERATIONS)


def append(index):
    with open(os.environ["BENCH_FILE"], "a", encoding="ascii") as file:
        file.write(f"{index}\n")


def post_order(index):
    merchants = json.loads(os.environ["BENCH_MERCHANTS"])
    http_request("POST", merchants[index % len(merchants)], json.dumps({"order": index}))


BODIES = {
    "noop": lambda _index: None,
    "cpu": compute,
    "cpu-long": lambda _index: spin(CPU_LONG_ITERATIONS),
    "io": wait,
    "mixed": lambda index: wait(index) if index % 2 else compute(index),
    "fib": lambda _index: fibonacci(25),
    "http": lambda _index: http_get(os.environ["BENCH_HTTP_URL"]),
    "postgres": lambda _index: postgres_sleep(os.environ["BENCH_POSTGRES_URL"]),
    "file": append,
    "order": post_order,
}
