import type { Static } from "typebox";
import type { PairingCodeSchema } from "../../src/protocol/rest-answers.ts";

/** What `POST /api/pair/codes` answers. */
export type PairingCode = Static<typeof PairingCodeSchema>;
