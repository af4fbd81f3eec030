/** Where a door of the configuration listens: a port on loopback, or a Unix socket. */
export type DoorListen =
  | { readonly kind: "port"; readonly port: number }
  | { readonly kind: "socket"; readonly path: string };

export interface DoorConfig {
  /** `door-1`, `door-2`, …: in the order of the file. */
  readonly name: string;
  readonly listen: DoorListen;
  /** The public base, without a slash at its end. */
  readonly url: string;
}

export interface AgentConfig {
  readonly command: string;
  /** Null: not said; those of a known program, else none. */
  readonly args: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
}

/** A server of the Model Context Protocol that agents are told of: a program that they start, or an address. */
export type McpServerConfig =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Fields of one provider, to be judged by the provider's own schema. */
export type ProviderFields = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What `config.toml` says, parsed, checked, with defaults, frozen. */
export interface Config {
  /** Port of the main door; 0 picks a free one. */
  readonly port: number;
  /** The address that the main door binds when remote access is on; null: all interfaces. */
  readonly host: string | null;
  /** Further names of this machine, lower case. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** Addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly browseRoot: string;
  /** 0: never. */
  readonly idleMinutes: number;
  /** What runs in new tabs: the name of a runtime. The first agent of the file when it does not say; else the shell. */
  readonly runtime: string;
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  readonly doors: readonly DoorConfig[];
  readonly rules: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** -1: never. */
  readonly mewDetachGraceSeconds: number;
  readonly jobs: {
    readonly maxLogBytes: number;
    readonly maxTotalBytes: number;
    readonly keepDays: number;
  };
  readonly push: {
    /** How long something is left alone before phones are told. */
    readonly afterMs: number;
    /** Whom push services may write to: a `mailto:` or `https:` address. */
    readonly contact: string;
    readonly insecurePrivateEndpoints: boolean;
  };
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** Paths of the scripts that the runtime `replay` plays, by name. */
  readonly replayScripts: Readonly<Record<string, string>>;
  readonly tunnel: {
    readonly insecureHttp: boolean;
    readonly probeAddress: string | null;
    readonly probeCaPath: string | null;
    readonly providers: Readonly<Record<string, ProviderFields>>;
  };
}

export const configDefaults = {
  port: 7_700,
  idleMinutes: 120,
  runtime: "shell",
  mewDetachGraceSeconds: 30,
  maxLogBytes: 1024 ** 3,
  maxTotalBytes: 10 * 1024 ** 3,
  keepDays: 30,
  pushAfterSeconds: 15,
  /** Apple refuses a name that does not resolve, such as one under .invalid. */
  pushContact: "https://www.npmjs.com/package/sallyport",
} as const;
