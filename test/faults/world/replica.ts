import { awaited } from "../../support/awaited.ts";
import { RedisServer, type RedisServerOptions } from "../../support/redis-server.ts";
import { FaultProxy } from "./fault-proxy.ts";

/** A replica that follows a primary over a link of its own, which can be held so that it lags. */
export class Replica {
  readonly server: RedisServer;
  readonly primary: RedisServer;
  private readonly link: FaultProxy;

  private constructor(primary: RedisServer, server: RedisServer, link: FaultProxy) {
    this.primary = primary;
    this.server = server;
    this.link = link;
  }

  /** Resolves when it follows. */
  static async start(primary: RedisServer, options: RedisServerOptions): Promise<Replica> {
    const link = await FaultProxy.start(primary.port);
    const args = [...(options.args ?? []), "--replicaof", "127.0.0.1", String(link.port)];
    const server = await RedisServer.start({ ...options, args });
    const replica = new Replica(primary, server, link);
    await awaited("the replica to follow", async () => {
      const info = String(await server.send("INFO"));
      return info.includes("master_link_status:up") && info.includes("aof_rewrite_in_progress:0");
    });
    return replica;
  }

  /** It gets nothing more, and lags. */
  hold(): void {
    this.link.hold();
  }

  async close(): Promise<void> {
    await this.link.close();
    await this.primary.stop();
    await this.server.stop();
  }
}
