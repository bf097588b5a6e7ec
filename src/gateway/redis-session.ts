import { StoreUnavailable } from "../foundation/errors.ts";
import type { RedisAddress } from "../store/redis/address.ts";
import { RedisConnection } from "../store/redis/connection.ts";
import { deadlinesMs } from "./patience.ts";
import type { Command } from "./request.ts";

/** The shapes of Redis's replies: 2 has lists where 3 has maps, and texts where 3 has doubles. */
export type RespVersion = 2 | 3;

/**
 * The Redis connection of one client. A lost connection fails what was under way on it, nothing is sent
 * again, and the next request connects anew. What a client began with MULTI or WATCH goes with the
 * connection: then the next request is refused once, since it would run outside of it.
 */
export class RedisSession {
  readonly #connection: RedisConnection;
  readonly #resp: RespVersion;
  /** The connection that speaks `#resp`. */
  #preparedEpoch = 0;
  /** The connection on which MULTI or WATCH was sent last, until EXEC or DISCARD. */
  #transactionEpoch: number | undefined;

  constructor(address: RedisAddress, resp: RespVersion) {
    this.#connection = new RedisConnection(address);
    this.#resp = resp;
  }

  /**
   * Sends the commands together and answers with a reply or an error for each.
   * @throws SolidJobsError when nothing was sent
   */
  async run(commands: readonly Command[]): Promise<unknown[]> {
    const epoch = await this.#prepared();
    this.#refuseOutsideTransaction(epoch);
    const deadlines = deadlinesMs(commands);
    const replies = commands.map((command, index) => {
      this.#note(command, epoch);
      return this.#connection.call(command.name, command.args, { deadlineMs: deadlines[index]! });
    });
    const settled = await Promise.allSettled(replies);
    return settled.map((each) => (each.status === "fulfilled" ? each.value : each.reason));
  }

  /** Connects, so that an address or password that cannot be used shows at once. */
  async open(): Promise<void> {
    await this.#prepared();
  }

  /** Ends the connection: what is under way fails. */
  close(): void {
    this.#connection.close();
  }

  /** Resolves to the epoch of a connection that speaks the wanted version. */
  async #prepared(): Promise<number> {
    let epoch = await this.#connection.ready();
    while (this.#resp === 2 && epoch !== this.#preparedEpoch) {
      await this.#connection.call("HELLO", ["2"]);
      const after = await this.#connection.ready();
      if (after === epoch) this.#preparedEpoch = epoch;
      epoch = after;
    }
    return epoch;
  }

  #refuseOutsideTransaction(epoch: number): void {
    const begun = this.#transactionEpoch;
    if (begun === undefined || begun === epoch) return;
    this.#transactionEpoch = undefined;
    throw new StoreUnavailable(
      "the connection on which MULTI or WATCH was sent is lost, and what it had queued with it; begin again",
      { isSent: false },
    );
  }

  #note({ name }: Command, epoch: number): void {
    if (name === "MULTI" || name === "WATCH") this.#transactionEpoch = epoch;
    else if (name === "EXEC" || name === "DISCARD") this.#transactionEpoch = undefined;
  }
}
