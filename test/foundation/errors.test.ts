import { expect, test } from "bun:test";
import { join } from "node:path";
import { SolidJobsError } from "../../src/foundation/errors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const source = join(import.meta.dir, "..", "..", "src", "foundation", "errors.ts");

test("each error keeps its name in a minified bundle, which renames its class", async () => {
  using folder = temporaryFolder();
  const { outputs } = await Bun.build({ entrypoints: [source], minify: true, outdir: folder.path });
  const bundled: Record<string, unknown> = await import(outputs[0]!.path);
  const classes = Object.entries(bundled).filter(
    ([, value]) => typeof value === "function" && value.prototype instanceof Error,
  ) as [string, new (...args: unknown[]) => Error][];
  expect(classes.length).toBeGreaterThan(10);
  const names = classes.map(([, ErrorClass]) => new ErrorClass("message", {}, {}).name);
  expect(names).toEqual(classes.map(([exported]) => exported));
});

test("an error is shown with its name and message", () => {
  const error = new SolidJobsError("CODE", "what to do");
  expect(error.name).toBe("SolidJobsError");
  expect(`${error}`).toBe("SolidJobsError: what to do");
});
