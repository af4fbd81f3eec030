/// <reference lib="webworker" />
import { listenForPushes } from "../push/listen-for-pushes.ts";
import { answerFromShell, forgetOldShells, keepShell, type Shell, shouldAnswer } from "./shell-cache.ts";

declare const self: ServiceWorkerGlobalScope;
declare const __SHELL_FILES__: readonly string[];
declare const __SHELL_HASH__: string;

// Keeps what the page is made of, so that it opens without a network and says so. What the daemon answers is never kept.
const shell: Shell = { scope: self.registration.scope, hash: __SHELL_HASH__, files: __SHELL_FILES__ };

listenForPushes(self);

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell(shell, caches, fetch));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOldShells(shell, caches).then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  if (shouldAnswer(shell, event.request))
    event.respondWith(answerFromShell(shell, event.request, caches, fetch));
});

self.addEventListener("message", (event) => {
  // The page asks for it when its person wants the new version: nothing is loaded anew behind anybody's back.
  if (event.data === "take over") event.waitUntil(self.skipWaiting());
});
