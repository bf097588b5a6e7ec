"""A node's round over the gateway, with Python's standard library alone.

Usage: client.py <socket> <channel> <node identity> <executor>

Publishes two jobs, reserves one, notes its claim, reads both back, acknowledges it, and takes the other one
with RPOP. Prints what it saw as one JSON object; anything unexpected is an exception and exit status 1.
"""

import json
import os
import socket
import sys
import threading
import time
import uuid

PREFIX = "solid_jobs"


class Gateway:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.reader = self.socket.makefile("rb")

    def ask(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.reader.readline())

    def data(self, request):
        answer = self.ask(request)
        if answer["status"] != "OK":
            raise RuntimeError(answer["error"]["class"] + ": " + answer["error"]["message"])
        return answer["data"]

    def call(self, command, *args):
        return self.data({"command": command, "args": list(args)})

    def pipeline(self, *commands):
        return self.data({"pipeline": [list(command) for command in commands]})


def envelope(channel, arguments):
    now = int(time.time() * 1000)
    return json.dumps(
        {
            "id": str(uuid.uuid4()),
            "task": "RoundTrip",
            "arguments": arguments,
            "channel": channel,
            "max_failures": 25,
            "created_ms": now,
            "queued_ms": now,
        }
    )


def beat(gateway, identity):
    gateway.pipeline(
        ["SADD", PREFIX + ":nodes", identity],
        ["HSET", node(identity), "info", "{}", "beat", time.time(), "busy", 0, "quiet", "false", "concurrency", 1],
        ["EXPIRE", node(identity), 60],
    )


def node(identity):
    return PREFIX + ":node:" + identity


def reserve(gateway, source, identity, executor, channel):
    """Waits in the channel until a job comes, as it does from another connection, and notes the claim."""
    claimed = node(identity) + ":claimed:" + executor
    payload = gateway.call("BLMOVE", source, claimed, "RIGHT", "LEFT", 10)
    job = json.loads(payload)
    token = os.urandom(16).hex()
    claim = {
        "task_id": job["id"],
        "claim_token": token,
        "node_id": identity,
        "executor_id": executor,
        "channel": channel,
        "claimed_at": time.time(),
        "attempt": 1,
    }
    gateway.call("HSET", node(identity) + ":claims", executor, json.dumps(claim))
    return payload, job, token


ACK = """
local raw = redis.call("HGET", KEYS[2], ARGV[2])
if not raw or cjson.decode(raw).claim_token ~= ARGV[3] then return 0 end
redis.call("HDEL", KEYS[2], ARGV[2])
return redis.call("LREM", KEYS[1], 1, ARGV[1])
"""


def acknowledge(gateway, payload, identity, executor, token):
    keys = [node(identity) + ":claimed:" + executor, node(identity) + ":claims"]
    return gateway.call("EVAL", ACK, 2, *keys, payload, executor, token)


def main(path, channel, identity, executor):
    source = PREFIX + ":channel:" + channel
    publisher, worker = Gateway(path), Gateway(path)
    beat(worker, identity)
    first = envelope(channel, ["caf\u00e9 \U0001f600", 12345678901234567890, [], {}, None])
    second = envelope(channel, [2])

    def publish():
        publisher.pipeline(["SADD", PREFIX + ":channels", channel], ["LPUSH", source, first], ["LPUSH", source, second])

    publishing = threading.Timer(0.2, publish)
    publishing.start()
    payload, job, token = reserve(worker, source, identity, executor, channel)
    publishing.join()
    held = publisher.call("LRANGE", node(identity) + ":claimed:" + executor, 0, -1)
    claims = publisher.call("HGETALL", node(identity) + ":claims")
    refused = acknowledge(worker, payload, identity, executor, "another token")
    acknowledged = acknowledge(worker, payload, identity, executor, token)
    requeued = worker.call("RPOPLPUSH", source, node(identity) + ":claimed:" + executor)
    removed = worker.pipeline(
        ["LREM", node(identity) + ":claimed:" + executor, 1, requeued],
        ["HDEL", node(identity) + ":claims", executor],
    )
    unknown_script = worker.ask({"command": "EVALSHA", "args": ["0" * 40, 0]})
    print(
        json.dumps(
            {
                "is_first": payload == first,
                "arguments": job["arguments"],
                "held": held == [payload],
                "claim": [claims[0], json.loads(claims[1])["claim_token"] == token],
                "refused": refused,
                "acknowledged": acknowledged,
                "is_second": requeued == second,
                "removed": removed,
                "unknown_script": unknown_script["error"],
                "left": publisher.call("RPOP", source),
            }
        )
    )


main(*sys.argv[1:])
