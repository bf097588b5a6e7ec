/** One of the scripts in `lua/`, with the two texts and digests under which servers know it. */
export interface Script {
  readonly name: string;
  /** For Redis 7 and later: as it is in the file. */
  readonly modern: ScriptText;
  /** For Redis 6.2, which does not know the first line's flags. */
  readonly legacy: ScriptText;
}

export interface ScriptText {
  readonly text: string;
  readonly sha: string;
}

const shebang = /^#!lua[^\n]*/;

/**
 * Prepares a script. Scripts flagged `allow-oom` must go on when the server is at `maxmemory`. Before
 * Redis 7 the server refuses the first write that needs memory, but not what follows a write that needs
 * none: there a DEL of a key that never exists opens the door.
 */
export function defineScript(name: string, text: string): Script {
  const isAllowedAtMaxmemory = shebang.exec(text)?.[0].includes("allow-oom") ?? false;
  const door = isAllowedAtMaxmemory ? "redis.call('DEL', ARGV[2] .. 'none')" : "";
  return { name, modern: digested(text), legacy: digested(text.replace(shebang, door)) };
}

function digested(text: string): ScriptText {
  return { text, sha: new Bun.CryptoHasher("sha1").update(text).digest("hex") };
}
