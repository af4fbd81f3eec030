import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { askThese, EndpointProblem, resolvePublic } from "../../src/push/resolve-host.ts";

const types = { a: 1, aaaa: 28 } as const;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A name server on loopback (RFC 1035) that knows one name; null: it never answers. */
async function nameServer(
  records: { readonly a?: readonly string[]; readonly aaaa?: readonly Buffer[] } | null,
) {
  const socket = createSocket("udp4");
  sockets.push(socket);
  let asked = 0;
  socket.on("message", (query, from) => {
    asked += 1;
    if (records === null) return;
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    const data =
      type === types.a
        ? (records.a ?? []).map((address) => Buffer.from(address.split(".").map(Number)))
        : (records.aaaa ?? []);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(data.length, 6);
    header.fill(0, 8, 12);
    const answers = data.map((bytes) => {
      const answer = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length]);
      return Buffer.concat([answer, bytes]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    resolve: askThese([`127.0.0.1:${socket.address().port}`], records === null ? 500 : 5_000),
    asked: () => asked,
  };
}

describe("names of push services", () => {
  it("lead to all of their addresses, of both kinds", async () => {
    const v6 = Buffer.from("2607f8b0400408140000000000002003", "hex");
    const { resolve } = await nameServer({ a: ["142.250.1.1", "142.250.1.2"], aaaa: [v6] });
    expect(await resolvePublic("push.example.com", resolve, false)).toEqual([
      { address: "142.250.1.1", family: 4 },
      { address: "142.250.1.2", family: 4 },
      { address: "2607:f8b0:4004:814::2003", family: 6 },
    ]);
  });

  it.each([
    ["one of several is private", { a: ["142.250.1.1", "10.0.0.1"] }],
    [
      "only the other kind is private",
      { a: ["142.250.1.1"], aaaa: [Buffer.from("fe80".padEnd(32, "0"), "hex")] },
    ],
    ["it is this machine by NAT64", { aaaa: [Buffer.from(`0064ff9b${"0".repeat(16)}7f000001`, "hex")] }],
    ["it is mapped", { aaaa: [Buffer.from(`${"0".repeat(20)}ffffa9fea9fe`, "hex")] }],
    ["it is nowhere", { a: ["0.0.0.0"] }],
  ])("are refused when %s", async (_what, records) => {
    const { resolve } = await nameServer(records);
    await expect(resolvePublic("push.example.com", resolve, false)).rejects.toThrow(EndpointProblem);
  });

  it("that do not exist are told so", async () => {
    const { resolve } = await nameServer({});
    await expect(resolvePublic("push.example.com", resolve, false)).rejects.toThrow(/cannot be resolved/);
  });

  it("attack: whose servers never answer hold up no file of the daemon", async () => {
    const { resolve, asked } = await nameServer(null);
    let settled = 0;
    const names = Array.from({ length: 16 }, (_each, index) =>
      resolve(`silent-${index}.example.com`).catch(() => {
        settled += 1;
      }),
    );
    await expect.poll(asked).toBeGreaterThanOrEqual(32);
    await readFile(fileURLToPath(import.meta.url));
    expect(settled).toBe(0);
    await Promise.all(names);
  });
});
