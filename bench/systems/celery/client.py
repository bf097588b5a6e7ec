"""The client's process: `python client.py <task as JSON>`; see ClientTask in system.ts."""

import json
import random
import sys
import time
from datetime import datetime, timezone

from bench_app import app, job
from marks import now_ms


def publish(jobs, producer):
    for index in range(jobs):
        job.apply_async((index,), producer=producer)


def timed_publish(jobs, producer):
    # The first publication connects; it is the job with the last index.
    job.apply_async((jobs - 1,), producer=producer)
    start = time.perf_counter()
    publish(jobs - 1, producer)
    return {"seconds": time.perf_counter() - start}


def follow(producer):
    print("ready", flush=True)
    for line in sys.stdin:
        at = now_ms()
        job.apply_async((int(line),), producer=producer)
        print(at, flush=True)


def plan(task, producer):
    start = now_ms() + task["aheadMs"]
    due = [start + random.random() * task["spreadMs"] for _ in range(task["jobs"])]
    for index, at in enumerate(due):
        job.apply_async((index,), eta=datetime.fromtimestamp(at / 1000, timezone.utc), producer=producer)
    return {"dueMs": due}


def perform(task):
    with app.producer_pool.acquire(block=True) as producer:
        producer.channel.client.ping()
        if task["kind"] == "fill":
            publish(task["jobs"], producer)
            return {}
        if task["kind"] == "publish":
            return timed_publish(task["jobs"], producer)
        if task["kind"] == "follow":
            return follow(producer)
        return plan(task, producer)


answer = perform(json.loads(sys.argv[1]))
if answer is not None:
    print(json.dumps(answer), flush=True)
