import { join } from "node:path";
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

  close(): void {
    this.disk?.[Symbol.dispose]();
  }
}
