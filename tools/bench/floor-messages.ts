/** What the measuring client asks of the floor: an answer of a model, or some bytes back. */
export type FloorAsk =
  | { tag: number; model: string; content: string }
  | { tag: number; echo: number };

/** A token, or the end of an answer. */
export interface FloorAnswer {
  tag: number;
  text: string;
  done?: true;
}
