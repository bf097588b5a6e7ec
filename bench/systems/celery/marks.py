"""The file in which a process counts its jobs; its layout is at the head of marks/layout.ts."""

import mmap
import os
import time
import uuid

HEAD_BYTES = 64
SAMPLE_DOUBLES = 3
EXECUTED, ERRORS, FIRST_MS, LAST_MS, SAMPLES = range(5)


def now_ms():
    return time.time() * 1000


class Marks:
    """A shared mapping, one for each process: its jobs do not interrupt each other in here."""

    def __init__(self):
        capacity = int(os.environ["BENCH_CAPACITY"])
        self.sample_every = int(os.environ["BENCH_SAMPLE_EVERY"])
        self.samples_room = -(-capacity // self.sample_every) + 64
        bits_bytes = -(-capacity // 64) * 8
        size = HEAD_BYTES + bits_bytes + self.samples_room * SAMPLE_DOUBLES * 8
        path = os.path.join(os.environ["BENCH_FOLDER"], str(uuid.uuid4()))
        with open(path, "w+b") as file:
            file.truncate(size)
            self.memory = mmap.mmap(file.fileno(), size)
        os.rename(path, path + ".marks")  # whoever sees it sees its whole size
        view = memoryview(self.memory)
        self.numbers = view[:HEAD_BYTES].cast("d")
        self.bits = view[HEAD_BYTES : HEAD_BYTES + bits_bytes]
        self.samples = view[HEAD_BYTES + bits_bytes :].cast("d")

    def begin(self):
        """Before the body of a job; answers with the time."""
        start = now_ms()
        if self.numbers[FIRST_MS] == 0:
            self.numbers[FIRST_MS] = start
        return start

    def end(self, index, start):
        """After the body of a job that ended without an error."""
        numbers = self.numbers
        end = now_ms()
        self.bits[index >> 3] |= 1 << (index & 7)
        if index % self.sample_every == 0:
            self._keep(index, start, end)
        numbers[LAST_MS] = end
        numbers[EXECUTED] += 1

    def fail(self):
        """After the body of a job that raised."""
        self.numbers[LAST_MS] = now_ms()
        self.numbers[ERRORS] += 1

    def _keep(self, index, start, end):
        count = int(self.numbers[SAMPLES])
        if count >= self.samples_room:
            return
        at = count * SAMPLE_DOUBLES
        self.samples[at] = index
        self.samples[at + 1] = start
        self.samples[at + 2] = end
        self.numbers[SAMPLES] = count + 1
