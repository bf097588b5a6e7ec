import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { temporaryFolder } from "../support/temporary-folder.ts";

const source = resolve(import.meta.dir, "../../src");

/** What a program prints whose threads begin in its main file. */
async function printed(inThread: string, inMain: string): Promise<string> {
  using folder = temporaryFolder();
  const program = folder.write(
    "main.ts",
    `import { beginThreadsInMain } from "${source}/conductor/entry.ts";
     import { Thread } from "${source}/conductor/threads.ts";
     import { run, Task } from "${source}/index.ts";
     class A extends Task { static options = { name: "a" }; executeTask() {} }
     if (Bun.isMainThread) { beginThreadsInMain(); ${inMain}; process.exit(0); }
     ${inThread}`,
  );
  const child = Bun.spawn([process.execPath, program, "--flag"], { stdout: "pipe", stderr: "inherit" });
  return await child.stdout.text(); // the folder stays until then
}

test("a thread that does not come to run in time is ended, and the rule is told", async () => {
  const text = await printed(
    "setInterval(() => {}, 1000); await new Promise(() => {});",
    `const thread = new Thread("probe", { listenMs: 200 }); console.log((await thread.ended).neverListened)`,
  );
  expect(text).toMatch(/^a thread did not reach run\(\.\.\.\) within 0\.2 s; each thread of a node runs /);
});

test("a thread gets the main thread's arguments, and may serve once it has come to run", async () => {
  const settings = `{ require: [], logLevel: "silent" }`;
  const text = await printed(
    `console.log(process.argv.slice(2).join());
     try { Bun.serve({ port: 0, fetch: () => new Response() }); } catch (error) { console.log(error.message); }
     void run({ tasks: [A] });
     Bun.serve({ port: 0, fetch: () => new Response() }).stop();`,
    `const thread = new Thread("probe");
     console.log(JSON.stringify(await new Promise((resolve) => thread.begin({ settings: ${settings} }, resolve))));`,
  );
  expect(text).toBe(
    '--flag\nBun.serve was called\n{"type":"loaded","tasks":[{"name":"a","channel":"default"}]}\n',
  );
});

test("run in a worker that the program itself started is refused", async () => {
  const text = await printed(
    `await run({ tasks: [A] }).catch((error) => console.log(error.message));`,
    `const worker = new Worker(Bun.main); await new Promise((done) => worker.addEventListener("close", done));`,
  );
  expect(text).toBe("run: expected the main thread, got a worker: call it in the main file\n");
});
