// The scripted model server in a process of its own; the measuring client asks it what it saw.
import { setTimeout as delay } from 'node:timers/promises';
import { ScriptedModelServer } from '@flowly/testing';
import { readScript, wordsOf } from './script';

/** A request as the model server got it; times as by `now()`. */
export interface SeenCall {
  model: string;
  /** The newest tag in what it was asked. */
  tag: number;
  at: number;
  /** When each token was written. */
  pieceTimes: number[];
}

void ScriptedModelServer.start().then((server) => {
  server.answer(({ model }) => {
    const { words, everyMs, firstMs } = readScript(model);
    return {
      text: wordsOf(words),
      tokenDelayMs: everyMs,
      ...(firstMs > 0 && { gate: delay(firstMs) }),
    };
  });
  process.on('message', () => process.send?.(takeCalls(server)));
  process.on('disconnect', () => process.exit());
  process.send?.(server.apiBase);
});

/** What it saw since it was asked last. */
function takeCalls({ calls }: ScriptedModelServer): SeenCall[] {
  return calls.splice(0).map(({ model, messages, at, pieceTimes }) => {
    const tags = messages.at(-1)?.content.match(/#\d+/g);
    return { model, at, pieceTimes, tag: Number(tags?.at(-1)?.slice(1) ?? -1) };
  });
}
