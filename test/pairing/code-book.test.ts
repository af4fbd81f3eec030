import { describe, expect, it, vi } from "vitest";
import { SallyportError } from "../../src/errors.ts";
import { type CodeClaim, type CodeGrant, createCodeBook } from "../../src/pairing/code-book.ts";
import { fakeClock, fakeLease, refusalOf } from "./fakes.ts";

const minuteMs = 60_000;

function setUp() {
  const clock = fakeClock();
  const onMiss = vi.fn();
  const book = createCodeBook<string>({ clock, onMiss });
  const minter = fakeLease();
  const grant: CodeGrant = { minter: minter.lease, scopes: ["view"], expiresDays: null };
  let paired = 0;
  const pair = vi.fn(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    paired += 1;
    return `token ${paired}`;
  });
  const claim = (rawCode: string, changes: Partial<CodeClaim> = {}): Promise<string> =>
    book.redeem({ rawCode, nonce: null, requestClass: "remote", ...changes }, pair);
  return { clock, book, minter, grant, pair, claim, onMiss, mint: () => book.mint(grant).code };
}

/** A well-formed code that nobody made, another for each index. */
const wrong = (index: number): string => `00000-${String(index).padStart(5, "0")}`;

const codeOf = async (promise: Promise<unknown>): Promise<string> => (await refusalOf(promise)).code;

describe("pairing codes", () => {
  it("pair one device, then never again", async () => {
    const { claim, mint, pair, grant } = setUp();
    const code = mint();
    expect(await claim(code)).toBe("token 1");
    expect(pair).toHaveBeenCalledWith(grant);
    expect(await codeOf(claim(code))).toBe("pairing_refused");
    expect(pair).toHaveBeenCalledTimes(1);
  });

  it("race: of 100 claims at once exactly one wins", async () => {
    const { claim, mint, pair } = setUp();
    const code = mint();
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => claim(code, { nonce: `nonce ${index}` })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(pair).toHaveBeenCalledTimes(1);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "pairing_refused" });
  });

  it("lost reply: the winner gets the same token again with its nonce, during and after the claim", async () => {
    const { claim, mint, clock, pair } = setUp();
    const code = mint();
    const [first, second] = await Promise.all([claim(code, { nonce: "n1" }), claim(code, { nonce: "n1" })]);
    clock.pass(59_000);
    expect([first, second, await claim(code, { nonce: "n1" })]).toEqual(["token 1", "token 1", "token 1"]);
    clock.pass(1_000);
    expect(await codeOf(claim(code, { nonce: "n1" }))).toBe("pairing_refused");
    expect(pair).toHaveBeenCalledTimes(1);
  });

  it.each([null, "n2", "", "n1 "])("stolen code: a repeat with the nonce %j is refused", async (nonce) => {
    const { claim, mint } = setUp();
    const code = mint();
    await claim(code, { nonce: "n1" });
    expect(await codeOf(claim(code, { nonce }))).toBe("pairing_refused");
  });

  it("a winner without a nonce has no repeat", async () => {
    const { claim, mint } = setUp();
    const code = mint();
    await claim(code);
    expect(await codeOf(claim(code))).toBe("pairing_refused");
  });

  it("are open again when pairing failed, and the failure is told", async () => {
    const { book, mint, claim } = setUp();
    const code = mint();
    const full = new SallyportError("disk_full", "No space.");
    const failing = book.redeem({ rawCode: code, nonce: "n1", requestClass: "remote" }, () =>
      Promise.reject(full),
    );
    expect(await codeOf(failing)).toBe("disk_full");
    expect(await claim(code, { nonce: "n2" })).toBe("token 1");
  });

  it.each([
    ["ten minutes", 10 * minuteMs, 10 * minuteMs],
    ["a wall clock that was set forward", 10 * minuteMs, 0],
    ["ten minutes on the monotonic clock while the wall clock was set back", -60 * minuteMs, 10 * minuteMs],
  ])("end after %s", async (_, wallMs, monotonicMs) => {
    const { claim, mint, clock, pair, book } = setUp();
    const code = mint();
    clock.wallMs += wallMs;
    clock.monotonicMs += monotonicMs;
    expect(book.open).toBe(0);
    expect(await codeOf(claim(code))).toBe("pairing_refused");
    expect(pair).not.toHaveBeenCalled();
  });

  it("live for ten minutes less a millisecond", async () => {
    const { claim, mint, clock } = setUp();
    const code = mint();
    clock.pass(10 * minuteMs - 1);
    expect(await claim(code)).toBe("token 1");
  });

  it("die with their minter, others' live", async () => {
    const { claim, mint, minter, book } = setUp();
    const mine = mint();
    const theirs = book.mint({ minter: fakeLease().lease, scopes: ["view"], expiresDays: null }).code;
    minter.end();
    expect(await codeOf(claim(mine))).toBe("pairing_refused");
    expect(await claim(theirs)).toBe("token 1");
  });

  it("guessing: ten misses get 403, further ones 429 with the time to wait, and a live code still pairs", async () => {
    const { claim, mint, clock } = setUp();
    const code = mint();
    for (let count = 0; count < 10; count += 1) {
      expect(await codeOf(claim(count % 2 ? "malformed" : "00000-00000"))).toBe("pairing_refused");
      clock.pass(6_000);
    }
    const locked = await refusalOf(claim("00000-00000"));
    expect(locked).toMatchObject({ code: "pairing_locked", status: 429, retryAfterSeconds: 540 });
    expect(await claim(code)).toBe("token 1");
    expect(await codeOf(claim("00000-00000"))).toBe("pairing_locked");
    clock.pass(540_000);
    expect(await codeOf(claim("00000-00000"))).toBe("pairing_refused");
    expect(await codeOf(claim("00000-00000"))).toBe("pairing_locked");
  });

  it("guessing: a code that was used within the last minute is no miss", async () => {
    const { claim, mint, onMiss, clock } = setUp();
    const code = mint();
    await claim(code);
    for (let count = 0; count < 30; count += 1) expect(await codeOf(claim(code))).toBe("pairing_refused");
    expect(onMiss).not.toHaveBeenCalled();
    clock.pass(minuteMs);
    expect(await codeOf(claim(code))).toBe("pairing_refused");
    expect(onMiss).toHaveBeenCalledTimes(1);
  });

  it("guessing: wrong, used and expired codes get the same words", async () => {
    const { claim, mint, clock } = setUp();
    const [used, expired] = [mint(), mint()];
    await claim(used);
    const answers = [await refusalOf(claim("00000-00000")), await refusalOf(claim(used))];
    clock.pass(10 * minuteMs);
    answers.push(await refusalOf(claim(expired)));
    expect(new Set(answers.map(({ code, message }) => `${code} ${message}`)).size).toBe(1);
  });

  it("flood: 200 attempts a second for all together; this machine has its own", async () => {
    const { claim, mint, clock } = setUp();
    const code = mint();
    const codes = await Promise.all(Array.from({ length: 250 }, (_, index) => codeOf(claim(wrong(index)))));
    expect(codes.filter((got) => got === "rate_limited")).toHaveLength(50);
    expect(await refusalOf(claim(code))).toMatchObject({
      code: "rate_limited",
      status: 429,
      retryAfterSeconds: 1,
    });
    expect(await claim(code, { requestClass: "local" })).toBe("token 1");
    clock.pass(1_000);
    expect(await codeOf(claim("00000-00000"))).toBe("pairing_locked");
  });

  it("flood: what is no code, or is known to be wrong, does not use up the attempts of others", async () => {
    const { claim, mint } = setUp();
    const code = mint();
    for (let index = 0; index < 500; index++) {
      const got = await codeOf(claim(index % 2 ? "00000-00000" : "not a code"));
      expect(got).toBe(index < 10 ? "pairing_refused" : "pairing_locked");
    }
    expect(await claim(code)).toBe("token 1");
  });

  it("flood: one address does not use up the attempts of the others", async () => {
    const { claim, mint } = setUp();
    const code = mint();
    const codes = await Promise.all(
      Array.from({ length: 400 }, (_, index) => codeOf(claim(wrong(index), { clientAddress: "192.0.2.1" }))),
    );
    expect(codes.filter((got) => got === "rate_limited")).toHaveLength(250);
    expect(await codeOf(claim(code, { clientAddress: "192.0.2.1" }))).toBe("rate_limited");
    expect(await claim(code, { clientAddress: "192.0.2.2" })).toBe("token 1");
  });

  it("flood: one minter has a bounded number of open codes; used and ended ones make room", async () => {
    const { book, grant, claim, clock } = setUp();
    const codes = Array.from({ length: 256 }, () => book.mint(grant).code);
    expect(() => book.mint(grant)).toThrow(expect.objectContaining({ code: "rate_limited" }));
    await claim(codes[0] ?? "");
    book.mint(grant);
    expect(() => book.mint(grant)).toThrow(expect.objectContaining({ code: "rate_limited" }));
    book.mint({ ...grant, minter: fakeLease().lease });
    clock.pass(10 * minuteMs);
    book.mint(grant);
    expect(book.open).toBe(1);
  });

  it("race: a minter that is revoked while a claim is under way leaves no way to repeat it", async () => {
    const { book, grant, minter, claim, mint } = setUp();
    const code = mint();
    let finish: (result: string) => void = () => undefined;
    const winner = book.redeem(
      { rawCode: code, nonce: "n1", requestClass: "remote" },
      () => new Promise((resolve) => (finish = resolve)),
    );
    minter.end();
    finish("token x");
    expect(await winner).toBe("token x");
    expect(await codeOf(claim(code, { nonce: "n1" }))).toBe("pairing_refused");
    expect(() => book.mint({ ...grant, minter: fakeLease().lease })).not.toThrow();
  });
});
