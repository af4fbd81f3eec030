import { type StubDaemon, stubDevice } from "./stub-daemon.ts";

/** The answers of a daemon that pairs, and to which the page is then connected. */
export function answerAsPairing(daemon: StubDaemon): void {
  const answer = (route: string, body: unknown): void => {
    daemon.answers.set(route, () => ({ status: 200, body }));
  };
  answer("GET api/hello", { app: "sallyport", version: "1.0.0", remote: true, pairing: true });
  answer("GET api/daemon", { version: "1.0.0" });
  answer("GET api/devices", { devices: [{ ...stubDevice, current: true }] });
  answer("POST api/ws/ticket", { ticket: "spt_x" });
  answer("POST api/pair", { token: "spd_x", device: stubDevice, version: "1.0.0" });
}

/** A refusal in our one shape. */
export function refusal(status: number, code: string, message: string, more = {}) {
  return { status, body: { type: "error", code, message, ...more } };
}
