/** The page: what is asked on one side, what is answered on the other. */

import { ProgramEditor } from "./editor/ProgramEditor.tsx";
import { ExamplesMenu } from "./examples/ExamplesMenu.tsx";
import { QUERIES, type Query, query, sourcesText } from "./model/document.ts";
import { example } from "./model/location.ts";
import { notice } from "./model/notice.ts";
import { KeyField } from "./panels/KeyField.tsx";
import { PANELS } from "./panels/panels.ts";
import { Tabs } from "./panels/Tabs.tsx";
import { VariablesSection } from "./variables/VariablesSection.tsx";

const NAMES: { readonly [query in Query]: string } = { gradient: "gradient", jacobian: "Jacobian", hessian: "Hessian", evaluate: "values only" };

export function App() {
  return (
    <>
      <header>
        <h1>Gradwire</h1>
        <p class="quiet">Type a program and see its derivatives.</p>
        <ExamplesMenu />
        <nav aria-label="Documentation">
          <a href="guide/">Guide</a> <a href="docs">API</a>
        </nav>
      </header>
      {notice.value !== null && (
        <div class="notice" role="status">
          {notice.value}{" "}
          <button type="button" onClick={() => (notice.value = null)}>
            Close
          </button>
        </div>
      )}
      <KeyField />
      <main>
        <section class="asked" aria-label="What is asked">
          <h2>Program</h2>
          {example.value !== null && (
            <p class="about">
              <strong>{example.value.title}.</strong> {example.value.about}
            </p>
          )}
          <ProgramEditor />
          <div class="row">
            <label>
              Compute the{" "}
              <select value={query.value} onChange={(event) => (query.value = event.currentTarget.value as Query)}>
                {QUERIES.map((one) => (
                  <option key={one} value={one}>
                    {NAMES[one]}
                  </option>
                ))}
              </select>
            </label>
            {query.value !== "evaluate" && (
              <label class="sources">
                with respect to{" "}
                <input
                  type="text"
                  value={sourcesText.value}
                  placeholder="all variables"
                  spellcheck={false}
                  onInput={(event) => (sourcesText.value = event.currentTarget.value)}
                />
              </label>
            )}
          </div>
          <VariablesSection />
        </section>
        <section class="answered" aria-label="What is answered">
          <Tabs panels={PANELS} />
        </section>
      </main>
      <footer class="quiet">
        What you type is sent to this service only. <a href="page/licenses.txt">Licences</a> of the libraries on this page.
      </footer>
    </>
  );
}
