import { SallyportError } from "../errors.ts";
import type { Clock } from "../lib/clock.ts";
import { randomSecret } from "../lib/ids.ts";
import { limits } from "../protocol/limits.ts";
import type { Lease, RequestClass } from "./principal.ts";
import { createTokenDigester } from "./token-digest.ts";

export type TicketPurpose = "socket" | "page";

/** What a ticket is good for; all of it must match when it is used. */
export interface TicketGrant {
  readonly lease: Lease;
  readonly requestClass: RequestClass;
  readonly purpose: TicketPurpose;
}

export interface TicketBook {
  /** A new one-use ticket, and when it ends (epoch ms). A principal's oldest gives way when it holds too many. */
  issue(grant: TicketGrant): { readonly ticket: string; readonly expiresAtMs: number };
  /** The lease behind a ticket, or null. Whatever the answer, the ticket is used up. */
  take(rawTicket: string, requestClass: RequestClass, purpose: TicketPurpose): Lease | null;
  readonly size: number;
}

export interface TicketBookOptions {
  readonly clock: Clock;
  readonly maxPerPrincipal?: number;
  readonly maxTickets?: number;
}

interface Ticket extends TicketGrant {
  readonly endsAtMs: number;
  readonly endsAtMonotonicMs: number;
  readonly forget: () => void;
}

const ticketPattern = /^spt_[A-Za-z0-9_-]{43}$/;

/** Tickets in memory, kept by digest. Each lives 30 s on the wall and the monotonic clock and dies with its lease. */
export function createTicketBook(options: TicketBookOptions): TicketBook {
  const { clock, maxPerPrincipal = 1_024, maxTickets = 65_536 } = options;
  const digester = createTokenDigester();
  const tickets = new Map<string, Ticket>();
  const byLease = new Map<Lease, Set<Ticket>>();

  const isOver = (ticket: Ticket): boolean =>
    clock.now() >= ticket.endsAtMs || clock.monotonicNow() >= ticket.endsAtMonotonicMs;

  /** Oldest first, and all live equally long: the first that is not over ends the search. */
  function dropOver(): void {
    for (const ticket of tickets.values()) {
      if (!isOver(ticket)) return;
      ticket.forget();
    }
  }

  function makeRoom(lease: Lease): void {
    const own = byLease.get(lease);
    const [oldest] = own ?? [];
    if (own && oldest && own.size >= maxPerPrincipal) oldest.forget();
    if (tickets.size >= maxTickets)
      throw new SallyportError("overloaded", "Too many tickets are open. Try again in half a minute.", {
        retryAfterSeconds: Math.ceil(limits.ticketTtlMs / 1000),
      });
  }

  function remember(key: string, grant: TicketGrant, endsAtMs: number): void {
    let stopListening: (() => void) | null = null;
    const own = byLease.get(grant.lease) ?? new Set<Ticket>();
    const ticket: Ticket = {
      ...grant,
      endsAtMs,
      endsAtMonotonicMs: clock.monotonicNow() + limits.ticketTtlMs,
      forget: () => {
        tickets.delete(key);
        own.delete(ticket);
        if (own.size === 0) byLease.delete(grant.lease);
        stopListening?.();
      },
    };
    tickets.set(key, ticket);
    byLease.set(grant.lease, own.add(ticket));
    stopListening = grant.lease.onEnd(ticket.forget);
  }

  return {
    issue(grant) {
      dropOver();
      makeRoom(grant.lease);
      const ticket = `spt_${randomSecret(32)}`;
      const endsAtMs = clock.now() + limits.ticketTtlMs;
      remember(digester.digest(ticket), grant, endsAtMs);
      return { ticket, expiresAtMs: endsAtMs };
    },
    take(rawTicket, requestClass, purpose) {
      if (!ticketPattern.test(rawTicket)) return null;
      const ticket = tickets.get(digester.digest(rawTicket));
      if (!ticket) return null;
      ticket.forget();
      if (isOver(ticket) || ticket.lease.ended) return null;
      return ticket.requestClass === requestClass && ticket.purpose === purpose ? ticket.lease : null;
    },
    get size() {
      return tickets.size;
    },
  };
}
