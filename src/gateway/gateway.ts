import type { UnixSocketListener } from "bun";
import { ConfigurationError, toError } from "../foundation/errors.ts";
import type { Service } from "../foundation/service.ts";
import { within } from "../foundation/time.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { RedisAddress } from "../store/redis/address.ts";
import { Client } from "./client.ts";
import { RedisSession, type RespVersion } from "./redis-session.ts";
import { prepareSocketPlace, withPrivateMode } from "./socket-place.ts";

export interface GatewayOptions {
  /** The absolute path of the socket that clients connect to. */
  readonly socketPath: string;
  readonly address: RedisAddress;
  readonly resp: RespVersion;
  readonly logger: Logger;
}

/** How long requests under way get when the gateway stops. */
const stopMs = 1000;

/** Redis for programs of this user, over a Unix socket: one Redis connection for each client. */
export class Gateway implements Service {
  readonly #options: GatewayOptions;
  readonly #clients = new Set<Client>();
  #listener: UnixSocketListener<Client> | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /**
   * Resolves when clients can connect and Redis has answered.
   * @throws ConfigurationError for a socket that cannot be made safely; SolidJobsError when Redis cannot be used
   */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Lets requests under way finish for a second, ends all connections and removes the socket. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #start(): Promise<void> {
    const { socketPath, logger } = this.#options;
    await this.#tryRedis();
    await prepareSocketPlace(socketPath, logger);
    if (this.#stopping === undefined) this.#listener = withPrivateMode(() => this.#listen());
  }

  async #stop(): Promise<void> {
    this.#listener?.stop();
    const clients = [...this.#clients];
    await within(stopMs, Promise.all(clients.map((client) => client.stop())), undefined);
    for (const client of clients) client.destroy();
  }

  async #tryRedis(): Promise<void> {
    const session = this.#session();
    try {
      await session.open();
    } finally {
      session.close();
    }
  }

  #session(): RedisSession {
    return new RedisSession(this.#options.address, this.#options.resp);
  }

  #listen(): UnixSocketListener<Client> {
    const { socketPath: unix, logger } = this.#options;
    try {
      return Bun.listen<Client>({
        unix,
        allowHalfOpen: true,
        socket: {
          open: (socket) => {
            socket.data = new Client(socket, this.#session());
            this.#clients.add(socket.data);
          },
          data: ({ data: client }, chunk) => client.received(chunk),
          drain: ({ data: client }) => client.drained(),
          end: ({ data: client }) => client.halfClosed(),
          close: ({ data: client }) => {
            this.#clients.delete(client);
            client.closed();
          },
          error: (_socket, error) => logger.warn("a client's connection failed", { error }),
        },
      });
    } catch (error) {
      const { code, message } = toError(error) as NodeJS.ErrnoException;
      throw new ConfigurationError(`flag --socket: cannot listen at ${unix}: ${code ?? message}`, {
        cause: error,
      });
    }
  }
}
