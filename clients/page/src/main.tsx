/** Starts the page: the document of the link, or else the first example. */

import { render } from "preact";

import { App } from "./App.tsx";
import { FIRST } from "./examples/first.ts";
import { answerChanges } from "./model/answer.ts";
import { loadLimits } from "./model/limits.ts";
import { keepInLink, openLink, showExample } from "./model/location.ts";
import { loadOperations } from "./model/operations.ts";
import { notice } from "./model/notice.ts";
import { ServiceError } from "./service/client.ts";
import { takeDroppedFiles } from "./variables/loading.ts";

async function start(): Promise<void> {
  if (!(await openLink())) showExample(FIRST);
  render(<App />, document.body);
  answerChanges();
  keepInLink();
  takeDroppedFiles();
  void loadLimits();
  try {
    await loadOperations();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    notice.value = `Completion is off: ${error.problem.detail}`;
  }
}

void start();
