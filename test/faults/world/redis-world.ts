import { RedisServer, type RedisServerOptions } from "../../support/redis-server.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { Replica } from "./replica.ts";

export interface RedisWorldOptions extends RedisServerOptions {
  readonly hasReplica?: boolean;
}

/** The Redis of a run: a server of its own with an append-only file, the proxy through which nodes and publishers reach it, perhaps a replica. */
export class RedisWorld {
  readonly proxy: FaultProxy;
  /** The present primary. */
  server: RedisServer;
  readonly replica: Replica | undefined;

  private constructor(server: RedisServer, proxy: FaultProxy, replica: Replica | undefined) {
    this.server = server;
    this.proxy = proxy;
    this.replica = replica;
  }

  static async open({
    hasReplica = false,
    appendOnly = "everysec",
    args = [],
  }: RedisWorldOptions): Promise<RedisWorld> {
    const options = { appendOnly, args: ["--auto-aof-rewrite-percentage", "0", ...args] };
    const server = await RedisServer.start(options);
    const proxy = await FaultProxy.start(server.port);
    return new RedisWorld(server, proxy, hasReplica ? await Replica.start(server, options) : undefined);
  }

  /** Where nodes and publishers go. */
  get url(): string {
    return this.proxy.url;
  }

  /** From now on the replica is the primary. */
  follow(server: RedisServer): void {
    this.server = server;
    this.proxy.serverPort = server.port;
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.replica?.close();
    await this.server.stop();
  }
}
