import { fileURLToPath } from "node:url";

/** Where the built page lies: beside the program's one file. Sources that run unbuilt have none, and serve no page. */
export const pageFolder = fileURLToPath(new URL("./web", import.meta.url));
