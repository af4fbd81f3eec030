import { createHmac, createSecretKey } from "node:crypto";
import fc from "fast-check";
import { CompactSign } from "jose";
import { describe, expect, it } from "vitest";
import {
  mintDeviceToken,
  peekDevice,
  signingKeyOf,
  splitDeviceToken,
  type TokenKey,
  verifyDeviceToken,
} from "../../src/auth/device-token.ts";
import { newId } from "../../src/lib/ids.ts";

const keyOf = (kid: string, byte: number): TokenKey => ({
  kid,
  secretKey: createSecretKey(Buffer.alloc(32, byte)),
});
const current = keyOf("current-key", 1);
const previous = keyOf("previous-key", 2);
const keys = { current, previous };
const device = newId();
const now = Date.UTC(2026, 10, 30);
const secret = `${"s".repeat(42)}A`;
const goodHeader = { alg: "HS256", kid: current.kid, typ: "sallyport-device+jws" };
const goodClaims = { sub: device, jti: secret, iat: 1_790_000_000 };

const encode = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** A token signed under our own key, with whatever header and claims an attacker who holds the key could want. */
function signed(header: unknown, claims: unknown, key = current): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `spd_${input}.${createHmac("sha256", key.secretKey).update(input).digest("base64url")}`;
}

async function judge(rawToken: string): Promise<string> {
  const token = splitDeviceToken(rawToken);
  if (!token) return "malformed";
  const key = signingKeyOf(token, keys);
  if (!key) return "bad signature";
  const claims = await verifyDeviceToken(token, key);
  return claims ? `${claims.device === device ? "ours" : "foreign"}` : "bad claims";
}

describe("device tokens", () => {
  it("come back from mint as device and secret, with prefix, pinned algorithm, kid and iat", async () => {
    const { token, tokenSecret } = await mintDeviceToken(device, current, now);
    expect(token.length).toBeLessThan(512);
    expect(tokenSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const [header = "", payload = ""] = token.slice(4).split(".");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual(goodHeader);
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({
      sub: device,
      jti: tokenSecret,
      iat: now / 1000,
    });
    const split = splitDeviceToken(token);
    expect(split?.rawDevice).toBe(device);
    expect(split && signingKeyOf(split, keys)).toBe(current);
    expect(split && (await verifyDeviceToken(split, current))).toEqual({ device, tokenSecret });
  });

  it("count under the previous key too, and under no key before it", async () => {
    expect(await judge(signed({ ...goodHeader, kid: previous.kid }, goodClaims, previous))).toBe("ours");
    const old = keyOf("older-key", 3);
    expect(await judge(signed({ ...goodHeader, kid: old.kid }, goodClaims, old))).toBe("bad signature");
  });

  const good = signed(goodHeader, goodClaims);
  const [header = "", payload = "", signature = ""] = good.slice(4).split(".");
  /** The last character of 32 bytes has two spare bits: another spelling of the same bytes. */
  const spare = signature.slice(0, -1) + String.fromCharCode(signature.charCodeAt(42) + 1);

  it.each([
    [
      "alg none without a signature",
      `spd_${encode({ ...goodHeader, alg: "none" })}.${payload}.`,
      "malformed",
    ],
    ["alg none, signed", signed({ ...goodHeader, alg: "none" }, goodClaims), "bad signature"],
    ["alg HS512", signed({ ...goodHeader, alg: "HS512" }, goodClaims), "bad signature"],
    ["alg RS256", signed({ ...goodHeader, alg: "RS256" }, goodClaims), "bad signature"],
    ["alg in lower case", signed({ ...goodHeader, alg: "hs256" }, goodClaims), "bad signature"],
    ["a crit header", signed({ ...goodHeader, crit: ["exp"], exp: 1 }, goodClaims), "bad signature"],
    ["an embedded key", signed({ ...goodHeader, jwk: { kty: "oct", k: "AA" } }, goodClaims), "bad signature"],
    [
      "a key by URL",
      signed({ ...goodHeader, jku: "https://evil.example/jwks" }, goodClaims),
      "bad signature",
    ],
    ["an unknown kid", signed({ ...goodHeader, kid: "elsewhere" }, goodClaims), "bad signature"],
    ["a kid that is a path", signed({ ...goodHeader, kid: "../../dev/null" }, goodClaims), "bad signature"],
    [
      "the kid of another key of ours",
      signed({ ...goodHeader, kid: previous.kid }, goodClaims),
      "bad signature",
    ],
    ["no typ", signed({ alg: "HS256", kid: current.kid }, goodClaims), "bad signature"],
    ["another typ", signed({ ...goodHeader, typ: "JWT" }, goodClaims), "bad signature"],
    [
      "unencoded payload (RFC 7797)",
      signed({ ...goodHeader, b64: false, crit: ["b64"] }, goodClaims),
      "bad signature",
    ],
    ["a changed payload", `spd_${header}.${encode({ ...goodClaims, iat: 1 })}.${signature}`, "bad signature"],
    ["another spelling of the signature", `spd_${header}.${payload}.${spare}`, "bad signature"],
    ["a signature of zeros", `spd_${header}.${payload}.${"A".repeat(43)}`, "bad signature"],
    ["a short signature", good.slice(0, -1), "malformed"],
    ["junk behind it", `${good}x`, "malformed"],
    ["a newline behind it", `${good}\n`, "malformed"],
    ["a fourth part", `${good}.x`, "malformed"],
    ["five parts, as JWE has", "spd_a.b.c.d.e", "malformed"],
    ["padding", `${good}=`, "malformed"],
    ["base64 instead of base64url", good.replaceAll("-", "+").replaceAll("_", "/"), "malformed"],
    ["no prefix", good.slice(4), "malformed"],
    ["another prefix", `spm_${good.slice(4)}`, "malformed"],
    ["no payload", `spd_${header}..${signature}`, "malformed"],
    ["a payload that is no JSON", signed(goodHeader, "{"), "malformed"],
    ["a payload that is null", signed(goodHeader, null), "malformed"],
    ["a payload that is an array", signed(goodHeader, [device]), "malformed"],
    ["no sub", signed(goodHeader, { jti: secret, iat: 1 }), "malformed"],
    ["a sub that is a number", signed(goodHeader, { ...goodClaims, sub: 7 }), "malformed"],
    ["a sub that is a path", signed(goodHeader, { ...goodClaims, sub: "../devices" }), "malformed"],
    ["a sub that is __proto__", signed(goodHeader, { ...goodClaims, sub: "__proto__" }), "malformed"],
    ["no jti", signed(goodHeader, { sub: device, iat: 1 }), "bad claims"],
    ["a short jti", signed(goodHeader, { ...goodClaims, jti: "abc" }), "bad claims"],
    ["an iat that is text", signed(goodHeader, { ...goodClaims, iat: "1" }), "bad claims"],
    ["a claim we do not write", signed(goodHeader, { ...goodClaims, scopes: ["admin"] }), "bad claims"],
    [
      "a demand for proof of possession",
      signed(goodHeader, { ...goodClaims, cnf: { jkt: secret } }),
      "bad claims",
    ],
    ["over 1 KB", signed(goodHeader, { ...goodClaims, pad: "x".repeat(1_000) }), "malformed"],
    ["10 MB", `spd_${"a".repeat(10_000_000)}`, "malformed"],
    ["1 byte", "s", "malformed"],
    ["nothing", "", "malformed"],
    ["a NUL", `${good.slice(0, 9)}\0${good.slice(10)}`, "malformed"],
  ])("forged: refuses %s", async (_, rawToken, verdict) => {
    expect(await judge(rawToken)).toBe(verdict);
  });

  it("are made so that jose itself would take them", async () => {
    const jws = await new CompactSign(Buffer.from(JSON.stringify(goodClaims)))
      .setProtectedHeader(goodHeader)
      .sign(current.secretKey);
    expect(await judge(`spd_${jws}`)).toBe("ours");
  });

  it("are refused after any change of a character", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(..."Aa0_-.=~ é"), async (at, char) => {
        fc.pre(good[at] !== char);
        expect(await judge(good.slice(0, at) + char + good.slice(at + 1))).not.toBe("ours");
      }),
      { numRuns: 300 },
    );
  });

  it("never make the parser throw, whatever comes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.base64String()), (junk) => {
        const token = splitDeviceToken(`spd_${junk}`);
        expect(token && signingKeyOf(token, keys)).toBeNull();
      }),
    );
  });
});

describe("peekDevice", () => {
  it("reads the device of a token as we write it", async () => {
    const { token } = await mintDeviceToken(device, current, now);
    expect(peekDevice(token)).toBe(device);
  });

  it.each([
    ["another order of claims", signed(goodHeader, { jti: secret, sub: device, iat: 1 })],
    ["blanks in the claims", signed(goodHeader, `{ "sub":"${device}"}`)],
    ["another prefix", `spm_${signed(goodHeader, goodClaims).slice(4)}`],
    ["no payload", "spd_abc"],
    ["nothing", ""],
    ["bytes that are no base64url", "spd_a.\u0000\u00ff!.b"],
  ])("says nothing of %s, so that it is looked at as a whole", (_, token) => {
    expect(peekDevice(token)).toBeNull();
  });

  it("never names a device that the whole token does not", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `spd_h.${encode(text)}.s`),
          fc.string().map((text) => `spd_h.${encode(`{"sub":"${text}`)}.s`),
          fc
            .record({ sub: fc.oneof(fc.string(), fc.constant(device)), more: fc.string() })
            .map((claims) => signed(goodHeader, claims)),
        ),
        (token) => {
          const named = peekDevice(token);
          const whole = splitDeviceToken(token);
          // What is looked up is at most an id's length; a token that holds names the same.
          if (named !== null) expect(named.length).toBeLessThanOrEqual(36);
          if (named !== null && whole !== null) expect(named).toBe(whole.rawDevice);
        },
      ),
    );
  });
});
