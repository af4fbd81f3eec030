import { readFile } from "node:fs/promises";

export interface Listener {
  /** An address of this machine at which it can be reached; loopback for one that listens everywhere. */
  readonly host: string;
  readonly port: number;
}

/** Ports of services that speak something else than HTTP first, and of printers, which would print what they get. */
const otherProtocols = new Set([
  21, 22, 23, 25, 53, 110, 111, 139, 143, 389, 445, 465, 515, 587, 636, 853, 993, 995, 1_433, 1_521, 2_049,
  3_306, 3_389, 5_432, 5_900, 6_379, 9_100, 11_211, 27_017,
]);
/** Where listeners cannot be listed: where web servers usually are. */
const usualPorts = [80, 443, 8_000, 8_080, 8_443];
const listening = "0A";

/** What listens for TCP on this machine, as far as it can be told, without services known to speak no HTTP. */
export async function listenersHere(): Promise<readonly Listener[]> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => null)),
  );
  const texts = tables.filter((text) => text !== null);
  if (texts.length === 0) return usualPorts.map((port) => ({ host: "127.0.0.1", port }));
  const found = new Map<string, Listener>();
  for (const listener of texts.flatMap(parseTcpTable))
    if (!otherProtocols.has(listener.port)) found.set(`${listener.host} ${listener.port}`, listener);
  return [...found.values()];
}

/** The listening sockets in `/proc/net/tcp` or `tcp6` (proc_pid_net(5)): addresses are words in the machine's byte order. */
export function parseTcpTable(text: string): readonly Listener[] {
  return text.split("\n").flatMap((line) => {
    const [, local, , state] = line.trim().split(/\s+/);
    const found = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local ?? "");
    if (state !== listening || found?.[1] === undefined || found[2] === undefined) return [];
    const bytes = (found[1].match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
    return [{ host: hostOf(bytes), port: Number.parseInt(found[2], 16) }];
  });
}

function hostOf(bytes: readonly string[]): string {
  const isAny = bytes.every((byte) => byte === "00");
  const isMapped = bytes.length === 16 && /^0{20}FFFF$/.test(bytes.slice(0, 12).join(""));
  if (bytes.length === 4 || isMapped)
    return isAny
      ? "127.0.0.1"
      : bytes
          .slice(-4)
          .map((byte) => Number.parseInt(byte, 16))
          .join(".");
  if (isAny) return "::1";
  const words = Array.from({ length: 8 }, (_, at) => `${bytes[at * 2]}${bytes[at * 2 + 1]}`);
  return words
    .map((word) => Number.parseInt(word, 16).toString(16))
    .join(":")
    .replace(/^(0:){7}1$/, "::1");
}
