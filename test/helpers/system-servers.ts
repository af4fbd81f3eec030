import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

export interface SystemServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Keys of a user and a host, made by ssh-keygen. */
export interface SshFiles {
  readonly identity: string;
  readonly knownHosts: string;
  readonly user: string;
}

/** An OpenSSH server of the test's own: own host key, own port, one key that may forward ports and nothing else. */
export async function startSshServer(
  sshd: string,
  folder: string,
): Promise<SystemServer & { readonly files: SshFiles }> {
  const port = await freePort();
  const file = (name: string) => join(folder, name);
  for (const name of ["host_key", "user_key"])
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file(name)]);
  await writeFile(file("authorized_keys"), await readFile(file("user_key.pub"), "utf8"), { mode: 0o600 });
  const hostKey = (await readFile(file("host_key.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
  await writeFile(file("known_hosts"), `[127.0.0.1]:${port} ${hostKey}\n`);
  await writeFile(
    file("sshd_config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${file("host_key")}`,
      `AuthorizedKeysFile ${file("authorized_keys")}`,
      `PidFile ${file("sshd.pid")}`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin prohibit-password",
      "AllowTcpForwarding remote",
      "MaxStartups 100",
      "",
    ].join("\n"),
  );
  // What a root's sshd parts its privileges in; another user's needs none.
  if (isRoot) await mkdir("/run/sshd", { recursive: true });
  const child = spawn(sshd, ["-D", "-e", "-f", file("sshd_config")], { stdio: "ignore", detached: true });
  await untilOpen(port, child);
  return {
    port,
    files: { identity: file("user_key"), knownHosts: file("known_hosts"), user: userInfo().username },
    stop: () => endGroup(child),
  };
}

/** nginx with TLS in front of a port, as docs/remote-access.md shows it. Yields the certificate to trust. */
export async function startNginx(
  nginx: string,
  folder: string,
  options: {
    readonly name: string;
    readonly upstream: string;
    readonly location?: string;
    /** Without what the page says beyond `proxy_pass`. */
    readonly isBare?: boolean;
  },
): Promise<SystemServer & { readonly certificate: string }> {
  const port = await freePort();
  const { cert, key } = await makeCertificate(folder, options.name);
  const stop = await runNginx(
    nginx,
    folder,
    port,
    `server {
    listen 127.0.0.1:${port} ssl;
    server_name ${options.name};
    ssl_certificate ${cert};
    ssl_certificate_key ${key};
    location ${options.location ?? "/"} {
      proxy_pass ${options.upstream};
      ${options.isBare ? "" : documented}
    }
  }`,
  );
  return { port, certificate: cert, stop };
}

/** Makes the folder, and in it a certificate for a name that vouches for itself. Yields paths. */
async function makeCertificate(
  folder: string,
  name: string,
): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  await mkdir(folder, { recursive: true });
  await run("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", key, "-out", cert],
  ]);
  return { cert, key };
}

/** Caddy with TLS and the given directives of one site. Yields the certificate to trust. */
export async function startCaddy(
  caddy: string,
  folder: string,
  options: { readonly name: string; readonly directives: string },
): Promise<SystemServer & { readonly certificate: string }> {
  const port = await freePort();
  const { cert, key } = await makeCertificate(folder, options.name);
  const file = join(folder, "Caddyfile");
  await writeFile(
    file,
    `{
  admin off
  auto_https off
  storage file_system ${folder}
}
https://${options.name}:${port} {
  bind 127.0.0.1
  tls ${cert} ${key}
  ${options.directives}
}
`,
  );
  const child = spawn(caddy, ["run", "--config", file, "--adapter", "caddyfile"], {
    stdio: "ignore",
    detached: true,
    env: { HOME: folder, PATH: process.env.PATH },
  });
  await untilOpen(port, child);
  return { port, certificate: cert, stop: () => endGroup(child) };
}

/** What docs/remote-access.md shows beside `proxy_pass`. */
export const documented = `proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_buffering off;
      proxy_read_timeout 1h;
      client_max_body_size 16m;`;

/** nginx without TLS, with its defaults but for `settings` of its one location. */
export async function startPlainNginx(
  nginx: string,
  folder: string,
  upstream: string,
  settings: string,
): Promise<SystemServer> {
  const port = await freePort();
  await mkdir(folder, { recursive: true });
  const server = `server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; ${settings} } }`;
  return { port, stop: await runNginx(nginx, folder, port, server) };
}

/** Yields what ends it. */
async function runNginx(
  nginx: string,
  folder: string,
  port: number,
  server: string,
): Promise<() => Promise<void>> {
  const file = (name: string) => join(folder, name);
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  await writeFile(
    file("nginx.conf"),
    `daemon off;
${isRoot ? "user root;" : ""}
pid ${file("nginx.pid")};
error_log ${file("error.log")};
worker_processes 1;
events { worker_connections 4096; }
http {
  access_log off;
  ${folders.map((kind) => `${kind}_temp_path ${file(kind)};`).join(" ")}
  map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
  ${server}
}
`,
  );
  await chmod(folder, 0o700);
  const child = spawn(nginx, ["-c", file("nginx.conf"), "-p", folder, "-e", file("error.log")], {
    stdio: "ignore",
    detached: true,
  });
  await untilOpen(port, child);
  return () => endGroup(child);
}

async function untilOpen(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await delay(20);
  }
  throw new Error("the server did not come up");
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  process.kill(-child.pid, "SIGKILL");
  await exited;
}
