import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// `npm start`: builds, then is `sallyport up` itself, in this process.

const program = fileURLToPath(new URL("../dist/sallyport.js", import.meta.url));
const build = fileURLToPath(new URL("./build.js", import.meta.url));
const parent = process.ppid;

const { status } = spawnSync(process.execPath, [build, "--without-types"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

// npm hands the signal that ends it to the shell between us, which dies of it and tells nobody: the daemon would go on
// without anybody who could end it.
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, "SIGTERM");
}, 250);
watch.unref();

process.argv.splice(1, 1, program, "up");
await import(program);
