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
 * Prepares a script; its texts and digests are made at their first use. Scripts flagged `allow-oom` must go on when the server is at `maxmemory`. Before
 * Redis 7 the server refuses the first write that needs memory, but not what follows a write that needs
 * none: there a DEL of a key that never exists opens the door.
 */
export function defineScript(name: string, text: string): Script {
  let modern: ScriptText | undefined;
  let legacy: ScriptText | undefined;
  return {
    name,
    get modern() {
      modern ??= digested(text);
      return modern;
    },
    get legacy() {
      legacy ??= digested(text.replace(shebang, doorOf(text)));
      return legacy;
    },
  };
}

function doorOf(text: string): string {
  const isAllowedAtMaxmemory = shebang.exec(text)?.[0].includes("allow-oom") ?? false;
  return isAllowedAtMaxmemory ? "redis.call('DEL', ARGV[2] .. 'none')" : "";
}

function digested(text: string): ScriptText {
  return { text, sha: new Bun.CryptoHasher("sha1").update(text).digest("hex") };
}
