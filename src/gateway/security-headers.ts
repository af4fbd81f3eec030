type Headers = Readonly<Record<string, string>>;

/** No CORS header, ever: no page of another origin reads an answer of ours. */
const everywhere = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** What runs on the page comes from files of ours: no inline script, no other origin, no frame around it. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "media-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** For the page and its files. The camera is for scanning a pairing code. */
export const pageHeaders: Headers = Object.freeze({
  ...everywhere,
  "content-security-policy": pagePolicy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy":
    "camera=(self), clipboard-write=(self), geolocation=(), microphone=(), payment=(), usb=()",
  "x-frame-options": "DENY",
});

/** For every answer under `/api`, and for every refusal. */
export const apiHeaders: Headers = Object.freeze({
  ...everywhere,
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
});
