import {
  ContractError,
  findMethod,
  toErrorBody,
  type ErrorBody,
  type Limits,
} from '@flowly/contract';
import type { GroupFeeds } from '../fanout/group-feeds';
import type { Position } from '../fanout/position';
import { errorFrame, largeResultFrame, resultFrame, type Frame } from '../frames/frame';
import type { ClientSocket } from '../sockets/client-socket';
import type { Commands } from './commands';
import type { CredentialSeal } from './credential-seal';
import type { Plan } from './plan';
import { planCall } from './plan-call';

export interface Call {
  id: unknown;
  method: string;
  params: unknown;
  /** `profiles.rpc` with larger params of the bot method than there may be. */
  isOversized: boolean;
}

/** How a call ended, and after which event the client is told. */
interface Outcome {
  after: string;
  result?: Record<string, unknown>;
  /** A large result, as the JSON it is told by. */
  resultJson?: string;
  error?: ErrorBody;
}

/** Takes the calls of all sockets and answers each exactly once (wire.md §3, §4). */
export class CallDesk {
  constructor(
    private readonly hostId: string,
    private readonly commands: Commands,
    private readonly seal: CredentialSeal,
    private readonly position: Position,
    private readonly groups: GroupFeeds,
    private readonly limits: Pick<Limits, 'attachmentBytes'>,
    private readonly watch: {
      /** @param outcome `ok` or an error code */
      ended(method: string, outcome: string): void;
      failed(error: unknown): void;
    },
  ) {}

  handle(socket: ClientSocket, call: Call): void {
    const { clientId, peer } = socket.identity;
    try {
      const planned = planCall(call.method, call.params, {
        hostId: this.hostId,
        clientId,
        secure: peer.secure,
        isOversized: call.isOversized,
        limits: this.limits,
        subscribe: (subscription) => socket.subscriptions.add(subscription),
      });
      if ('answer' in planned)
        socket.send(this.frame(call, { after: '', result: { ...planned.answer } }));
      else void this.carryOut(socket, call, planned);
    } catch (error) {
      socket.send(this.frame(call, this.failure(error)));
    }
  }

  private async carryOut(socket: ClientSocket, call: Call, plan: Plan): Promise<void> {
    const deadline = Date.now() + plan.ceilingMs;
    const turn = socket.lanes.enter(plan.order);
    const isHandedOn = await inTime(turn.ready, deadline);
    const isHeld = isHandedOn && plan.snapshot === true;
    if (isHeld && plan.lane !== undefined) socket.hold.begin(plan.lane);
    const outcome = isHandedOn
      ? await this.outcome(plan, deadline)
      : this.failure(
          new ContractError(plan.offline, 'Earlier calls of this target took too long.'),
        );
    turn.leave();
    await inTime(this.position.reached(outcome.after), deadline);
    const answer = this.frame(call, outcome);
    if (plan.lane === undefined) return socket.send(answer);
    const frame = { ...answer, divides: plan.lane };
    await inTime(this.groups.caughtUp(plan.lane), deadline);
    if (isHeld) socket.hold.end(plan.lane, outcome.after, frame);
    else socket.hold.pass(plan.lane, outcome.after, frame);
  }

  private async outcome(plan: Plan, deadline: number): Promise<Outcome> {
    try {
      const { credential, ...command } = plan.command;
      const sealed =
        credential === undefined ? {} : { credential: await this.seal.seal(credential) };
      const params = { ...command.params, ...sealed };
      const answer = await this.commands.run({ ...command, params, deadline });
      return { after: answer.after, ...answer.outcome };
    } catch (error) {
      const isOffline = error instanceof ContractError && error.code === 'UNAVAILABLE';
      return this.failure(isOffline ? new ContractError(plan.offline, error.message) : error);
    }
  }

  /** An answer of the gateway's own comes after what has been sent so far. */
  private failure(error: unknown): Outcome {
    if (!(error instanceof ContractError)) this.watch.failed(error);
    return { after: this.position.current, error: toErrorBody(error) };
  }

  private frame(call: Call, { result, resultJson, error }: Outcome): Frame {
    this.watch.ended(knownName(call.method), error?.code ?? 'ok');
    if (resultJson !== undefined) return largeResultFrame(call.id, resultJson);
    return error ? errorFrame(call.id, error) : resultFrame(call.id, result ?? {});
  }
}

/** Clients must not be able to make new names in the figures. */
function knownName(wire: string): string {
  return findMethod(wire) === null ? 'unknown' : wire;
}

/** Whether it came to its end before the deadline. */
async function inTime(work: Promise<void>, deadline: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, deadline - Date.now(), false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
