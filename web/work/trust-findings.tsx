import type { TrustedNow } from "../../src/protocol/objects.ts";
import { List, Row } from "../ui/list.tsx";
import { visible } from "../ui/visible-text.ts";

/** What a folder brings along that an agent may run by itself, told once, when it was opened for the first time. */
export function TrustFindings({ found }: { readonly found: TrustedNow }) {
  return (
    <>
      <p>
        A coding agent may run these by itself, without asking here. If you do not know them, close the tab
        before you prompt an agent in it.
      </p>
      <List label="What the folder brings along">
        {found.hooks.map(({ source, name, command }) => (
          <Row
            key={`hook ${source} ${name} ${command}`}
            title={<code>{visible(command === "" ? name : command)}</code>}
            detail={
              command === ""
                ? `A file that runs by itself: ${visible(source)}`
                : `Hook ${visible(name)}, from ${visible(source)}`
            }
          />
        ))}
        {found.mcp_servers.map(({ source, name, command }) => (
          <Row
            key={`server ${source} ${name}`}
            title={<code>{visible(command)}</code>}
            detail={`MCP server ${visible(name)}, from ${visible(source)}`}
          />
        ))}
        {found.commands.map(({ source, name }) => (
          <Row
            key={`command ${source} ${name}`}
            title={<code>/{visible(name)}</code>}
            detail={`Command, from ${visible(source)}`}
          />
        ))}
      </List>
      {found.incomplete && <p class="problem-text">There is more, or a file could not be read whole.</p>}
    </>
  );
}
