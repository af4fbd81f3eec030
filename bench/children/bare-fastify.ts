import fastify from "fastify";
import { answerCalls } from "../harness/child.ts";

const calls = {
  /** One route that answers `body`; the port. */
  async start({ path, body }: { readonly path: string; readonly body: unknown }): Promise<number> {
    const app = fastify({ logger: false });
    app.get(path, () => body);
    return Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
  },
};
export type BareFastifyCalls = typeof calls;

answerCalls(calls);
