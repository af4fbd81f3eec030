import { type Static, Type } from "typebox";

/** The keys of `config.toml` as a person writes them. Whatever is not here is refused. */
const closed = { additionalProperties: false } as const;
const Text = Type.String({ maxLength: 4_096 });
const Texts = Type.Array(Text, { maxItems: 1_000 });
const Path = Type.String({ minLength: 1, maxLength: 4_096 });

/** Fields of a provider beside `binary` are judged by the provider itself, which knows their grammar. */
const ProviderField = Type.Union([Text, Type.Integer(), Type.Boolean(), Texts]);
const Provider = Type.Object({ binary: Type.Optional(Path) }, { additionalProperties: ProviderField });

export const tunnelProviders = ["cloudflared", "tailscale", "ngrok", "ssh"] as const;

export const ConfigSchema = Type.Object(
  {
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
    host: Type.Optional(Text),
    hosts: Type.Optional(Texts),
    origins: Type.Optional(Texts),
    trusted_proxies: Type.Optional(Texts),
    daemon: Type.Optional(
      Type.Object(
        {
          browse_root: Type.Optional(Path),
          idle_minutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 525_600 })),
          runtime: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        },
        closed,
      ),
    ),
    tls: Type.Optional(Type.Object({ cert: Type.Optional(Path), key: Type.Optional(Path) }, closed)),
    door: Type.Optional(
      Type.Array(
        Type.Object(
          {
            listen: Type.Union([Type.Integer({ minimum: 1, maximum: 65_535 }), Path]),
            url: Text,
          },
          closed,
        ),
        { maxItems: 16 },
      ),
    ),
    rules: Type.Optional(Type.Object({ allow: Type.Optional(Texts), deny: Type.Optional(Texts) }, closed)),
    mew: Type.Optional(
      Type.Object(
        { detach_grace: Type.Optional(Type.Integer({ minimum: -1, maximum: 31_536_000 })) },
        closed,
      ),
    ),
    jobs: Type.Optional(
      Type.Object(
        {
          max_log_bytes: Type.Optional(Type.Integer({ minimum: 4_096 })),
          max_total_bytes: Type.Optional(Type.Integer({ minimum: 4_096 })),
          keep_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
        },
        closed,
      ),
    ),
    agents: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            command: Path,
            args: Type.Optional(Texts),
            env: Type.Optional(Type.Record(Type.String(), Text)),
          },
          closed,
        ),
      ),
    ),
    push: Type.Optional(
      Type.Object(
        {
          after_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
          contact: Type.Optional(Text),
          insecure_private_endpoints: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    mcp_servers: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            command: Type.Optional(Path),
            args: Type.Optional(Texts),
            env: Type.Optional(Type.Record(Type.String(), Text)),
            url: Type.Optional(Path),
            headers: Type.Optional(Type.Record(Type.String(), Text)),
          },
          closed,
        ),
      ),
    ),
    replay: Type.Optional(Type.Record(Type.String(), Type.Object({ script: Path }, closed))),
    tunnel: Type.Optional(
      Type.Object(
        {
          insecure_http: Type.Optional(Type.Boolean()),
          probe_address: Type.Optional(Path),
          probe_ca: Type.Optional(Path),
          command: Type.Optional(
            Type.Object(
              {
                command: Type.Array(Path, { minItems: 1, maxItems: 256 }),
                url_pattern: Type.Optional(Path),
              },
              { additionalProperties: ProviderField },
            ),
          ),
          cloudflared: Type.Optional(Provider),
          tailscale: Type.Optional(Provider),
          ngrok: Type.Optional(Provider),
          ssh: Type.Optional(Provider),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type RawConfig = Static<typeof ConfigSchema>;
