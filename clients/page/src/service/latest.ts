/** Requests of which only the latest counts: asked after each change, one at a time, stale ones cancelled. */

import { batch, effect, type Signal, signal, untracked } from "@preact/signals";

import { apiKey, ask, type Problem, ServiceError } from "./client.ts";
import type { JsonObject } from "./json.ts";

export interface Question<Given> {
  readonly path: string;
  readonly body: JsonObject;
  /** What is kept of the answer. */
  readonly read: (document: JsonObject, milliseconds: number) => Given;
}

/** Shorter than the time between two keys, so that words are not asked letter by letter. */
const PAUSE_MILLISECONDS = 25;
const RETRY_MILLISECONDS = 2000;
/** An answer that takes longer is waited for: what is shown until then belongs to something else. */
const SLOW_MILLISECONDS = 400;

export class LatestRequest<Given> {
  /** The last answer; it stays while a later request is answered or refused. */
  readonly answer: Signal<Given | null> = signal<Given | null>(null);
  /** Why the last request was refused. */
  readonly problem = signal<Problem | null>(null);
  readonly isAsking = signal(false);
  /** Whether an answer is waited for so long that people should know; until one comes. */
  readonly isSlow = signal(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stop: AbortController | undefined;

  /**
   * Ask after each change of the signals that `question` reads; returns what ends that.
   *
   * While `question` gives null nothing is asked, and the last answer stays.
   */
  follow(question: () => Question<Given> | null): () => void {
    const end = effect(() => {
      const asked = question();
      void apiKey.value;
      this.#cancel();
      if (asked !== null) this.#timer = setTimeout(() => void this.#send(asked), PAUSE_MILLISECONDS);
    });
    return () => {
      end();
      this.#cancel();
    };
  }

  /** Forget the last answer and its problem. */
  clear(): void {
    untracked(() => {
      this.answer.value = null;
      this.refuse(null);
    });
  }

  /** Say what is wrong with a question that is not asked. */
  refuse(problem: Problem | null): void {
    untracked(() =>
      batch(() => {
        this.problem.value = problem;
        this.isAsking.value = false;
        this.isSlow.value = false;
      }),
    );
  }

  #cancel(): void {
    this.#stop?.abort();
    clearTimeout(this.#timer);
  }

  async #send(asked: Question<Given>): Promise<void> {
    const own = new AbortController();
    this.#stop = own;
    this.isAsking.value = true;
    const start = performance.now();
    const slow = setTimeout(() => {
      if (own.signal.aborted) return;
      batch(() => {
        this.isSlow.value = true;
        this.problem.value = null;
      });
    }, SLOW_MILLISECONDS);
    try {
      const document = await ask(asked.path, asked.body, own.signal);
      if (own.signal.aborted) return;
      batch(() => {
        this.answer.value = asked.read(document, performance.now() - start);
        this.problem.value = null;
        this.isSlow.value = false;
      });
    } catch (error) {
      if (own.signal.aborted) return;
      if (!(error instanceof ServiceError)) throw error;
      const { problem } = error;
      batch(() => {
        this.problem.value = problem;
        this.isSlow.value = false;
      });
      const { code, status } = problem;
      if (code === "unreachable" || status === 503) this.#timer = setTimeout(() => void this.#send(asked), RETRY_MILLISECONDS);
    } finally {
      clearTimeout(slow);
      if (this.#stop === own) this.isAsking.value = false;
    }
  }
}
