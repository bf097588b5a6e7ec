/**
 * The APIs of some merchants, each on a port of its own: `server.ts <merchants> <ms> <degraded ones> <their ms>`.
 * An order is answered after some milliseconds; those to the first few, the degraded ones, take longer. Prints the
 * URLs as a list in JSON.
 */
const [merchants, delayMs, degraded, degradedDelayMs] = Bun.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
];
/** Longer than any delay: Bun ends a connection that is silent for so long, 10 seconds without this. */
const idleSeconds = 120;

const urls = Array.from({ length: merchants }, (_, merchant) => {
  const answersAfterMs = merchant < degraded ? degradedDelayMs : delayMs;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: idleSeconds,
    async fetch(request) {
      if (request.method !== "POST") return new Response("expected an order (POST)", { status: 405 });
      await request.text();
      await Bun.sleep(answersAfterMs);
      return new Response("accepted");
    },
  });
  return `${server.url.origin}/orders`;
});
console.log(JSON.stringify(urls));
