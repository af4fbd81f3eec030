import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visibleText } from "../../src/lib/visible-text.ts";
import { describeBrowser } from "../../web/pairing/describe-browser.ts";
import { readEntry } from "../../web/pairing/entry.ts";
import { readPairingCode, showPairingCode } from "../../web/pairing/pairing-code.ts";
import { baseOf, isUnencrypted } from "../../web/state/base.ts";
import { openCredentialStore } from "../../web/state/credential.ts";
import { openKeyValue } from "../../web/state/key-value.ts";
import { visible } from "../../web/ui/visible-text.ts";

describe("readEntry", () => {
  it.each([
    ["http://h/#pair=ABCDE-FGHJK", { kind: "code", rawCode: "ABCDE-FGHJK" }, "http://h/"],
    ["http://h/b/?x=1#pair=a%20b", { kind: "code", rawCode: "a b" }, "http://h/b/?x=1"],
    ["http://h/#ticket=spt_x", { kind: "ticket", ticket: "spt_x" }, "http://h/"],
    ["http://h/?token=spm_x", { kind: "token", token: "spm_x" }, "http://h/"],
    ["http://h/?token=spm_x#pair=A", { kind: "code", rawCode: "A" }, "http://h/"],
    ["http://h/?token=", { kind: "token", token: "" }, "http://h/"],
    ["http://h/#other", { kind: "none" }, "http://h/#other"],
  ])("of %s is %j and leaves no secret in the address", (href, entry, clean) => {
    const read = readEntry(href);
    expect(read.entry).toEqual(entry);
    expect(read.cleanHref.replace(/#$/, "")).toBe(clean);
  });
  it("finds the base path", () => {
    expect(baseOf("https://h/base/?x#y")).toBe("https://h/base/");
    expect(baseOf("https://h/base/index.html")).toBe("https://h/base/");
  });
  it.each([
    ["http://192.168.1.2:7700/", true],
    ["http://127.0.0.1:7700/", false],
    ["http://localhost/", false],
    ["http://[::1]:7700/", false],
    ["http://127.evil.example/", true],
    ["https://h/", false],
  ])("%s is unencrypted: %s", (href, expected) => {
    expect(isUnencrypted(href)).toBe(expected);
  });
});

describe("readPairingCode", () => {
  it.each([
    "ABCDE-FGHJK",
    "abcde fghjk",
    " a b c d e f g h j k ",
    "ABCDE\u2013FGHJK",
    "https://h/#pair=ABCDE-FGHJK",
    "ABCDE_FGHJK",
  ])("reads %j", (raw) => {
    expect(readPairingCode(raw)).toEqual({ ok: true, code: "ABCDEFGHJK" });
  });
  it("folds letters that look like digits", () => {
    expect(readPairingCode("OoIiLl2345")).toEqual({ ok: true, code: "0011112345" });
  });
  it.each(["", "ABC", "ABCDEFGHJKM", "ABCDEFGHJU", "ABCDEFGHJ!"])("gives a hint for %j", (raw) => {
    expect(readPairingCode(raw).ok).toBe(false);
  });
  it("shows a code as everywhere", () => {
    expect(showPairingCode("ABCDEFGHJK")).toBe("ABCDE-FGHJK");
  });
});

describe("visible", () => {
  it("is the daemon's visibleText", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const marked = `${text}⟨U+202E⟩⟨U${text}`;
        expect(visible(marked)).toBe(visibleText(marked));
      }),
      {
        numRuns: 1_000,
      },
    );
    for (let code = 0; code < 0x30000; code += 1) {
      const character = String.fromCodePoint(code);
      if (visible(character) !== visibleText(character)) expect.fail(code.toString(16));
    }
  });
});

describe("describeBrowser", () => {
  it.each([
    [
      "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit Chrome/140 Mobile Safari/537",
      "Chrome on Android",
      "phone",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18) AppleWebKit Version/18 Mobile Safari",
      "Safari on iPhone",
      "phone",
    ],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Gecko Firefox/140", "Firefox on Mac", "browser"],
    ["curl", "Browser", "browser"],
  ])("of %s", (agent, name, kind) => {
    expect(describeBrowser(agent)).toEqual({ name, kind });
  });
});

describe("openCredentialStore", () => {
  it("keeps the token as long as the page lives where the browser stores nothing", async () => {
    const keyValue = openKeyValue("http://h/");
    const store = openCredentialStore(keyValue, null, "http://h/");
    const credential = { token: "spd_x", device: "d1" };
    await store.set(credential);
    expect(await store.get()).toEqual(credential);
    expect(keyValue.isLasting).toBe(false);
    await store.forget();
    expect(await store.get()).toBeNull();
  });

  it("takes over the token that an older page kept elsewhere, and leaves none there", async () => {
    const old = new Map([["sallyport.token /b/", "spd_old"]]);
    const legacy = {
      getItem: (key: string) => old.get(key) ?? null,
      removeItem: (key: string) => old.delete(key),
    } as unknown as Storage;
    const store = openCredentialStore(openKeyValue("http://h/b/"), legacy, "http://h/b/");
    expect(await store.get()).toEqual({ token: "spd_old", device: null });
    expect(old.size).toBe(0);
    expect(await store.get()).toEqual({ token: "spd_old", device: null });
  });
});
