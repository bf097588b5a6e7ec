"""Connections that are kept between jobs. A job takes one that is free, or opens one, and puts it back."""

import http.client
from urllib.parse import urlsplit

_free = {}


def http_request(method, url, body=None):
    """One request on a kept connection; the whole answer is read. Raises unless it is 200."""
    parts = urlsplit(url)
    free = _free.setdefault(parts.netloc, [])
    connection = free.pop() if free else http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request(method, parts.path or "/", body)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"expected the status 200 of {url}, got {answer.status}")
    free.append(connection)
    return content


def http_get(url):
    return http_request("GET", url)


def postgres_sleep(url):
    free = _free.setdefault(url, [])
    connection = free.pop() if free else _postgres(url)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.1)")
        cursor.fetchall()
    free.append(connection)


def _postgres(url):
    import psycopg2

    connection = psycopg2.connect(url)
    connection.autocommit = True
    return connection


def let_others_run_while_postgres_answers():
    """Makes the driver wait in gevent's loop, which the patches of the standard library do not reach."""
    import psycopg2
    from gevent.socket import wait_read, wait_write
    from psycopg2 import extensions

    waits = {extensions.POLL_READ: wait_read, extensions.POLL_WRITE: wait_write}

    def wait(connection):
        while (state := connection.poll()) != extensions.POLL_OK:
            if state not in waits:
                raise psycopg2.OperationalError(f"the connection is in an unknown state: {state}")
            waits[state](connection.fileno())

    extensions.set_wait_callback(wait)
