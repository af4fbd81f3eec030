import { describe, expect, it } from "vitest";
import { keyLine } from "../../src/config/key-line.ts";

const text = `port = 1
hosts = [
  "a",
]
[tls]
cert = "x"

[[door]]
listen = 1
[[door]]
listen = 2
[agents."my one"]
command = "x"
daemon.idle_minutes = 1`;

describe("keyLine", () => {
  it.each([
    [["port"], 1],
    [["hosts", "0"], 2],
    [["tls", "cert"], 6],
    [["tls", "key"], 5],
    [["door", "0", "listen"], 9],
    [["door", "1", "listen"], 11],
    [["door", "1", "url"], 10],
    [["agents", "my one", "command"], 13],
    [["nothing"], null],
  ])("finds %j on line %j", (path, line) => {
    expect(keyLine(text, path)).toBe(line);
  });
});
