import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { makePrivateFolder, writeFileAtomic } from "../lib/atomic-file.ts";
import type { Log } from "../lib/log.ts";
import { readSecretFile } from "../lib/secret-file.ts";

const Identity = Type.Object({
  boot: Type.String(),
  pid: Type.Integer({ minimum: 1 }),
  start: Type.String(),
});
const RecordSchema = Type.Object({
  version: Type.Literal(1),
  provider: Type.String({ minLength: 1, maxLength: 64 }),
  /** As the request had them; may hold a credential. */
  fields: Type.Record(Type.String(), Type.Unknown()),
  /** True when the tunnel's start opened the exposure, so that its end closes it. */
  switched_on: Type.Boolean(),
  child: Type.Union([
    Type.Null(),
    Type.Object({
      generation: Type.String({ pattern: "^[A-Za-z0-9_-]{4,64}$" }),
      identity: Identity,
      url: Type.Union([Type.String(), Type.Null()]),
    }),
  ]),
});

/** The tunnel that is wanted, and the tool that runs for it: what a daemon that follows must know. */
export type TunnelRecord = Readonly<Static<typeof RecordSchema>>;

export interface TunnelStore {
  /** Private; for what the tools print as well. */
  readonly folder: string;
  readonly current: TunnelRecord | null;
  /** Counts at once in memory. What the disk refuses is said in the log: the tunnel works, but is not found again. */
  set(record: TunnelRecord | null): Promise<void>;
}

const maxBytes = 64 * 1024;

/** Opens `tunnel/` in the home. A record that cannot be read means no tunnel: nothing is started or ended by guess. */
export async function openTunnelStore(home: string, log: Log): Promise<TunnelStore> {
  const folder = join(home, "tunnel");
  const path = join(folder, "tunnel.json");
  await makePrivateFolder(folder);
  let current = await read(path, log);
  await removeLeftovers(folder, current?.child?.generation ?? null);
  let tail: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    try {
      if (current === null) await rm(path, { force: true });
      else await writeFileAtomic(path, `${JSON.stringify(current)}\n`);
    } catch (error) {
      log.error({ err: error }, "the tunnel could not be remembered");
    }
  }

  return {
    folder,
    get current() {
      return current;
    },
    set(record) {
      current = record;
      tail = tail.then(write);
      return tail;
    },
  };
}

async function read(path: string, log: Log): Promise<TunnelRecord | null> {
  const file = await readSecretFile(path, maxBytes);
  if (!file.ok) {
    if (file.problem !== "missing")
      log.error({ path, detail: file.detail }, "the tunnel's record is not used");
    return null;
  }
  try {
    const raw: unknown = JSON.parse(file.text);
    if (Compile(RecordSchema).Check(raw)) return raw as TunnelRecord;
  } catch {
    // Said below, as for any other record that is none.
  }
  log.error({ path }, "the tunnel's record is damaged and not used");
  return null;
}

/** Output of tools that ended with a daemon that was killed. */
async function removeLeftovers(folder: string, kept: string | null): Promise<void> {
  for (const name of await readdir(folder))
    if (/\.(log|exit|exit\.tmp|pipe|tmp)$/.test(name) && (kept === null || !name.startsWith(`${kept}.`)))
      await rm(join(folder, name), { force: true });
}
