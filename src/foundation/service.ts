/**
 * The one contract of every long-lived part. `start` resolves when the part is working; `stop` resolves
 * when it has stopped. Both may be called twice, in any order, and answer with the first call's result.
 */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<unknown>;
}
