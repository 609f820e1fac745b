/** Starts the page: the document of the link, or else the first example. */

import { render } from "preact";

import { App } from "./App.tsx";
import { FIRST } from "./examples/first.ts";
import { answerChanges } from "./model/answer.ts";
import { keepInLink, openLink } from "./model/location.ts";
import { open } from "./model/document.ts";
import { generate } from "./variables/generate.ts";
import { loadOperations } from "./model/operations.ts";
import { notice } from "./model/notice.ts";
import { ServiceError } from "./service/client.ts";

async function start(): Promise<void> {
  if (!(await openLink())) open(FIRST, generate);
  render(<App />, document.body);
  answerChanges();
  keepInLink();
  try {
    await loadOperations();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    notice.value = `Completion is off: ${error.problem.detail}`;
  }
}

void start();
