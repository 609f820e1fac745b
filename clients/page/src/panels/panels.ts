/** The views of an answer, in the order of their tabs. */

import type { ComponentType } from "preact";

import { AnswerPanel } from "./AnswerPanel.tsx";
import { CodePanel } from "./CodePanel.tsx";
import { PlotPanel } from "./PlotPanel.tsx";
import { TapePanel } from "./TapePanel.tsx";

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly View: ComponentType;
}

export const PANELS: readonly Panel[] = [
  { id: "answer", title: "Answer", View: AnswerPanel },
  { id: "tape", title: "Tape", View: TapePanel },
  { id: "plot", title: "Plot", View: PlotPanel },
  { id: "code", title: "Code", View: CodePanel },
];
