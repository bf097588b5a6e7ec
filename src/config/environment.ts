/** Environment variables, as `process.env` holds them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that is set and not empty: `NAME=` counts as not set, which is how containers pass blanks. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === "" ? undefined : value;
}

/**
 * NODE_ENV as it is now. It is read through a parameter because bundlers replace the literal
 * `process.env.NODE_ENV` with its value at build time. Blanks around it do not count.
 */
export function runMode(env: Environment = process.env): string | undefined {
  return variable(env, "NODE_ENV")?.trim();
}
