import { join } from "node:path";

export interface ServiceSpec {
  /** Program and words that run the daemon in the foreground. */
  readonly command: readonly string[];
  readonly userHome: string;
  readonly home: string;
}

/** A file that a service manager reads, and what makes it do so. */
export interface ServicePlan {
  readonly manager: "systemd" | "launchd";
  readonly path: string;
  readonly text: string;
  readonly install: readonly (readonly string[])[];
  readonly uninstall: readonly (readonly string[])[];
}

const systemdUnit = "sallyport.service";
const launchdLabel = "dev.sallyport.daemon";

/** How this system runs a program of a user from the login on; null where none is known. */
export function servicePlan(platform: NodeJS.Platform, uid: number, spec: ServiceSpec): ServicePlan | null {
  if (platform === "linux") return systemdPlan(spec);
  if (platform === "darwin") return launchdPlan(uid, spec);
  return null;
}

function systemdPlan({ command, userHome, home }: ServiceSpec): ServicePlan {
  const text = [
    "[Unit]",
    "Description=Sallyport daemon",
    "",
    "[Service]",
    `ExecStart=${command.map(systemdWord).join(" ")}`,
    `WorkingDirectory=${userHome.replaceAll("%", "%%")}`,
    `Environment=${systemdWord(`SALLYPORT_HOME=${home}`)}`,
    "Restart=on-failure",
    "RestartSec=5",
    // Jobs outlive the daemon: only the daemon itself is ended.
    "KillMode=process",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
  return {
    manager: "systemd",
    path: join(userHome, ".config", "systemd", "user", systemdUnit),
    text,
    install: [
      ["systemctl", "--user", "daemon-reload"],
      ["systemctl", "--user", "enable", "--now", systemdUnit],
    ],
    uninstall: [["systemctl", "--user", "disable", "--now", systemdUnit]],
  };
}

/** systemd.syntax(7): in double quotes, with C escapes; `%` and `$` would be replaced. */
function systemdWord(word: string): string {
  const escaped = word
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replaceAll("%", "%%")
    .replaceAll("$", "$$$$");
  return `"${escaped}"`;
}

function launchdPlan(uid: number, { command, userHome, home }: ServiceSpec): ServicePlan {
  const path = join(userHome, "Library", "LaunchAgents", `${launchdLabel}.plist`);
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${launchdLabel}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>WorkingDirectory</key><string>${xml(userHome)}</string>
  <key>EnvironmentVariables</key><dict><key>SALLYPORT_HOME</key><string>${xml(home)}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`;
  return {
    manager: "launchd",
    path,
    text,
    install: [["launchctl", "bootstrap", `gui/${uid}`, path]],
    uninstall: [["launchctl", "bootout", `gui/${uid}/${launchdLabel}`]],
  };
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
