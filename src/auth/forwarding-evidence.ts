/**
 * True for a header that only a forwarder adds. Its mere presence, even empty, makes a request remote; `_` reads as `-`,
 * because some servers behind proxies fold them (CVE-2025-64484).
 */
export function isForwardingHeader(rawName: string): boolean {
  // Most headers are told apart by their first letter alone.
  switch (rawName.charCodeAt(0) | 0x20) {
    case 0x63: // c
    case 0x66: // f
    case 0x6e: // n
    case 0x74: // t
    case 0x76: // v
    case 0x78: // x
      return isNamed(rawName);
    default:
      return false;
  }
}

/** True when a `Connection` header asks a proxy to strip one of them: absence of the header is then no sign (CVE-2024-45410). */
export function connectionNamesForwarding(rawConnection: string): boolean {
  if (!rawConnection.includes(",")) return isForwardingHeader(rawConnection.trim());
  return rawConnection.split(",").some((option) => isForwardingHeader(option.trim()));
}

const exact: ReadonlySet<string> = new Set([
  "forwarded",
  "x-real-ip",
  "cdn-loop",
  "true-client-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-amzn-trace-id",
  "via",
]);

const prefixes: readonly string[] = [
  "x-forwarded",
  "cf-",
  "x-envoy-",
  "x-azure-",
  "x-appengine-",
  "fastly-",
  "fly-",
  "ngrok-",
  "tailscale-",
  "x-original-",
];

function isNamed(rawName: string): boolean {
  const name = rawName.toLowerCase().replaceAll("_", "-");
  if (exact.has(name)) return true;
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}
