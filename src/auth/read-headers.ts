import { connectionNamesForwarding, isForwardingHeader } from "./forwarding-evidence.ts";

/**
 * What the rules need of the header lines, found in one pass. `…Lines` counts how often a header was sent; the raw value
 * is the last one, of no meaning unless the count is 1.
 */
export interface HeaderFacts {
  lines: number;
  /** Names, values and their four separating bytes. */
  blockBytes: number;
  hostLines: number;
  rawHost: string;
  originLines: number;
  rawOrigin: string;
  authorizationLines: number;
  rawAuthorization: string;
  /** Some line says that another site made the browser send this. */
  crossSite: boolean;
  rawFetchMode: string;
  rawFetchDest: string;
  contentLengthLines: number;
  rawContentLength: string;
  transferEncodingLines: number;
  rawTransferEncoding: string;
  expectLines: number;
  rawExpect: string;
  upgradeLines: number;
  rawUpgrade: string;
  webSocketKeyLines: number;
  rawWebSocketKey: string;
  webSocketVersionLines: number;
  rawWebSocketVersion: string;
  /** There is evidence of a forwarder. */
  forwarded: boolean;
  /** All `X-Forwarded-For` lines, in order, as one list; null when there is none. */
  rawForwardedFor: string | null;
  cfConnectingIpLines: number;
  rawCfConnectingIp: string;
}

/** Reads raw header lines (`name, value, name, value, …` as the parser gave them, nothing folded or dropped). */
export function readHeaders(rawHeaders: readonly string[]): HeaderFacts {
  const facts = noHeaders();
  facts.lines = rawHeaders.length >> 1;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    const value = rawHeaders[at + 1] ?? "";
    facts.blockBytes += name.length + value.length + 4;
    readLine(facts, name, value);
  }
  return facts;
}

function readLine(facts: HeaderFacts, name: string, value: string): void {
  // The length rules out most comparisons; every header of interest has its case here.
  switch (name.length) {
    case 4:
      if (!is(name, "host")) break;
      facts.hostLines += 1;
      facts.rawHost = value;
      return;
    case 6:
      if (is(name, "origin")) {
        facts.originLines += 1;
        facts.rawOrigin = value;
      } else if (is(name, "expect")) {
        facts.expectLines += 1;
        facts.rawExpect = value;
      } else break;
      return;
    case 7:
      if (!is(name, "upgrade")) break;
      facts.upgradeLines += 1;
      facts.rawUpgrade = value;
      return;
    case 10:
      if (!is(name, "connection")) break;
      if (connectionNamesForwarding(value)) facts.forwarded = true;
      return;
    case 13:
      if (!is(name, "authorization")) break;
      facts.authorizationLines += 1;
      facts.rawAuthorization = value;
      return;
    case 14:
      if (is(name, "content-length")) {
        facts.contentLengthLines += 1;
        facts.rawContentLength = value;
      } else if (is(name, "sec-fetch-site")) {
        if (value.toLowerCase().includes("cross-site")) facts.crossSite = true;
      } else if (is(name, "sec-fetch-mode")) facts.rawFetchMode = value;
      else if (is(name, "sec-fetch-dest")) facts.rawFetchDest = value;
      else break;
      return;
    case 15:
      if (!is(name, "x-forwarded-for")) break;
      facts.rawForwardedFor = facts.rawForwardedFor === null ? value : `${facts.rawForwardedFor},${value}`;
      break;
    case 16:
      if (!is(name, "cf-connecting-ip")) break;
      facts.cfConnectingIpLines += 1;
      facts.rawCfConnectingIp = value;
      break;
    case 17:
      if (is(name, "transfer-encoding")) {
        facts.transferEncodingLines += 1;
        facts.rawTransferEncoding = value;
      } else if (is(name, "sec-websocket-key")) {
        facts.webSocketKeyLines += 1;
        facts.rawWebSocketKey = value;
      } else break;
      return;
    case 21:
      if (!is(name, "sec-websocket-version")) break;
      facts.webSocketVersionLines += 1;
      facts.rawWebSocketVersion = value;
      return;
    default:
      break;
  }
  if (isForwardingHeader(name)) facts.forwarded = true;
}

function is(name: string, lower: string): boolean {
  return name === lower || name.toLowerCase() === lower;
}

function noHeaders(): HeaderFacts {
  return {
    lines: 0,
    blockBytes: 0,
    hostLines: 0,
    rawHost: "",
    originLines: 0,
    rawOrigin: "",
    authorizationLines: 0,
    rawAuthorization: "",
    crossSite: false,
    rawFetchMode: "",
    rawFetchDest: "",
    contentLengthLines: 0,
    rawContentLength: "",
    transferEncodingLines: 0,
    rawTransferEncoding: "",
    expectLines: 0,
    rawExpect: "",
    upgradeLines: 0,
    rawUpgrade: "",
    webSocketKeyLines: 0,
    rawWebSocketKey: "",
    webSocketVersionLines: 0,
    rawWebSocketVersion: "",
    forwarded: false,
    rawForwardedFor: null,
    cfConnectingIpLines: 0,
    rawCfConnectingIp: "",
  };
}
