// Asks the service at an address for a gradient, and what it says of a mistake; prints both.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema";

const [, , address, program, mistake] = process.argv;
const client = createClient<paths>({ baseUrl: address });
const request = (program: string): components["schemas"]["GradientRequest"] => ({
  program,
  variables: { x: [-1.2, 0.5], y: { value: 1.5, dtype: "float32" } },
  sources: { at: ["x", "y"] },
});

async function main(): Promise<void> {
  const { data } = await client.POST("/v1/gradient", { body: request(program) });
  const { error } = await client.POST("/v1/gradient", { body: request(mistake) });
  if (data === undefined || error === undefined) throw new Error("neither answer nor refusal");
  console.log(JSON.stringify({ gradients: data.gradients, code: error.code }));
}

void main();
