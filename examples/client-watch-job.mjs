// Runs a command on a paired machine as a job and prints its output as it comes, over lost connections.
//
//   node client-watch-job.mjs 'https://box.example/#pair=ABCDE-FGHJK' 'npm test'     the first time: pairs
//   node client-watch-job.mjs https://box.example 'npm test'                         from then on
import { readFile, writeFile } from "node:fs/promises";
import { codeOfLink, createClient, followJob, pair, readBase, sendWithFetch } from "sallyport/client";

const [link = "", command = "date"] = process.argv.slice(2);
const address = readBase(link);
if (!address.ok) throw new Error(address.hint);
const { base } = address;

// A device token is a key to that machine: it is kept where only this user can read it.
const tokenFile = "sallyport-token.json";
const code = codeOfLink(link);
if (code !== null) {
  const { token } = await pair({ base, code, name: "job watcher", kind: "other", send: sendWithFetch });
  await writeFile(tokenFile, JSON.stringify({ base, token }), { mode: 0o600 });
}
const kept = JSON.parse(await readFile(tokenFile, "utf8"));
if (kept.base !== base) throw new Error(`The token in ${tokenFile} is for ${kept.base} only.`);

const client = createClient({ base, token: kept.token });
client.onStatus((status) => {
  if (status.phase === "waiting" || status.phase === "stopped") process.stderr.write(`${status.message}\n`);
});
const { daemon } = await client.ready();
process.stderr.write(`Connected to Sallyport ${daemon.version}.\n`);

const reply = await client.command({ type: "job_start", command });
if (reply.type === "job_started") {
  for await (const chunk of followJob(client, reply.job.id)) process.stdout.write(chunk.output);
  const { jobs } = await client.command({ type: "job_list" });
  const ended = jobs.find(({ id }) => id === reply.job.id);
  process.exitCode = ended?.exit_code ?? 1;
} else process.stderr.write("The job waits for somebody who may approve it.\n");
client.close();
