import { close, configure } from "solid-jobs";
import { serveClient } from "../client-main.ts";
import { Mark } from "./tasks.ts";

await serveClient((url) => {
  configure({ url });
  return {
    publishMany: (from, to) =>
      Mark.enqueueMany(Array.from({ length: to - from }, (_, i): [number] => [from + i])),
    publish: (index) => Mark.enqueue(index),
    publishAt: (index, dueMs) => Mark.scheduleAt(new Date(dueMs), index),
    close,
  };
});
