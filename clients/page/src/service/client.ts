/** Requests to the service that this page comes from. */

import { signal } from "@preact/signals";

import { type Json, jsonOf, type JsonObject } from "./json.ts";

/** A problem document of the service (RFC 9457), or one of this page of the same form. */
export interface Problem {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly status?: number;
  readonly hint?: string;
  readonly pointer?: string;
  readonly instance?: string;
  readonly node?: Place;
}

/** Where in the program something is. */
export interface Place {
  readonly id?: string;
  readonly op?: string;
  readonly line?: number;
  readonly column?: number;
}

export class ServiceError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** The API key, kept until the page is closed. */
export const apiKey = signal("");
/** Whether the service has asked for a key. */
export const keyWanted = signal(false);

/** The largest body that the service takes, once it is known. */
export const bodyBytes = signal<number | null>(null);

/**
 * The answer to a request: a POST if there is a body.
 *
 * Throws a `ServiceError`, or the `AbortError` of `stop`.
 */
export async function ask(path: string, body: JsonObject | null, stop?: AbortSignal): Promise<JsonObject> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (apiKey.value !== "") headers["Authorization"] = `Bearer ${apiKey.value}`;
  if (body !== null) headers["Content-Type"] = "application/json";
  const sent = body === null ? null : jsonOf(body);
  if (sent !== null) refuseTooLarge(sent);
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method: body === null ? "GET" : "POST",
      headers,
      body: sent,
      credentials: "omit",
      signal: stop ?? null,
    });
    text = await response.text();
  } catch (error) {
    if (stop?.aborted) throw error;
    throw new ServiceError({
      code: "unreachable",
      title: "Service unreachable",
      detail: "The service does not answer. What you typed is kept.",
    });
  }
  const document = parse(text);
  if (response.ok && document !== null) return document;
  if (response.status === 401) keyWanted.value = true;
  throw new ServiceError(problemOf(document, response.status));
}

/** The service closes the connection on a body that is too large, which looks like a service that is away. */
function refuseTooLarge(text: string): void {
  const most = bodyBytes.value;
  if (most === null || text.length * 3 <= most) return;
  const size = new Blob([text]).size;
  if (size <= most) return;
  throw new ServiceError({
    code: "body_too_large",
    title: "Body too large",
    detail: `The program and its variables take ${size} bytes, and the service reads at most ${most}.`,
    hint: "remove a large variable, or send fewer of its rows",
  });
}

function parse(text: string): JsonObject | null {
  try {
    const document: Json = JSON.parse(text);
    return typeof document === "object" && document !== null && !Array.isArray(document) ? document : null;
  } catch {
    return null;
  }
}

function problemOf(document: JsonObject | null, status: number): Problem {
  if (document !== null && typeof document["code"] === "string" && typeof document["title"] === "string")
    return { detail: "", ...document } as unknown as Problem;
  return {
    code: "unexpected_answer",
    title: "Unexpected answer",
    detail: `The service answered ${status} with something that is no problem document.`,
    status,
  };
}
