// What went wrong, in the reader's language where the service's code for it is a known one.
import { Refused } from "./api";
import { type Say, WORDS, type Word } from "./words";

export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

export function sayError(say: Say, error: Error): string {
  const word = `refused_${error instanceof Refused ? error.code : ""}`;
  return word in WORDS ? say(word as Word, { said: error.message }) : error.message;
}
