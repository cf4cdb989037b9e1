import { botMethods, defaultLimits, isBotMethod, type ErrorCode } from '@flowly/contract';
import type { Subscription } from '../sockets/subscriptions';
import { planRpc } from './plan-rpc';

type Fields = Record<string, unknown>;

const good = {
  name: 'writer',
  method: 'chat.send',
  params: { sessionKey: 'ios:a', message: 'hi' },
};

function plan(changes: Fields = {}, isOversized = false) {
  const subscriptions: Subscription[] = [];
  const subscribe = (one: Subscription) => subscriptions.push(one);
  const client = { hostId: 'host', clientId: 'c', secure: true };
  const caller = { ...client, isOversized, limits: defaultLimits, subscribe };
  try {
    return { plan: planRpc({ ...good, ...changes }, caller), subscriptions };
  } catch (error) {
    return { error, subscriptions };
  }
}

/** What breaks each step of bots.md §2.1, and how it is refused. */
const steps: [step: string, breaks: Fields, refusal: { code: ErrorCode; message: RegExp }][] = [
  ['1 name', { name: 'No Bot' }, { code: 'INVALID_PARAMS', message: /name|bot/i }],
  ['2 method', { method: 'config.get' }, { code: 'METHOD_NOT_ALLOWED', message: /method/i }],
  ['3 object', { params: [] }, { code: 'INVALID_PARAMS', message: /must be an object/ }],
  [
    '4 exact keys',
    { method: 'exec.policy.get', params: { sessionKey: 'cli:x' } },
    { code: 'INVALID_PARAMS', message: /exec\.policy\.get takes no params/ },
  ],
  [
    '5 session key',
    { params: { sessionKey: 'cli:x', cwd: '/tmp' } },
    { code: 'REMOTE_SESSION_DENIED', message: /session/ },
  ],
  [
    '6 rules of chat.send',
    { params: { sessionKey: 'ios:a', cwd: '/tmp' } },
    { code: 'REMOTE_HOST_ACCESS_DENIED', message: /folder/ },
  ],
  ['7 identity', { expectedBotId: 7 }, { code: 'INVALID_PARAMS', message: /come together/ }],
];
const laterThan = (index: number): Fields =>
  Object.assign(
    {},
    ...steps
      .slice(index)
      .map(([, breaks]) => breaks)
      .reverse(),
  );

it('is taken when nothing is wrong', () => {
  expect(plan().error).toBeUndefined();
  expect(plan({ params: null, method: 'provider.list' }).plan?.command.params).toEqual({});
});

it.each(steps.map((step, index) => [step[0], index] as const))(
  'step %s is refused before every later one',
  (_, index) => {
    const refusal = steps[index]?.[2];
    const broken = plan(laterThan(index));
    expect(broken.error).toMatchObject({
      code: refusal?.code,
      message: expect.stringMatching(refusal?.message ?? ''),
    });
  },
);

it('step 3: what is too large is no object first, and too large before its keys are looked at', () => {
  const tooLarge = expect.objectContaining({ code: 'REQUEST_TOO_LARGE', retryable: false });
  expect(plan({}, true).error).toEqual(tooLarge);
  expect(plan(laterThan(3), true).error).toEqual(tooLarge);
  expect(plan({ params: 'text' }, true).error).toMatchObject({ code: 'INVALID_PARAMS' });
  expect(plan({ method: 'nothing' }, true).error).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
});

it('subscribes after step 5 and stays so when a later one refuses', () => {
  for (const [index] of steps.entries()) {
    const bound =
      index < 5
        ? []
        : [
            { to: 'bot', bot: 'writer' },
            { to: 'conversation', bot: 'writer', sessionKey: 'ios:a' },
          ];
    expect(plan(laterThan(index)).subscriptions).toEqual(bound);
  }
});

it('G273: params are an object of what JSON can hold', () => {
  for (const params of [[], 'text', 7, true, { a: [{ b: Infinity }] }, { limit: NaN }])
    expect(plan({ method: 'chat.history', params }).error).toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringMatching(/^params/),
    });
});

describe('exact key sets', () => {
  const sets: [string, Fields][] = [
    ['exec.policy.get', {}],
    ['exec.policy.set', { security: 'full', ask: 'off' }],
  ];
  it.each(sets.filter(([method]) => isBotMethod(method)))('%s', (method, params) => {
    expect(plan({ method, params }).error).toBeUndefined();
    const bad = [{ ...params, more: null }];
    for (const key of Object.keys(params)) {
      const { [key]: _left, ...rest } = params;
      bad.push({ ...rest, more: null }, { more: null });
    }
    for (const given of bad)
      expect(plan({ method, params: given })).toMatchObject({
        error: { code: 'INVALID_PARAMS' },
        subscriptions: [],
      });
  });

  it('all other methods ignore unknown keys', () => {
    const { plan: planned } = plan({
      params: { ...good.params, unknown: 1, disabledTools: ['x'] },
    });
    expect(planned?.command.params).toEqual({ ...good.params, attachments: [] });
  });
});

describe('the session key rule', () => {
  const named = (method: string, params: Fields) => plan({ method, params }).error;
  it.each(Object.keys(botMethods))('holds wherever a key is present: %s', (method) => {
    if (method.includes('.policy.') || method.startsWith('tools.access.')) return;
    for (const sessionKey of ['cli:x', 'desktop:profile-inbox:x'])
      expect(named(method, { sessionKey })).toMatchObject({ code: 'REMOTE_SESSION_DENIED' });
    for (const sessionKey of ['', ' ios:a', 7, {}])
      expect(named(method, { sessionKey })).toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(/session key/),
      });
  });

  it.each(
    [
      'chat.history',
      'chat.inflight',
      'chat.send',
      'sessions.model.get',
      'sessions.model.set',
    ].filter(isBotMethod),
  )('G277: %s cannot do without', (method) => {
    for (const params of [{ message: 'x' }, { sessionKey: null, message: 'x' }])
      expect(named(method, params)).toMatchObject({ code: 'INVALID_PARAMS' });
  });
});

it.each([
  [undefined, 60_000],
  [null, 60_000],
  [true, 60_000],
  ['5000', 60_000],
  [[5_000], 60_000],
  [5_000, 5_000],
  [5_000.9, 5_000],
  [999, 1_000],
  [0, 1_000],
  [-5, 1_000],
  [60_001, 60_000],
  [1e300, 60_000],
])('timeoutMs %p means %p', (timeoutMs, ceilingMs) => {
  expect(plan({ timeoutMs }).plan?.ceilingMs).toBe(ceilingMs);
});

it('the ceiling is the method’s', () => {
  const long = Object.keys(botMethods).filter(
    (method) => isBotMethod(method) && botMethods[method].ceilingMs === 60_000,
  );
  const allowed = ['chat.send', 'model.list', 'plan.resume', 'goal.resume', 'cron.run'];
  expect(allowed).toEqual(expect.arrayContaining(long));
  expect(plan({ method: 'provider.list', timeoutMs: 45_000 }).plan?.ceilingMs).toBe(30_000);
});

it('the guard needs both ids, neither empty', () => {
  const both = { expectedHostId: 'h', expectedBotId: 'b' };
  expect(plan(both).plan?.command.bot).toEqual({ name: 'writer', ...both });
  expect(plan({ expectedHostId: null, expectedBotId: null }).plan?.command.bot).toEqual({
    name: 'writer',
  });
  for (const half of [{ expectedBotId: 'b' }, { expectedHostId: 'h' }])
    expect(plan(half).error).toMatchObject({ code: 'INVALID_PARAMS' });
  for (const empty of [{ expectedBotId: '' }, { expectedHostId: '' }, { expectedHostId: 7 }])
    expect(plan({ ...both, ...empty }).error).toMatchObject({ code: 'INVALID_PARAMS' });
  const long = 'x'.repeat(65);
  for (const impossible of [{ expectedBotId: long }, { expectedHostId: long }])
    expect(plan({ ...both, ...impossible }).error).toMatchObject({
      code: 'PROFILE_IDENTITY_CHANGED',
    });
});
