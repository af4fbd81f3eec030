import type { DeviceKind } from "../../src/protocol/objects.ts";

/** What this browser calls itself until somebody renames it. */
export function describeBrowser(userAgent: string): { readonly name: string; readonly kind: DeviceKind } {
  const browser = /Edg\//.test(userAgent)
    ? "Edge"
    : /Firefox|FxiOS/.test(userAgent)
      ? "Firefox"
      : /Chrome|CriOS/.test(userAgent)
        ? "Chrome"
        : /Safari/.test(userAgent)
          ? "Safari"
          : "Browser";
  const [system, kind] = describeSystem(userAgent);
  return { name: system === "" ? browser : `${browser} on ${system}`, kind };
}

function describeSystem(userAgent: string): [system: string, kind: DeviceKind] {
  if (/iPhone/.test(userAgent)) return ["iPhone", "phone"];
  if (/iPad/.test(userAgent)) return ["iPad", "tablet"];
  if (/Android/.test(userAgent)) return ["Android", /Mobile/.test(userAgent) ? "phone" : "tablet"];
  if (/Mac OS/.test(userAgent)) return ["Mac", "browser"];
  if (/Windows/.test(userAgent)) return ["Windows", "browser"];
  return [/Linux/.test(userAgent) ? "Linux" : "", "browser"];
}
