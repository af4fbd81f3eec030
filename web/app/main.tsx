import { render } from "preact";
import "../style/tokens.css";
import "../style/base.css";
import { path } from "../state/router.ts";
import { App } from "./app.tsx";
import { makeRoomForKeyboard } from "./keyboard-space.ts";
import { preloadLikely, preloadPage } from "./page-loader.ts";
import { startPage } from "./start.ts";
import { registerWorker } from "./worker-registration.ts";

const laterMs = 2_000;

const root = document.getElementById("app");
if (root === null) throw new TypeError("the page has no #app");
makeRoomForKeyboard();
startPage();
preloadPage(path.peek());
render(<App />, root);
// The first view comes first: what makes the rest quick, and the page work offline, loads when the line is free.
setTimeout(() => void preloadLikely().then(registerWorker), laterMs);
