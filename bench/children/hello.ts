import fastify from "fastify";

// What the start of the daemon is compared with: a server with one answer, its framework as it is installed.

const app = fastify({ logger: false });
app.get("/api/hello", () => ({ app: "hello" }));
await app.listen({ port: Number(process.argv[2]), host: "127.0.0.1" });
