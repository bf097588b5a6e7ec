import { accessSync, constants, existsSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StoreUnsuitable } from "../../foundation/errors.ts";
import { notWritable } from "./errors.ts";

/**
 * File systems that other machines share: their locks do not hold what WAL needs, and writers of two
 * machines would destroy the file. Numbers from statfs(2) and the kernel's magic.h.
 */
const networkFileSystems = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "CIFS"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x01021997, "9P"],
  [0x0bd00bd0, "Lustre"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
]);

/**
 * Makes the folder of a database and checks that it can be used.
 *
 * @throws StoreUnsuitable for a folder that cannot be written or is on a network file system
 */
export function prepareFolder(path: string, typeOf: (folder: string) => number = fileSystemType): void {
  const folder = dirname(path);
  try {
    const isNew = !existsSync(folder);
    mkdirSync(folder, { recursive: true });
    if (isNew) writeFileSync(join(folder, ".gitignore"), "*\n");
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    throw new StoreUnsuitable("NOT_WRITABLE", notWritable(path, code ?? message), { cause: error });
  }
  const name = networkFileSystems.get(typeOf(folder) >>> 0);
  if (name !== undefined) {
    throw new StoreUnsuitable(
      "NETWORK_FILE_SYSTEM",
      `${path} is on a network file system (${name}), where file locks cannot be trusted; use a local disk, or Redis for several machines`,
    );
  }
}

function fileSystemType(folder: string): number {
  return Number(statfsSync(folder).type);
}

/** What the user may still write to the disk under a path. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return Number(bavail) * Number(bsize);
}
