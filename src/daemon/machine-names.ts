import { hostname } from "node:os";

/** The names that this machine has on its networks: its own, the short one, and that of mDNS. */
export function machineNames(ownName = hostname()): readonly string[] {
  const name = ownName.toLowerCase().replace(/\.$/, "");
  if (name === "" || name === "localhost") return [];
  const short = name.split(".")[0] ?? name;
  return [...new Set([name, short, `${short}.local`])].filter((known) => !known.startsWith("localhost"));
}
