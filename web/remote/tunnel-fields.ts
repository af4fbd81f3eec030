/** One field of the form for a provider. */
export interface TunnelField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly kind: "text" | "secret" | "number" | "flag";
  readonly isRequired?: boolean;
}
export interface TunnelProvider {
  readonly name: string;
  readonly title: string;
  /** What it is good for, and who can read along. */
  readonly meaning: string;
  readonly fields: readonly TunnelField[];
}

/** What `POST /api/tunnel` takes, for people. The daemon judges the values. */
export const tunnelProviders: readonly TunnelProvider[] = [
  {
    name: "cloudflared",
    title: "Cloudflare",
    meaning:
      "Without fields: a quick tunnel, whose address is new each time, so devices pair again. Cloudflare can read what passes.",
    fields: [
      {
        name: "hostname",
        label: "Host name",
        hint: "Of a named tunnel, as sally.example.com. It keeps its address.",
        kind: "text",
      },
      { name: "token", label: "Token", hint: "Of the named tunnel.", kind: "secret" },
    ],
  },
  {
    name: "tailscale",
    title: "Tailscale",
    meaning: "Devices of your tailnet reach this machine; nobody in between can read along.",
    fields: [
      {
        name: "funnel",
        label: "Open it to the whole internet (Funnel)",
        hint: "Also for devices without Tailscale.",
        kind: "flag",
      },
    ],
  },
  {
    name: "ngrok",
    title: "ngrok",
    meaning: "An address of ngrok. ngrok can read what passes.",
    fields: [
      { name: "authtoken", label: "Token", hint: "Unless the program is logged in.", kind: "secret" },
      { name: "url", label: "Address", hint: "One that you reserved, with https://.", kind: "text" },
    ],
  },
  {
    name: "ssh",
    title: "SSH",
    meaning: "A port of a server of your own. Whoever runs that server can read what passes.",
    fields: [
      { name: "host", label: "Server", hint: "As me@box.example.", kind: "text", isRequired: true },
      {
        name: "remote_port",
        label: "Port there",
        hint: "To which its web server forwards.",
        kind: "number",
        isRequired: true,
      },
      {
        name: "url",
        label: "Address",
        hint: "Under which the web server answers, with https://.",
        kind: "text",
        isRequired: true,
      },
    ],
  },
  {
    name: "command",
    title: "A program of the configuration",
    meaning: "What [tunnel.command] in config.toml says.",
    fields: [],
  },
];

/** The body of `POST /api/tunnel`: what was left empty is left out. A number that is none goes as it is, and is refused with its name. */
export function tunnelRequest(
  provider: TunnelProvider,
  typed: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = { provider: provider.name };
  for (const { name, kind } of provider.fields) {
    const value = (typed[name] ?? "").trim();
    if (value === "") continue;
    body[name] =
      kind === "flag" ? value === "true" : kind === "number" && /^\d+$/.test(value) ? Number(value) : value;
  }
  return body;
}

/** The first field that has to be filled and is not. */
export function missingField(
  provider: TunnelProvider,
  typed: Readonly<Record<string, string>>,
): TunnelField | null {
  return (
    provider.fields.find(({ name, isRequired }) => isRequired && (typed[name] ?? "").trim() === "") ?? null
  );
}
