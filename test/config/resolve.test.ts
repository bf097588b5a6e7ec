import { describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { settingsFrom } from "../../src/config/resolve.ts";
import { ConfigurationError } from "../../src/foundation/errors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const env = {};

function problemOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  return "no error";
}

describe("settings that nobody gives", () => {
  test("have the documented defaults", () => {
    using folder = temporaryFolder();
    expect(settingsFrom({ env, cwd: folder.path })).toEqual({
      url: `sqlite:${join(folder.path, ".solid-jobs", "jobs.sqlite")}`,
      prefix: "solid_jobs:",
      require: [],
      concurrency: Math.min(256, availableParallelism()),
      slots: 1,
      lookAhead: 128,
      channels: [],
      channelOrder: "weighted",
      timeout: 25,
      logLevel: "info",
      watch: false,
      maxFailures: 25,
      retryBase: 15,
      retryCap: 3600,
      discardedLimit: 10_000,
      discardedRetention: 180,
      delivery: "at-least-once",
      payloadLimit: 1_048_576,
      publishDeadline: 5,
      onComplexArguments: "raise",
      allowEviction: false,
      synchronous: "normal",
      ttl: 15,
      maxCrashes: 3,
      labels: [],
      tlsCa: undefined,
    });
  });

  test("are frozen with their lists", () => {
    const settings = settingsFrom({ env, given: { channels: ["a"], labels: ["x"] } });
    expect(Object.isFrozen(settings)).toBe(true);
    for (const list of [settings.channels, settings.labels, settings.require, settings.channels[0]]) {
      expect(Object.isFrozen(list)).toBe(true);
    }
  });
});

describe("the order of the sources", () => {
  test("is defaults, file, environment, code, flags", () => {
    using folder = temporaryFolder();
    const configFile = folder.write("c.toml", "slots = 2\n");
    const withFile = { configFile, env };
    const withEnvironment = { configFile, env: { SOLID_JOBS_SLOTS: "3" } };
    const withCode = { ...withEnvironment, given: { slots: 4 } };
    const withFlags = { ...withCode, flags: { slots: "5" } };
    const all = [{ env }, withFile, withEnvironment, withCode, withFlags];
    expect(all.map((sources) => settingsFrom(sources).slots)).toEqual([1, 2, 3, 4, 5]);
  });

  test("holds for any set of sources: the strongest that speaks wins", () => {
    using folder = temporaryFolder();
    const maybeSlots = fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined });
    fc.assert(
      fc.property(
        maybeSlots,
        maybeSlots,
        maybeSlots,
        maybeSlots,
        (inFile, inEnvironment, inCode, inFlags) => {
          const settings = settingsFrom({
            configFile: folder.write("c.json", JSON.stringify({ slots: inFile })),
            env: inEnvironment === undefined ? {} : { SOLID_JOBS_SLOTS: `${inEnvironment}` },
            given: { slots: inCode },
            flags: inFlags === undefined ? {} : { slots: `${inFlags}` },
          });
          expect(settings.slots).toBe(inFlags ?? inCode ?? inEnvironment ?? inFile ?? 1);
        },
      ),
    );
  });

  test("of the store URL ends with REDIS_URL, which is not even read when something else is set", () => {
    using folder = temporaryFolder();
    const configFile = folder.write("c.toml", 'redis_url = "redis://file"\n');
    const fallback = { REDIS_URL: "redis://fallback" };
    expect(settingsFrom({ env: fallback }).url).toBe("redis://fallback");
    expect(settingsFrom({ env: { REDIS_URL: "not one of ours" }, configFile }).url).toBe("redis://file");
    const withOurs = { ...fallback, SOLID_JOBS_URL: "redis://ours" };
    expect(settingsFrom({ env: withOurs, configFile }).url).toBe("redis://ours");
    expect(settingsFrom({ env: withOurs, flags: { redisUrl: "redis://flag" } }).url).toBe("redis://flag");
    expect(settingsFrom({ env: withOurs, flags: { url: "redis://flag" } }).url).toBe("redis://flag");
    expect(problemOf(() => settingsFrom({ env: { REDIS_URL: "http://x" } }))).toStartWith(
      "environment REDIS_URL: expected a URL that begins with redis://",
    );
  });

  test("takes a config file from SOLID_JOBS_CONFIG where none is given", () => {
    using folder = temporaryFolder();
    folder.write("env.toml", "slots = 2");
    folder.write("given.toml", "slots = 3");
    const variables = { SOLID_JOBS_CONFIG: "env.toml" };
    expect(settingsFrom({ env: variables, cwd: folder.path }).slots).toBe(2);
    expect(settingsFrom({ env: variables, cwd: folder.path, configFile: "given.toml" }).slots).toBe(3);
  });

  test("refuses two names of the store that differ within one source", () => {
    expect(problemOf(() => settingsFrom({ env, flags: { url: "redis://a", redisUrl: "redis://b" } }))).toBe(
      "flag --url and flag --redis-url set the same thing to different values: give one of them",
    );
    expect(settingsFrom({ env, flags: { url: "redis://a", redisUrl: "redis://a" } }).url).toBe("redis://a");
  });
});

describe("a config file", () => {
  test("in TOML and in JSON says the same", () => {
    using folder = temporaryFolder();
    const toml = folder.write(
      "c.toml",
      `redis_url = "redis://host"\nconcurrency = 3\ntimeout = 1.5\nlog_level = "warn"\nwatch = true
       channel_order = "priority"\nlabels = ["eu", "big box"]\n
       [[channels]]\nname = "critical"\nweight = 3\n[[channels]]\nname = "a,b"\n`,
    );
    const json = folder.write(
      "c.json",
      JSON.stringify({
        redis_url: "redis://host",
        concurrency: 3,
        timeout: 1.5,
        log_level: "warn",
        watch: true,
        channel_order: "priority",
        labels: ["eu", "big box"],
        channels: ["critical,3", "a,b,1"],
      }),
    );
    const settings = settingsFrom({ env, configFile: toml });
    expect(settings).toMatchObject({
      url: "redis://host",
      concurrency: 3,
      timeout: 1.5,
      logLevel: "warn",
      watch: true,
      channelOrder: "priority",
      labels: ["eu", "big box"],
      channels: [
        { name: "critical", weight: 3 },
        { name: "a,b", weight: 1 },
      ],
    });
    expect(settingsFrom({ env, configFile: json })).toEqual(settings);
  });

  test("has paths that start from its own folder, all others start from the current one", () => {
    using folder = temporaryFolder();
    const module = folder.write("conf/jobs.ts");
    const other = folder.write("jobs.ts");
    const ca = folder.write("conf/ca.pem");
    const configFile = folder.write(
      "conf/c.toml",
      'require = "jobs.ts"\ntls_ca = "ca.pem"\nurl = "sqlite:j.db"',
    );
    const settings = settingsFrom({ env, configFile, cwd: folder.path });
    expect(settings.require).toEqual([module]);
    expect(settings.tlsCa).toBe(ca);
    expect(settings.url).toBe(`sqlite:${join(folder.path, "conf/j.db")}`);
    const flags = { require: ["jobs.ts"], url: "sqlite:j.db" };
    const overridden = settingsFrom({ env, configFile, flags, cwd: folder.path });
    expect(overridden.require).toEqual([other]);
    expect(overridden.url).toBe(`sqlite:${join(folder.path, "j.db")}`);
  });

  test("may hold paths that do not exist when something stronger gives them", () => {
    using folder = temporaryFolder();
    const module = folder.write("jobs.ts");
    const configFile = folder.write("c.toml", 'require = ["gone.ts"]');
    expect(settingsFrom({ env, configFile, flags: { require: [module] } }).require).toEqual([module]);
    expect(problemOf(() => settingsFrom({ env, configFile }))).toContain(
      `config file ${configFile}, key require: nothing found at ${join(folder.path, "gone.ts")}`,
    );
  });

  test.each([
    ["c.toml", "slost = 3", ': unknown key "slost" (did you mean "slots"?)'],
    ["c.toml", "logLevel = 'info'", ': unknown key "logLevel" (did you mean "log_level"?)'],
    ["c.json", '{"__proto__": {"slots": 3}}', ': unknown key "__proto__" (valid: url, redis_url, prefix'],
    ["c.toml", "[redis]\nurl = 'x'", ': unknown key "redis" (valid: '],
    ["c.toml", "slots = '4'", ', key slots: expected a whole number from 1 to 1000, got "4"'],
    ["c.toml", "slots = 1.5", ", key slots: expected a whole number from 1 to 1000, got 1.5"],
    [
      "c.toml",
      "slots = 9007199254740993",
      ", key slots: expected a whole number from 1 to 1000, got 9007199254740993",
    ],
    ["c.toml", "timeout = nan", ", key timeout: expected a number from 0 to 3600 (seconds), got NaN"],
    ["c.toml", "timeout = inf", "got Infinity"],
    ["c.toml", "watch = 1", ", key watch: expected true or false, got 1"],
    ["c.toml", "prefix = 1979-05-27T07:32:00Z", "got a date"],
    ["c.toml", "channels = [['a']]", ", key channels: "],
    ["c.toml", "channels = ['a', 'a,2']", ', key channels: the channel "a" is given twice'],
    ["c.toml", "[[channels]]\nname = 'a'\nweight = 0", "got 0"],
    ["c.json", '{"slots": null}', "got null"],
    ["c.json", '{"labels": {}}', "got an object"],
    ["c.toml", "slots = ", " is not valid TOML: "],
    ["c.json", "{slots: 1}", " is not valid JSON: "],
    ["c.json", "", " is not valid JSON: "],
    ["c.json", "[]", ": expected an object of settings at the top"],
    ["c.json", "\xff\xfe".repeat(2), " is not valid JSON"],
    ["c.yaml", "slots: 1", ": expected a name that ends in .toml or .json"],
  ])("named %s that holds %p is refused in one line", (name, content, problem) => {
    using folder = temporaryFolder();
    const configFile = folder.write(name, content);
    const message = problemOf(() => settingsFrom({ env, configFile }));
    expect(message).toStartWith(`config file ${configFile}`);
    expect(message).toContain(problem);
    expect(message).not.toContain("\n");
  });

  test("that is missing or a directory is refused by its absolute path", () => {
    using folder = temporaryFolder();
    folder.write("dir.toml/x");
    const read = (configFile: string) => problemOf(() => settingsFrom({ env, configFile, cwd: folder.path }));
    expect(read("gone.toml")).toBe(
      `config file ${join(folder.path, "gone.toml")} cannot be read: there is no such file`,
    );
    expect(read("dir.toml")).toBe(
      `config file ${join(folder.path, "dir.toml")} cannot be read: it is a directory`,
    );
  });
});

describe("the environment", () => {
  test("gives every kind of setting as text", () => {
    const settings = settingsFrom({
      env: {
        SOLID_JOBS_CONCURRENCY: " 2 ",
        SOLID_JOBS_TIMEOUT: "0.5",
        SOLID_JOBS_WATCH: "TRUE",
        SOLID_JOBS_ALLOW_EVICTION: "1",
        SOLID_JOBS_CHANNELS: "critical,3; two words ;a:b{c}",
        SOLID_JOBS_LABELS: "eu;big,box",
        SOLID_JOBS_ON_COMPLEX_ARGUMENTS: "warn",
      },
    });
    expect(settings).toMatchObject({
      concurrency: 2,
      timeout: 0.5,
      watch: true,
      allowEviction: true,
      channels: [
        { name: "critical", weight: 3 },
        { name: "two words", weight: 1 },
        { name: "a:b{c}", weight: 1 },
      ],
      labels: ["eu", "big,box"],
      onComplexArguments: "warn",
    });
  });

  test("counts an empty variable as not set", () => {
    expect(settingsFrom({ env: { SOLID_JOBS_SLOTS: "", SOLID_JOBS_URL: " ", REDIS_URL: "" } }).slots).toBe(1);
  });

  test.each([
    [
      { SOLID_JOBS_SLOTS: "many" },
      'environment SOLID_JOBS_SLOTS: expected a whole number from 1 to 1000, got "many"',
    ],
    [{ SOLID_JOBS_SLOTS: "0x10" }, 'got "0x10"'],
    [{ SOLID_JOBS_SLOTS: "1e2" }, 'got "1e2"'],
    [{ SOLID_JOBS_CONCURRENCY: "257" }, 'expected a whole number from 1 to 256, got "257"'],
    [
      { SOLID_JOBS_WATCH: "yes please" },
      'environment SOLID_JOBS_WATCH: expected true or false, got "yes please"',
    ],
    [{ SOLID_JOBS_LOG_LEVEL: "wran" }, 'got "wran" (did you mean "warn"?)'],
    [{ SOLID_JOBS_CHANNELS: "a,0" }, "environment SOLID_JOBS_CHANNELS: the weight"],
    [{ SOLID_JOBS_CHANNEL: "a" }, "unknown variable SOLID_JOBS_CHANNEL (did you mean SOLID_JOBS_CHANNELS?)"],
    [{ SOLID_JOBS_CONFG: "a" }, "unknown variable SOLID_JOBS_CONFG (did you mean SOLID_JOBS_CONFIG?)"],
  ])("%p is refused", (variables, problem) => {
    expect(problemOf(() => settingsFrom({ env: variables }))).toContain(problem);
  });

  test("may hold variables of other programs with our beginning", () => {
    expect(settingsFrom({ env: { SOLID_JOBS_WEB_DASHBOARD_SECRET: "x" } }).slots).toBe(1);
  });
});

describe("settings given in code", () => {
  test("are checked like all others and may be undefined", () => {
    const given = { slots: undefined, channels: "critical,2", redisUrl: "redis://host" } as const;
    expect(settingsFrom({ env, given })).toMatchObject({
      slots: 1,
      lookAhead: 128,
      url: "redis://host",
      channels: [{ name: "critical", weight: 2 }],
    });
    expect(problemOf(() => settingsFrom({ env, given: { slots: 0 } }))).toBe(
      "setting slots: expected a whole number from 1 to 1000, got 0",
    );
    expect(problemOf(() => settingsFrom({ env, given: { slot: 1 } as object }))).toBe(
      'unknown setting "slot" (did you mean "slots"?)',
    );
  });

  test("may name modules by file URL", () => {
    using folder = temporaryFolder();
    const module = folder.write("a b.ts");
    const url = Bun.pathToFileURL(module);
    expect(settingsFrom({ env, given: { require: url } }).require).toEqual([module]);
    expect(settingsFrom({ env, given: { require: [url.href] } }).require).toEqual([module]);
    expect(settingsFrom({ env, given: { require: "a b.ts" }, cwd: folder.path }).require).toEqual([module]);
  });

  test("take PEM text as it is, and the path of a file only when it can be read", () => {
    const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    expect(settingsFrom({ env, given: { tlsCa: pem } }).tlsCa).toBe(pem);
    expect(problemOf(() => settingsFrom({ env, given: { tlsCa: "gone.pem" }, cwd: "/tmp" }))).toContain(
      "setting tlsCa: expected PEM text or a readable PEM file, got /tmp/gone.pem (ENOENT)",
    );
  });
});

describe("NODE_ENV=production", () => {
  test("requires a store URL from any source", () => {
    const production = { NODE_ENV: "production" };
    expect(problemOf(() => settingsFrom({ env: production }))).toStartWith(
      "no store URL, which NODE_ENV=production requires: publishers and nodes",
    );
    expect(settingsFrom({ env: { ...production, REDIS_URL: "redis://h" } }).url).toBe("redis://h");
    expect(settingsFrom({ env: production, given: { url: "redis://h" } }).url).toBe("redis://h");
  });

  test("is seen at run time, also in a bundle built for production or development", async () => {
    using folder = temporaryFolder();
    const source = Bun.fileURLToPath(import.meta.resolve("../../src/config/environment.ts"));
    const entry = folder.write(
      "entry.ts",
      `import { runMode } from ${JSON.stringify(source)}; console.log(runMode());`,
    );
    const build = await Bun.build({
      entrypoints: [entry],
      target: "bun",
      define: { "process.env.NODE_ENV": '"inlined"' },
      outdir: join(folder.path, "out"),
    });
    const bundle = build.outputs[0]!.path;
    const run = Bun.spawnSync([process.execPath, bundle], { env: { ...process.env, NODE_ENV: "staging" } });
    expect(run.stdout.toString()).toBe("staging\n");
  });
});
