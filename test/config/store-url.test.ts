import { describe, expect, test } from "bun:test";
import { redisUrlRule, storeUrlRule, withoutPassword } from "../../src/config/store-url.ts";

const place = { origin: "flag --url", folder: "/srv/app" };
const read = (value: unknown) => storeUrlRule().read(value, place);

describe("a store URL", () => {
  test.each([
    "redis://localhost",
    "redis://localhost:6379/",
    "rediss://user:p%40ss@redis.example.org:6380/3",
    "valkey://10.0.0.1:6379/0",
    "valkeys://host",
    "redis://[::1]:6379/1",
    "redis+unix:///run/redis.sock",
    "redis+unix://user:pw@localhost/run/redis.sock",
    "redis+tls+unix:///run/redis.sock",
  ])("may be %s", (url) => {
    expect(read(url)).toEqual({ isValid: true, value: url });
    expect(redisUrlRule().read(url, place)).toEqual({ isValid: true, value: url });
  });

  test.each([
    ["sqlite:jobs.sqlite", "sqlite:/srv/app/jobs.sqlite"],
    ["sqlite:./data/../jobs.sqlite", "sqlite:/srv/app/jobs.sqlite"],
    ["sqlite:/var/jobs.sqlite", "sqlite:/var/jobs.sqlite"],
    ["sqlite:///var/jobs.sqlite", "sqlite:/var/jobs.sqlite"],
    ["sqlite://jobs.sqlite", "sqlite:/srv/app/jobs.sqlite"],
  ])("%s becomes %s", (url, expected) => {
    expect(read(url)).toEqual({ isValid: true, value: expected });
  });

  test.each([
    ["http://localhost", "expected a URL that begins with redis://"],
    ["localhost:6379", "expected a URL that begins with redis://"],
    ["", 'got ""'],
    ["redis://", "a host in the URL"],
    ["redis://:6379", "host"],
    ["redis://host:99999", "valid host and port"],
    ["redis://host/abc", "database index"],
    ["redis://host/-1", "database index"],
    ["redis+unix://", "path of a socket"],
    ["sqlite:", "a path after sqlite:"],
    ["sqlite::memory:", "could not share"],
    [5, "got 5"],
  ])("%p is refused", (url, problem) => {
    const reading = read(url);
    expect(reading.isValid ? `valid: ${reading.value}` : reading.problem).toContain(problem);
  });

  test("of the embedded engine is no Redis URL", () => {
    expect(redisUrlRule().read("sqlite:x", place).isValid).toBe(false);
  });

  test("never shows its password in an error", () => {
    for (const url of [
      "redis://user:s3cret@host/abc",
      "http://:s3cret@host",
      "redis://u:s3c@s3cret@host:99999",
    ]) {
      const reading = read(url);
      expect(reading.isValid ? "" : reading.problem).toContain("***@host");
      expect(reading.isValid ? "" : reading.problem).not.toContain("s3cret");
    }
  });

  test("without a password is shown as it is", () => {
    expect(withoutPassword("redis://host:6379/0")).toBe("redis://host:6379/0");
    expect(withoutPassword("redis://user@host")).toBe("redis://user@host");
  });
});
