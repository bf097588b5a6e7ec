"""The worker program: `python -m celery -A bench_app worker ...`, and what the client publishes for it."""

import os
import sys

from bodies import BODIES
from celery import Celery
from celery.signals import worker_ready
from marks import Marks
from pools import let_others_run_while_postgres_answers

app = Celery("bench", broker=os.environ["BENCH_BROKER"])
app.conf.update(
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
)

marks = None
body = BODIES[os.environ.get("BENCH_WORKLOAD", "noop")]


@app.task(name="job")
def job(index):
    global marks
    if marks is None:  # in the process that runs jobs, which is a child of the one that starts
        marks = Marks()
    start = marks.begin()
    try:
        body(index)
    except Exception:
        marks.fail()
        raise
    marks.end(index, start)


@worker_ready.connect
def tell(**_):
    print("node started", file=sys.__stdout__, flush=True)


if os.environ.get("BENCH_WORKLOAD") == "postgres" and os.environ.get("BENCH_POOL") == "gevent":
    let_others_run_while_postgres_answers()
