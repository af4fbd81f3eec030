import { render } from "preact";
import "../style/tokens.css";
import "../style/base.css";
import { App } from "./app.tsx";
import { startPage } from "./start.ts";

const root = document.getElementById("app");
if (root === null) throw new TypeError("the page has no #app");
startPage();
render(<App />, root);
