/** The field for an API key, where the service asks for one. */

import { useSignal } from "@preact/signals";

import { problem } from "../model/answer.ts";
import { apiKey, keyWanted } from "../service/client.ts";

export function KeyField() {
  const typed = useSignal("");
  if (!keyWanted.value) return null;
  const refused = apiKey.value !== "" && problem.value?.status === 401;
  return (
    <form
      class="key"
      onSubmit={(event) => {
        event.preventDefault();
        apiKey.value = typed.value.trim();
      }}
    >
      <label for="key">This service needs an API key. It is kept until you close the page.</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        placeholder="gw_…"
        value={typed.value}
        aria-invalid={refused}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <button type="submit">Use it</button>
      {refused && <span role="alert">{problem.value?.detail}</span>}
    </form>
  );
}
