/**
 * Runs `core` inside interceptors, the first one outermost. Each gets the context and `next`, which runs
 * the rest once and resolves to its result; one that does not call it stops what is inside.
 */
export type Interceptor<C, R> = (context: C, next: () => Promise<R>) => Promise<R> | R;

/** @throws Error when an interceptor calls `next` twice: the job would run twice */
export function runOnion<C, R>(
  interceptors: readonly Interceptor<C, R>[],
  context: C,
  core: () => Promise<R>,
): Promise<R> {
  let reached = -1;
  const layer = async (depth: number): Promise<R> => {
    if (depth <= reached) throw new Error("an interceptor called next() more than once");
    reached = depth;
    const interceptor = interceptors[depth];
    return interceptor === undefined ? core() : interceptor(context, () => layer(depth + 1));
  };
  return layer(0);
}
