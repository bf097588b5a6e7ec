import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

export interface LocalRegistry {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A package registry on a free port that serves the installed copies of these packages and nothing else, so
 * that a test installs as a user does and needs no network.
 */
export async function startLocalRegistry(names: readonly string[]): Promise<LocalRegistry> {
  const packages = new Map(await Promise.all(names.map(async (name) => [name, await pack(name)] as const)));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { origin, pathname } = new URL(request.url);
      const path = decodeURIComponent(pathname).slice(1);
      const archive = packages.get(path.replace(/\.tgz$/, ""));
      if (archive === undefined) return new Response(`no package ${path}`, { status: 404 });
      if (path.endsWith(".tgz")) return new Response(archive.bytes);
      const { manifest } = archive;
      const dist = { tarball: `${origin}/${path}.tgz` };
      const versions = { [manifest.version]: { ...manifest, dist } };
      return Response.json({ name: path, "dist-tags": { latest: manifest.version }, versions });
    },
  });
  return { url: server.url.href, stop: () => server.stop(true) };
}

interface Packed {
  readonly manifest: { readonly version: string };
  readonly bytes: Uint8Array<ArrayBuffer>;
}

async function pack(name: string): Promise<Packed> {
  const folder = join(root, "node_modules", name);
  const files: Record<string, Uint8Array> = {};
  for (const file of new Bun.Glob("**").scanSync({ cwd: folder, dot: true })) {
    files[`package/${file}`] = await Bun.file(join(folder, file)).bytes();
  }
  const manifest = (await Bun.file(join(folder, "package.json")).json()) as Packed["manifest"];
  return { manifest, bytes: await new Bun.Archive(files, { compress: "gzip" }).bytes() };
}
