import { describe, expect, it } from "vitest";
import { createTicketBook } from "../../src/auth/ticket-book.ts";
import { fakeClock, fakeLease } from "../pairing/fakes.ts";

function setUp(options: { maxPerPrincipal?: number; maxTickets?: number } = {}) {
  const clock = fakeClock();
  return { clock, tickets: createTicketBook({ clock, ...options }), owner: fakeLease() };
}

describe("tickets", () => {
  it("stand for the lease once", () => {
    const { tickets, owner, clock } = setUp();
    const { ticket, expiresAtMs } = tickets.issue({
      lease: owner.lease,
      requestClass: "local",
      purpose: "socket",
    });
    expect(ticket).toMatch(/^spt_[A-Za-z0-9_-]{43}$/);
    expect(expiresAtMs).toBe(clock.wallMs + 30_000);
    expect(tickets.take(ticket, "local", "socket")).toBe(owner.lease);
    expect(tickets.take(ticket, "local", "socket")).toBeNull();
    expect(tickets.size).toBe(0);
  });

  it.each([
    ["remote", "socket"],
    ["local", "page"],
    ["remote", "page"],
  ] as const)(
    "stolen: a local socket ticket presented as %s %s is refused and used up",
    (requestClass, purpose) => {
      const { tickets, owner } = setUp();
      const { ticket } = tickets.issue({ lease: owner.lease, requestClass: "local", purpose: "socket" });
      expect(tickets.take(ticket, requestClass, purpose)).toBeNull();
      expect(tickets.take(ticket, "local", "socket")).toBeNull();
    },
  );

  it.each([
    ["both clocks", 30_000, 30_000],
    ["the wall clock alone, which was set forward", 30_000, 0],
    ["the monotonic clock alone, the wall clock was set back", -3_600_000, 30_000],
  ])("end after 30 s on %s", (_, wallMs, monotonicMs) => {
    const { tickets, owner, clock } = setUp();
    const { ticket } = tickets.issue({ lease: owner.lease, requestClass: "local", purpose: "socket" });
    clock.wallMs += wallMs;
    clock.monotonicMs += monotonicMs;
    expect(tickets.take(ticket, "local", "socket")).toBeNull();
  });

  it("die with their lease, the unused ones of others live", () => {
    const { tickets, owner } = setUp();
    const other = fakeLease();
    const mine = tickets.issue({ lease: owner.lease, requestClass: "remote", purpose: "socket" });
    const theirs = tickets.issue({ lease: other.lease, requestClass: "remote", purpose: "socket" });
    owner.end();
    expect(tickets.size).toBe(1);
    expect(tickets.take(mine.ticket, "remote", "socket")).toBeNull();
    expect(tickets.take(theirs.ticket, "remote", "socket")).toBe(other.lease);
  });

  it("are refused when the lease was marked and nobody told the book yet", () => {
    const { tickets, owner } = setUp();
    const { ticket } = tickets.issue({ lease: owner.lease, requestClass: "remote", purpose: "socket" });
    owner.markEnded("revoked");
    expect(tickets.take(ticket, "remote", "socket")).toBeNull();
  });

  it("flood: a principal that hoards loses its own oldest, nobody else's", () => {
    const { tickets, owner } = setUp({ maxPerPrincipal: 3 });
    const other = fakeLease();
    const theirs = tickets.issue({ lease: other.lease, requestClass: "local", purpose: "socket" });
    const mine = Array.from({ length: 10 }, () =>
      tickets.issue({ lease: owner.lease, requestClass: "local", purpose: "socket" }),
    );
    expect(tickets.size).toBe(4);
    expect(mine.map(({ ticket }) => tickets.take(ticket, "local", "socket") !== null)).toEqual([
      ...new Array<boolean>(7).fill(false),
      true,
      true,
      true,
    ]);
    expect(tickets.take(theirs.ticket, "local", "socket")).toBe(other.lease);
  });

  it("flood: together they are bounded, and ended ones make room", () => {
    const { tickets, clock } = setUp({ maxTickets: 5 });
    const issue = () =>
      tickets.issue({ lease: fakeLease().lease, requestClass: "remote", purpose: "socket" });
    for (let count = 0; count < 5; count += 1) issue();
    expect(issue).toThrow(expect.objectContaining({ code: "overloaded", retryAfterSeconds: 30 }));
    clock.pass(30_000);
    issue();
    expect(tickets.size).toBe(1);
  });

  it.each(["", "spt_", "spt_x", `spd_${"a".repeat(43)}`, `spt_${"a".repeat(44)}`, `spt_${"a".repeat(1e6)}`])(
    "refuses what is no ticket",
    (rawTicket) => {
      expect(setUp().tickets.take(rawTicket, "local", "socket")).toBeNull();
    },
  );
});
