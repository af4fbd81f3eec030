/** Whether the page may use a camera at all. */
export type CameraSupport = "yes" | "insecure" | "none";

/** Browsers give the camera to https and to this very machine only. */
export function cameraSupport(isSecure: boolean, devices: unknown): CameraSupport {
  if (!isSecure) return "insecure";
  return typeof devices === "object" && devices !== null && "getUserMedia" in devices ? "yes" : "none";
}

/** Why there is no picture, in words with the next step. */
export function cameraProblem(error: unknown): string {
  switch (error instanceof Error ? error.name : "") {
    case "NotAllowedError":
    case "SecurityError":
      return "The browser did not let this page use the camera. Allow it in the settings of this page, or type the code.";
    case "NotFoundError":
    case "OverconstrainedError":
      return "This device has no camera. Type the code instead.";
    case "NotReadableError":
    case "AbortError":
      return "The camera is used by another program. Close that one, or type the code.";
    default:
      return "The camera could not be started. Type the code instead.";
  }
}

/** The camera at the back where there are two. */
export function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({
    audio: false,
    video: { facingMode: "environment", width: { ideal: 1_280 }, height: { ideal: 720 } },
  });
}
