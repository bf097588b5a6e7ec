import { describe, expect, test } from "bun:test";
import { lineWriter } from "../../src/instrumentation/line-writer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A file descriptor that acts out `script`: a number of bytes it takes, or the code it fails with. */
function actedOut(script: readonly (number | string)[]) {
  const steps = [...script];
  const chunks: string[] = [];
  const writeSome = (bytes: Uint8Array) => {
    const step = steps.shift() ?? bytes.length;
    if (typeof step === "string") throw Object.assign(new Error(step), { code: step });
    chunks.push(new TextDecoder().decode(bytes.subarray(0, step)));
    return Math.min(step, bytes.length);
  };
  return { writeSome, text: () => chunks.join("") };
}

const module = JSON.stringify(
  Bun.fileURLToPath(import.meta.resolve("../../src/instrumentation/line-writer.ts")),
);

describe("a line writer", () => {
  test("waits for a full pipe and goes on where it stopped", () => {
    const target = actedOut([3, "EAGAIN", "EINTR", 2, "EAGAIN"]);
    lineWriter(1, target)("abcdefgh\n");
    expect(target.text()).toBe("abcdefgh\n");
  });

  test("gives up on a reader that stalls, tries the next line once, and then starts on a new line", () => {
    const stalled = Array.from({ length: 4 }, () => "EAGAIN");
    const target = actedOut([2, ...stalled, "EAGAIN"]);
    const write = lineWriter(1, { ...target, patienceMs: 4 });
    write("first\n");
    write("second\n");
    write("third\n");
    write("fourth\n");
    expect(target.text()).toBe("fi\nthird\nfourth\n");
  });

  test.each(["EPIPE", "EIO", "EBADF"])("survives %s", (code) => {
    const target = actedOut([code, "EPIPE"]);
    const write = lineWriter(1, target);
    write("lost\n");
    write("lost too\n");
    write("kept\n");
    expect(target.text()).toBe("kept\n");
  });

  test("survives a reader that closes its end of a real pipe", async () => {
    using folder = temporaryFolder();
    const script = folder.write(
      "writer.ts",
      `import { lineWriter } from ${module};
       const write = lineWriter(1);
       for (let line = 0; line < 20_000; line++) write("x".repeat(100) + "\\n");
       process.exit(7);`,
    );
    const run = Bun.spawn([process.execPath, script], { stdout: "pipe" });
    await run.stdout.cancel();
    expect(await run.exited).toBe(7);
  });

  test("writes whole lines from several threads into a slow pipe, and all of them before the exit", async () => {
    using folder = temporaryFolder();
    const script = folder.write(
      "threads.ts",
      `import { lineWriter } from ${module};
       const write = lineWriter(1);
       const lines = (who) => { for (let i = 0; i < 500; i++) write(who + ":" + i + ":" + "y".repeat(400) + "\\n"); };
       if (Bun.isMainThread) {
         const workers = ["a", "b"].map(() => new Worker(import.meta.url));
         const ended = workers.map((worker) => new Promise((done) => worker.addEventListener("close", done)));
         lines("main");
         await Promise.all(ended);
         process.exit(0);
       } else lines("worker");`,
    );
    const run = Bun.spawn([process.execPath, script], { stdout: "pipe" });
    const text = await new Response(run.stdout).text();
    expect(await run.exited).toBe(0);
    const lines = text.trimEnd().split("\n");
    expect(lines).toHaveLength(1500);
    expect(lines.filter((line) => !/^(main|worker):\d+:y{400}$/.test(line))).toEqual([]);
  });
});
