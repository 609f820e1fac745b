/** The same request as code of other languages, and as a link. */

import { useSignal } from "@preact/signals";

import { ProblemView } from "../answer/ProblemView.tsx";
import { query, request, saved, unreadable } from "../model/document.ts";
import { fragmentOf, MOST_CHARACTERS } from "../model/link.ts";
import { jsonOf } from "../service/json.ts";
import { apiKey } from "../service/client.ts";
import { type Asked, isInFile, LANGUAGES, REQUEST_FILE } from "../take/snippets.ts";

export function CodePanel() {
  const chosen = useSignal("curl");
  const said = useSignal("");
  const language = LANGUAGES.find(({ id }) => id === chosen.value) ?? LANGUAGES[0];
  if (language === undefined) return null;
  // The code of what could be read before would be that of another request.
  if (unreadable.value !== null) return <ProblemView problem={unreadable.value} />;
  const address = new URL(".", location.href).href.replace(/\/$/, "");
  const asked: Asked = { address, query: query.value, document: request.value, hasKey: apiKey.value !== "" };
  const code = language.write(asked);
  const copy = async (text: string, what: string) => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = `The ${what} is copied.`;
    } catch {
      said.value = "The browser does not allow copying: select the text.";
    }
  };
  const copyLink = async () => {
    const fragment = await fragmentOf(saved());
    if (fragment.length > MOST_CHARACTERS) said.value = "The program and its values are too long for a link.";
    else await copy(`${address}/${fragment}`, "link");
  };
  return (
    <div class="code">
      <div class="row">
        <label>
          Language{" "}
          <select value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            {LANGUAGES.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void copy(code, "code")}>
          Copy the code
        </button>
        {isInFile(asked) && (
          <button type="button" onClick={() => download(jsonOf(request.value))}>
            Download {REQUEST_FILE}
          </button>
        )}
        <button type="button" onClick={() => void copyLink()}>
          Copy a link
        </button>
      </div>
      <p class="quiet">
        Needs {language.needs}.{isInFile(asked) && ` The request is long, so the code reads it from ${REQUEST_FILE}.`}
      </p>
      <pre tabIndex={0} aria-label={`The request in ${language.title}`}>
        <code>{code}</code>
      </pre>
      <p role="status">{said.value}</p>
    </div>
  );
}

function download(text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = REQUEST_FILE;
  link.click();
  URL.revokeObjectURL(address);
}
