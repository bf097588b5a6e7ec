/**
 * Runs `core` inside interceptors, the first one outermost. Each gets the context and `next`, which runs
 * the rest once and resolves to its result; one that does not call it stops what is inside.
 */
export type Interceptor<C, R> = (context: C, next: () => Promise<R>) => Promise<R> | R;

/**
 * Resolves only when all that is inside has ended: an interceptor that forgot to await `next` must not make a
 * job count as done, or as not published, while it still runs. What the inside throws counts then.
 *
 * @throws Error when an interceptor calls `next` twice: the job would run twice
 */
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
    if (interceptor === undefined) return core();
    const underWay = new Set<Promise<R>>();
    const next = () => {
      const inside = layer(depth + 1);
      const end = () => underWay.delete(inside);
      underWay.add(inside);
      inside.then(end, end);
      return inside;
    };
    const result = await interceptor(context, next);
    await Promise.all(underWay);
    return result;
  };
  return layer(0);
}
