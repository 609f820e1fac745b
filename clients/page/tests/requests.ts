/** Prints each example with the request that the page makes of it. */

import { EXAMPLES } from "../src/examples/examples.ts";
import { open, query, request } from "../src/model/document.ts";
import { generated } from "../src/variables/generate.ts";

const requests = EXAMPLES.map((example) => {
  open(example, generated);
  return { title: example.title, about: example.about, query: query.value, request: request.value };
});
process.stdout.write(JSON.stringify(requests));
