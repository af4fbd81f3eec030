import { render } from "preact";
import "../style/tokens.css";
import "../style/base.css";
import { App } from "./app.tsx";
import { startPage } from "./start.ts";
import { registerWorker } from "./worker-registration.ts";

const workerDelayMs = 2_000;

const root = document.getElementById("app");
if (root === null) throw new TypeError("the page has no #app");
startPage();
render(<App />, root);
// The first view comes first: what makes it work offline loads when the line is free.
setTimeout(() => void registerWorker(), workerDelayMs);
