import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { schemaVersion } from "../../../src/store/sqlite/schema.ts";
import { type SmallDisk, smallDisk } from "../../support/small-disk.ts";

const diskMegabytes = 48;

/** The embedded store of a run: a path of its own, perhaps on a small disk of its own. */
export class FileWorld {
  readonly path: string;
  readonly folder: string;
  readonly disk: SmallDisk | undefined;

  constructor(folder: string, { hasSmallDisk }: { hasSmallDisk: boolean }) {
    this.disk = hasSmallDisk ? smallDisk(diskMegabytes) : undefined;
    this.folder = this.disk?.path ?? folder;
    this.path = join(this.folder, "store", "jobs.sqlite");
  }

  get url(): string {
    return `sqlite:${this.path}`;
  }

  /** A newer version's file, made readable to this one: what the newer one adds does not concern us. */
  admitThisVersion(): void {
    if (existsSync(this.path)) this.setVersion((found) => Math.min(found, schemaVersion));
  }

  /** As a newer version leaves it, whoever looked at it since. */
  refuseThisVersion(): void {
    this.setVersion(() => schemaVersion + 1);
  }

  private setVersion(version: (found: number) => number): void {
    const database = new Database(this.path);
    try {
      database.run("PRAGMA busy_timeout = 10000");
      const found =
        database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
      if (found !== version(found)) database.run(`PRAGMA user_version = ${version(found)}`);
    } finally {
      database.close();
    }
  }

  close(): void {
    this.disk?.[Symbol.dispose]();
  }
}
