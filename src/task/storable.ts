/** What JSON carries unchanged. Types that fit it are taken as they are, recursive ones too. */
type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json };

type IsAny<T> = 0 extends 1 & T ? true : false;

/** Nested lists are looked into this far: a list type that contains itself would never end. */
type MaxListDepth = 4;

/**
 * What may be passed for a parameter of type `T`. A type that JSON does not carry becomes a text that
 * says what to pass instead, which is what the compiler then shows.
 */
export type StorableValue<T, Depth extends unknown[] = []> =
  IsAny<T> extends true
    ? T
    : T extends Json
      ? T
      : T extends Date
        ? "a Date is not JSON: pass date.toISOString(), and declare the parameter as string"
        : T extends bigint
          ? "a bigint is not JSON: pass value.toString(), and declare the parameter as string"
          : T extends ReadonlyMap<unknown, unknown>
            ? "a Map is not JSON: pass Object.fromEntries(map), and declare the parameter as a Record"
            : T extends ReadonlySet<unknown>
              ? "a Set is not JSON: pass [...set], and declare the parameter as an array"
              : T extends ArrayBufferView | ArrayBufferLike
                ? "bytes are not JSON: pass bytes.toBase64(), and declare the parameter as string"
                : T extends symbol
                  ? "a symbol is not JSON: pass a string"
                  : T extends (...args: never[]) => unknown
                    ? "a function is not JSON: pass plain data and call the function in the task"
                    : T extends readonly unknown[]
                      ? StorableList<T, Depth>
                      : T extends object
                        ? { [K in keyof T]: StorableValue<T[K]> }
                        : T;

type StorableList<
  T extends readonly unknown[],
  Depth extends unknown[],
> = Depth["length"] extends MaxListDepth ? T : { [I in keyof T]: StorableValue<T[I], [...Depth, unknown]> };

/** The arguments of a task as they may be published. */
export type Storable<A extends unknown[]> = { [I in keyof A]: StorableValue<A[I]> };
