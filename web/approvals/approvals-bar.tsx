import { hrefOf, path } from "../state/router.ts";
import { useSession } from "../state/session.ts";

/** On a narrow window, above the navigation of every page: that something waits, and the way to it. */
export function ApprovalsBar() {
  const waiting = useSession().waiting.value;
  if (waiting === 0 || path.value.startsWith("/approvals")) return null;
  return (
    <a href={hrefOf("/approvals")}>
      {waiting === 1 ? "1 request waits for you" : `${waiting} requests wait for you`}
    </a>
  );
}
