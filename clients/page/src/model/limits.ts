/** What the service takes at most. */

import { ask, bodyBytes, ServiceError } from "../service/client.ts";

/** Learn the largest body; null if the service does not say it now. */
export async function loadLimits(): Promise<number | null> {
  if (bodyBytes.value !== null) return bodyBytes.value;
  try {
    const limits = await ask("v1/limits", null);
    if (typeof limits["body_bytes"] === "number") bodyBytes.value = limits["body_bytes"];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
  return bodyBytes.value;
}

/** Bytes in the unit that reads best, as `67 MB`. */
export function bytesText(bytes: number): string {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const)
    if (bytes >= size) return `${Number((bytes / size).toPrecision(3))} ${unit}`;
  return `${bytes} bytes`;
}
