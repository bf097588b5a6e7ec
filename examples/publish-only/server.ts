/**
 * An HTTP server that only publishes: it starts no workers and opens one connection, at its first
 * publication. A node elsewhere runs the jobs: `bunx solid-jobs -r ./jobs.ts`.
 */
import { ArgumentsError, PublishUnconfirmed, StoreUnavailable } from "solid-jobs";
import { ResizeImage } from "./jobs.ts";

async function resize(request: Request): Promise<Response> {
  const { path, width } = (await request.json()) as { path: string; width: number };
  const id = await ResizeImage.enqueue(path, width);
  return Response.json({ id }, { status: 202 });
}

function failure(error: Error): Response {
  if (error instanceof ArgumentsError) return Response.json({ error: error.message }, { status: 400 });
  // Stored or not: the client may ask for the id, see Catalog.locate.
  if (error instanceof PublishUnconfirmed)
    return Response.json({ unconfirmed: error.unconfirmedIds }, { status: 503 });
  if (error instanceof StoreUnavailable) return new Response("try again later", { status: 503 });
  throw error;
}

const server = Bun.serve({
  port: Number(process.env["PORT"] ?? 3000),
  routes: { "/resize": { POST: resize } },
  error: failure,
});
console.log(`listening on ${server.url.href}`);
