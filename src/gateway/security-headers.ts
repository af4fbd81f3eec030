type Headers = Readonly<Record<string, string>>;

/** No CORS header, ever: no page of another origin reads an answer of ours. */
const everywhere = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

/**
 * What runs on the page comes from files of ours: no inline script, no other origin, no frame around it. An image of
 * another origin in a transcript would tell that origin what was read. Text never becomes markup or script: the one
 * Trusted Types policy passes the address of our own worker.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types sallyport-worker",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** For the page and its files. The camera is for scanning a pairing code. */
const pageHeaders: Headers = Object.freeze({
  ...everywhere,
  "content-security-policy": pagePolicy,
  "permissions-policy":
    "camera=(self), clipboard-write=(self), geolocation=(), microphone=(), payment=(), usb=()",
  "x-frame-options": "DENY",
});

const isolatedPageHeaders: Headers = Object.freeze({
  ...pageHeaders,
  "cross-origin-opener-policy": "same-origin",
});

/**
 * The headers of the page's files. Browsers take the isolation from other windows on secure pages only, and complain
 * about it on others.
 *
 * @param isSecure https as the browser sees it, or this very machine
 */
export function pageHeadersFor(isSecure: boolean): Headers {
  return isSecure ? isolatedPageHeaders : pageHeaders;
}

/** For every answer under `/api`, and for every refusal. */
export const apiHeaders: Headers = Object.freeze({
  ...everywhere,
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
});
