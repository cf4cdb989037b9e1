import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { callsOf, piecesOf, usageOf, type Answer, type Fault } from './answer';
import type { Dialect } from './dialects';
import { now } from './model-call';

interface Stage {
  response: ServerResponse;
  dialect: Dialect;
  model: string;
  /** Aborts when the connection is gone. */
  gone: AbortSignal;
  pieceTimes: number[];
}

/** Plays an answer onto a response; a hang leaves it open until the client or the server closes it. */
export async function play(answer: Answer, stage: Stage): Promise<void> {
  const { response, dialect, gone } = stage;
  const { fault } = answer;
  await untilGone(answer.gate, gone);
  if (gone.aborted || fault?.kind === 'hang-before-headers') return;
  if (fault?.kind === 'status') return refuse(fault, response);
  if (fault?.kind === 'reset' && fault.after === 0) return reset(response);

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(dialect.open(stage.model));
  await speak(answer, stage);
  if (gone.aborted) return;
  if (fault === undefined) {
    const calls = callsOf(answer);
    response.end(dialect.calls(calls) + dialect.close(usageOf(answer), calls.length > 0));
  } else {
    misbehave(fault, answer, stage);
  }
}

async function speak(answer: Answer, stage: Stage): Promise<void> {
  const fault = answer.fault;
  const limit = fault !== undefined && 'after' in fault ? fault.after : Infinity;
  const start = performance.now();
  let sent = 0;
  for (const piece of piecesOf(answer)) {
    if (typeof piece !== 'string') {
      await untilGone(piece, stage.gone);
    } else if (sent < (limit ?? Infinity)) {
      await untilDue(start + sent * (answer.tokenDelayMs ?? 0), stage.gone);
      if (stage.gone.aborted) return;
      stage.response.write(stage.dialect.piece(piece));
      stage.pieceTimes.push(now());
      sent += 1;
    }
  }
}

function misbehave(fault: Fault, answer: Answer, { response, dialect }: Stage): void {
  switch (fault.kind) {
    case 'reset':
      return reset(response);
    case 'broken-json':
      response.end(`data: {"choices": [{"del\n\n${dialect.close(usageOf(answer), false)}`);
      return;
    case 'error-event':
      response.end(dialect.error(fault.message));
      return;
    case 'no-close':
      response.end();
      return;
    case 'hang':
    case 'hang-before-headers':
    case 'status':
      return;
  }
}

function refuse(fault: Extract<Fault, { kind: 'status' }>, response: ServerResponse): void {
  response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
  response.end(fault.body ?? JSON.stringify({ error: { message: `status ${fault.status}` } }));
}

/** After what was written has left; a client that has not read it yet may still lose it, as in life. */
function reset(response: ServerResponse): void {
  const { socket } = response;
  if (response.headersSent) response.write('\n', () => socket?.resetAndDestroy());
  else socket?.resetAndDestroy();
}

async function untilDue(at: number, gone: AbortSignal): Promise<void> {
  const wait = at - performance.now();
  if (wait <= 0) return;
  await untilGone(delay(wait, undefined, { ref: false }), gone);
}

async function untilGone(event: Promise<unknown> | undefined, gone: AbortSignal): Promise<void> {
  if (event === undefined || gone.aborted) return;
  let stop = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    stop = resolve;
  });
  gone.addEventListener('abort', stop, { once: true });
  await Promise.race([event, left]);
  gone.removeEventListener('abort', stop);
}
