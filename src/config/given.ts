import type { ChannelWeight, Settings } from "./settings.ts";

/** A channel as code may write it: `"name"`, `"name,weight"` or an object whose weight is 1 by default. */
export type GivenChannel = string | { readonly name: string; readonly weight?: number } | ChannelWeight;

type Given<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** Settings as code gives them; what is left out or undefined comes from elsewhere. */
export interface GivenSettings extends Given<Omit<Settings, "channels" | "require">> {
  /** The same as `url`, for Redis only. */
  readonly redisUrl?: string | undefined;
  readonly channels?: GivenChannel | readonly GivenChannel[] | undefined;
  /** Paths, globs and `file:` URLs; relative ones start from the current folder. */
  readonly require?: string | URL | readonly (string | URL)[] | undefined;
}
