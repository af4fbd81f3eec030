import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIp } from "../../src/lib/ip-address.ts";
import { parseEndpoint } from "../../src/push/endpoint.ts";

const strict = { insecurePrivateEndpoints: false };
const refusal = (raw: string, rules = strict) => {
  const result = parseEndpoint(raw, rules);
  return result.ok ? null : result.refusal;
};

describe("parseEndpoint", () => {
  it.each([
    "https://fcm.googleapis.com/fcm/send/c1:APA91b",
    "https://updates.push.services.mozilla.com/wpush/v2/gAAA?x=1",
    "https://web.push.apple.com/QAb",
    "https://db5p.notify.windows.com/w/?token=BQYAAAD%2f",
    "https://ntfy.example.com:443/up",
    "HTTPS://FCM.googleapis.com/x",
  ])("takes %s", (raw) => {
    expect(refusal(raw)).toBeNull();
  });

  it.each([
    ["http://fcm.googleapis.com/x", "https"],
    ["fcm.googleapis.com/x", "https"],
    ["javascript:alert(1)", "https"],
    ["file:///etc/passwd", "https"],
    [" https://fcm.googleapis.com/x", "https"],
    ["https://", "no address"],
    ["https:// fcm.googleapis.com/x", "no address"],
    ["https://fcm.googleapis.com:99999/", "no address"],
    ["https://127.0.0.1/x", "IP address"],
    ["https://127.1/x", "IP address"],
    ["https://2130706433/x", "IP address"],
    ["https://0x7f000001/x", "IP address"],
    ["https://017700000001/x", "IP address"],
    ["https://①②⑦.0.0.1/x", "IP address"],
    ["https://[::1]/x", "IP address"],
    ["https://[::ffff:169.254.169.254]/x", "IP address"],
    ["https://8.8.8.8/x", "IP address"],
    ["https://fcm.googleapis.com:8443/x", "443"],
    ["https://fcm.googleapis.com:80/x", "443"],
    ["https://u:p@fcm.googleapis.com/x", "name or password"],
    ["https://fcm.googleapis.com@127.0.0.1/x", "name or password"],
    ["https://fcm.googleapis.com/x#y", "fragment"],
    ["https://localhost/x", "internet"],
    ["https://localhost./x", "internet"],
    ["https://fcm.googleapis.com./x", "internet"],
    ["https://intranet/x", "internet"],
    ["https://a.localhost/x", "this network"],
    ["https://printer.local/x", "this network"],
    ["https://metadata.google.internal/x", "this network"],
    ["https://box.home.arpa/x", "this network"],
    [`https://fcm.googleapis.com/${"x".repeat(2_048)}`, "2048"],
    [`https://fcm.googleapis.com/${"ö".repeat(1_000)}`, "2048"],
    [`https://fcm.googleapis.com/?x=${"\u{1f600}".repeat(500)}`, "2048"],
  ])("refuses %j", (raw, reason) => {
    expect(refusal(raw)).toMatchObject({ code: "invalid_field", field: "endpoint" });
    expect(refusal(raw)?.message).toContain(reason);
  });

  it("takes addresses and ports of one's own network where that is allowed, but never without TLS", () => {
    const loose = { insecurePrivateEndpoints: true };
    expect(refusal("https://127.0.0.1:4443/x", loose)).toBeNull();
    expect(refusal("https://[::1]:4443/x", loose)).toBeNull();
    expect(refusal("https://ntfy.local/x", loose)).toBeNull();
    expect(refusal("http://127.0.0.1/x", loose)).not.toBeNull();
    expect(refusal("https://u:p@127.0.0.1/x", loose)).not.toBeNull();
  });

  it("answers any text, and takes none that leads to an address or another port", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl({ withQueryParameters: true }),
          fc.string().map((s) => `https://${s}`),
        ),
        (raw) => {
          const result = parseEndpoint(raw, strict);
          if (!result.ok) return;
          const { url, host, port } = result.endpoint;
          expect([url.protocol, url.username, url.port, port]).toEqual(["https:", "", "", 443]);
          expect(parseIp(host)).toBeNull();
        },
      ),
    );
  });
});
