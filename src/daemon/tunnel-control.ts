import type { AuditSink } from "../auth/audit.ts";
import type { Config } from "../config/config.ts";
import { SallyportError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import type { Access, By, Tunnel } from "../protocol/objects.ts";
import type { Provider, RawFields, TunnelPlan } from "../tunnel/provider.ts";
import { providerNamed } from "../tunnel/registry.ts";
import type { RememberedChild, Supervisor } from "../tunnel/supervisor.ts";
import { reapChild } from "../tunnel/tunnel-child.ts";
import type { DoorKeeper } from "./door-keeper.ts";
import type { Exposure } from "./exposure.ts";
import { toolPath } from "./tunnel-program.ts";
import type { TunnelStore } from "./tunnel-record.ts";

export interface TunnelControlOptions {
  readonly supervisor: Supervisor;
  readonly store: TunnelStore;
  readonly exposure: Pick<Exposure, "access" | "set">;
  readonly openDoor: DoorKeeper["openDoor"];
  readonly config: () => Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly audit: AuditSink;
  readonly log: Log;
}

export interface TunnelControl {
  /**
   * Starts a tunnel instead of the one that runs; the same one again is left alone. Resolves when it is on its way.
   *
   * @throws SallyportError `invalid_field` for a provider or field, `not_supported` when its program is missing; what runs then stays
   */
  start(provider: string, rawFields: RawFields, by: By): Promise<void>;
  stop(by: By): Promise<void>;
  /** A person chose how far the daemon can be reached: `off` ends the tunnel, anything else is not the tunnel's any more. */
  accessChosen(access: Access, by: By): Promise<void>;
  /** The supervisor's state changed. */
  noteState(tunnel: Tunnel): void;
  /** Goes on with what the daemon before was doing. Yields a text for the user when it cannot, else null. */
  resume(): Promise<string | null>;
  /** @param keep `handed over`: the tool lives on; `wanted`: it ends and is started again with the daemon */
  close(keep: "handed over" | "wanted" | "nothing"): Promise<void>;
}

interface Order {
  readonly provider: Provider;
  readonly plan: TunnelPlan;
  readonly program: string | null;
  /** Two requests with the same key want the same. */
  readonly key: string;
}

/** What people want of the tunnel, in the order in which they say it; it opens the exposure and closes it again. */
export function createTunnelControl(options: TunnelControlOptions): TunnelControl {
  const { supervisor, store, exposure, audit, log } = options;
  let runningKey: string | null = null;
  let closed = false;
  let tail: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  }

  function orderFor(name: string, rawFields: RawFields): Order {
    const provider = providerNamed(name);
    const { insecureHttp, providers } = options.config().tunnel;
    const settings = providers[name] ?? {};
    const plan = provider.plan({ rawFields, settings, insecureHttp });
    const binary = typeof settings.binary === "string" ? settings.binary : null;
    const wanted = binary ?? plan.command(0).program;
    return {
      provider,
      plan,
      program: toolPath(wanted, { home: options.home, environment: options.environment }),
      key: JSON.stringify([name, Object.entries({ ...settings, ...rawFields }).sort(), insecureHttp]),
    };
  }

  function launch(order: Order, program: string, inherited: RememberedChild | null): void {
    const { provider, plan } = order;
    runningKey = order.key;
    supervisor.start({
      provider: provider.name,
      plan,
      program,
      inherited,
      async openDoor() {
        const door = await options.openDoor({
          name: provider.name,
          publicUrl: null,
          addressSource: provider.addressSource,
        });
        return {
          port: door.port,
          setAddress: (url) => door.setPublicUrl(url, { offered: false }),
          offer: (url) => door.setPublicUrl(url),
          close: () => door.close(),
        };
      },
    });
  }

  /** The end of what a start switched on, and of nothing else. */
  async function closeExposure(by: By | null): Promise<void> {
    const mine = store.current?.switched_on === true;
    await store.set(null);
    if (mine && exposure.access === "tunnel") await exposure.set("off", by);
  }

  async function end(by: By | null): Promise<void> {
    if (supervisor.current.provider !== null && supervisor.current.state !== "off")
      audit({ type: "tunnel_stopped", provider: supervisor.current.provider, by });
    runningKey = null;
    // Not waited for: who asked may have come through the tunnel, and the answer must leave before it is gone.
    supervisor.stop().catch((error: unknown) => log.error({ err: error }, "the tunnel did not end in order"));
    await closeExposure(by);
  }

  return {
    start: (name, rawFields, by) =>
      inTurn(async () => {
        if (closed)
          throw new SallyportError("overloaded", "The daemon is stopping; try again when it is back.");
        const order = orderFor(name, rawFields);
        if (order.key === runningKey && supervisor.current.state !== "failed") return;
        if (order.program === null) {
          const reason = missingProgram(order, options.config());
          // A tunnel that is there may be what the asker came through: it stays.
          if (runningKey === null) {
            await end(by);
            supervisor.fail(name, reason);
          }
          throw new SallyportError("not_supported", reason, { field: "provider" });
        }
        const switchesOn = exposure.access === "off";
        if (switchesOn) await exposure.set("tunnel", by);
        const wasMine = store.current?.switched_on === true;
        await store.set({
          version: 1,
          provider: name,
          fields: { ...rawFields },
          switched_on: switchesOn || (wasMine && exposure.access === "tunnel"),
          child: null,
        });
        audit({ type: "tunnel_started", provider: name, by });
        launch(order, order.program, null);
      }),
    stop: (by) => inTurn(() => end(by)),
    accessChosen: (access, by) =>
      inTurn(async () => {
        const record = store.current;
        if (access === "off") {
          if (supervisor.current.state !== "off" || record !== null) await end(by);
        } else if (record?.switched_on) await store.set({ ...record, switched_on: false });
      }),
    noteState(tunnel) {
      // A failure that trying again does not mend is the tunnel's end.
      if (tunnel.state !== "failed" || tunnel.next_try !== null || store.current === null) return;
      void inTurn(async () => {
        if (supervisor.current.state !== "failed" || supervisor.current.next_try !== null) return;
        runningKey = null;
        await closeExposure(null);
      }).catch((error: unknown) =>
        log.error({ err: error }, "exposure could not be closed after the tunnel"),
      );
    },
    resume: () =>
      inTurn(async () => {
        const record = store.current;
        if (record === null) return null;
        const drop = async (reason: string): Promise<string> => {
          if (record.child !== null) await reapChild(store.folder, record.child);
          supervisor.fail(record.provider, reason);
          await closeExposure(null);
          return reason;
        };
        try {
          const order = orderFor(record.provider, record.fields);
          if (exposure.access === "off") {
            if (record.child !== null) await reapChild(store.folder, record.child);
            await store.set(null);
            return null;
          }
          if (order.program === null) return await drop(missingProgram(order, options.config()));
          launch(order, order.program, record.child);
          return null;
        } catch (error) {
          if (!(error instanceof SallyportError)) throw error;
          return await drop(`The tunnel is not started again: ${error.message}`);
        }
      }),
    async close(keep) {
      closed = true;
      await inTurn(async () => {
        if (keep === "handed over") await supervisor.handOver();
        else {
          if (keep === "nothing") await store.set(null);
          await supervisor.stop();
        }
      });
    },
  };
}

function missingProgram({ provider, plan }: Order, config: Config): string {
  const { name, howToGet } = provider;
  const binary = config.tunnel.providers[name]?.binary;
  if (typeof binary === "string")
    return `${binary}, which tunnel.${name}.binary in config.toml names, is no program that can be run. ${howToGet}`;
  const missing = `The program ${plan.command(0).program} was not found on this machine. ${howToGet}.`;
  return name === "command"
    ? missing
    : `${missing} Where it is in another place, set tunnel.${name}.binary in config.toml.`;
}
