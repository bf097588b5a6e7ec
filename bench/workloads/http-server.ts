/** Answers every request after some milliseconds: `http-server.ts <milliseconds>`. Prints its URL. */
const [delayMs = "0"] = Bun.argv.slice(2);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch() {
    await Bun.sleep(Number(delayMs));
    return new Response("ok");
  },
});
console.log(server.url.href);
