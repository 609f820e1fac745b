/** All examples, in the order of the menu. */

import type { Example } from "./example.ts";
import { FIRST } from "./first.ts";
import { ATTENTION, FACTORS, LOGISTIC, PROCESS, ROBUST } from "./learning.ts";
import { CHAIN, KEPLER, LYNXES, OPTION, PENDULUM, ROSENBROCK } from "./science.ts";

export type { Example } from "./example.ts";

export const EXAMPLES: readonly Example[] = [
  FIRST,
  ROSENBROCK,
  LOGISTIC,
  OPTION,
  LYNXES,
  PROCESS,
  KEPLER,
  PENDULUM,
  CHAIN,
  ATTENTION,
  FACTORS,
  ROBUST,
];
