import { expect } from "bun:test";
import { join } from "node:path";
import { RedisServer } from "../support/redis-server.ts";
import { testUnless } from "../support/skip.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startGateway } from "./harness.ts";

const python = Bun.which("python3");
const client = Bun.fileURLToPath(import.meta.resolve("./client.py"));

testUnless(python === null ? "needs python3" : undefined)(
  "a Python program reserves and acknowledges a job over the gateway, and nothing is left",
  async () => {
    using folder = temporaryFolder();
    const redis = await RedisServer.start();
    const gateway = await startGateway(join(folder.path, "run", "gateway.sock"), redis.url);
    const run = Bun.spawn([python!, client, gateway.socket, "wörk", "host:17:0123456789ab", "executor-1"], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [status, stdout, stderr] = await Promise.all([
      run.exited,
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("12345678901234567890"); // JavaScript's parser below would round it
    expect(JSON.parse(stdout)).toEqual({
      is_first: true,
      arguments: ["café 😀", 12345678901234567000, [], {}, null],
      held: true,
      claim: ["executor-1", true],
      refused: 0,
      acknowledged: 1,
      is_second: true,
      removed: [1, 0],
      unknown_script: {
        class: "SolidRedis::CommandError",
        message: expect.stringMatching(/^NOSCRIPT /),
      },
      left: null,
    });
    const keys = (await redis.send("KEYS", "*")) as string[];
    expect(keys.sort()).toEqual([
      "solid_jobs:channels",
      "solid_jobs:node:host:17:0123456789ab",
      "solid_jobs:nodes",
    ]);
    expect(await gateway.stop()).toBe(0);
    await redis.stop();
  },
);
