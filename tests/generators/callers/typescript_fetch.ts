// Asks the service at an address for a gradient, and what it says of a mistake; prints both.
import { ComputeApi, Configuration, GradientRequest, ProblemFromJSON, ResponseError } from "./generated";

const [, , address, program, mistake] = process.argv;
const compute = new ComputeApi(new Configuration({ basePath: address }));
const request = (program: string): GradientRequest => ({
  program,
  variables: { x: [-1.2, 0.5], y: { value: 1.5, dtype: "float32" } },
  sources: { at: ["x", "y"] },
});

async function main(): Promise<void> {
  const { gradients } = await compute.gradient({ gradientRequest: request(program) });
  try {
    await compute.gradient({ gradientRequest: request(mistake) });
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    const { code } = ProblemFromJSON(await error.response.json());
    console.log(JSON.stringify({ gradients, code }));
  }
}

void main();
