import { clarify } from './clarify';
import { exec } from './exec';
import type { Tool } from './tool';

/** Every tool there is. */
const all: readonly Tool[] = [clarify, exec];

/** The tools of a turn, without those that were taken away from it. */
export function toolsWithout(disabled: readonly string[]): readonly Tool[] {
  return disabled.length === 0 ? all : all.filter(({ name }) => !disabled.includes(name));
}
