import { type GroupMessage, storedGroupViewSchema } from '@flowly/contract';
import { needsUser } from './needs-user';
import { newPanelRun, stopped } from './run-changes';
import { storedGroupView, type StoredGroup } from './view';

const at = '2026-01-01T00:00:00.000Z';
const answer = (content: string, more: Partial<GroupMessage> = {}): GroupMessage => ({
  id: 'm1',
  seq: 1,
  role: 'assistant',
  profile: 'writer',
  content,
  createdAt: at,
  ...more,
});
const run = newPanelRun({ id: 'r1', responders: ['writer', 'default'], at, boundary: 1 });
const group: StoredGroup = {
  id: '55fc1b75-0b89-47e6-8974-504eef89249c',
  title: 'Council',
  mode: 'panel',
  members: ['default', 'writer'],
  policies: { writer: 'mentioned' },
  run,
  createdAt: at,
  updatedAt: at,
  messageCount: 125,
  latestMessage: null,
  sinceUser: [],
  usage: null,
};

describe('needsUser', () => {
  it('G074 a member asks for the user, until it was stopped or the user speaks', () => {
    const first = [answer('@user decide'), answer('partial', { aborted: true })];
    expect(needsUser({ run: null, attentions: [], sinceUser: first })).toBe(false);
    const next = [answer('Hm, @USER which one?')];
    expect(needsUser({ run, attentions: [], sinceUser: next })).toBe(true);
    expect(needsUser({ run, attentions: [], sinceUser: [] })).toBe(false);
  });

  it('G077 a stopped run asks for nothing', () => {
    const asked = [answer('@user choose a path')];
    expect(needsUser({ run: stopped(run, at), attentions: [], sinceUser: asked })).toBe(false);
  });

  it('an open request does', () => {
    const open = { kind: 'clarify', profile: 'writer', id: 'q1', request: {} } as const;
    expect(needsUser({ run, attentions: [open], sinceUser: [] })).toBe(true);
  });
});

describe('storedGroupView', () => {
  it('is what the contract calls the stored part of a group', () => {
    const view = storedGroupView(group);
    expect(storedGroupViewSchema.strict().parse(view)).toEqual(view);
    expect(view).toMatchObject({
      memberPolicies: { default: 'always', writer: 'mentioned' },
      running: true,
      activeProfiles: ['default', 'writer'],
      attentions: [],
      needsUser: false,
      usage: null,
    });
    expect(view.runState?.members['writer']).not.toHaveProperty('boundary');
  });

  it('G010 shows the newest message cut at 512 characters, without files', () => {
    const latest = answer('x'.repeat(700), {
      durationMs: 12,
      aborted: true,
      toolCalls: [],
      attachments: [],
    });
    expect(storedGroupView({ ...group, latestMessage: latest }).latestMessage).toEqual({
      id: 'm1',
      role: 'assistant',
      profile: 'writer',
      content: 'x'.repeat(512),
      createdAt: at,
      aborted: true,
      durationMs: 12,
    });
  });

  it('shows the request of a member that waits', () => {
    const attention = { kind: 'approval', profile: 'writer', id: 'a1', request: {} } as const;
    const waiting = { state: 'needs_user', updatedAt: at, error: '', attention } as const;
    const asked = { ...run, members: { ...run.members, writer: waiting } };
    expect(storedGroupView({ ...group, run: asked })).toMatchObject({
      attentions: [attention],
      needsUser: true,
      activeProfiles: ['default', 'writer'],
    });
    expect(storedGroupView({ ...group, run: stopped(asked, at) })).toMatchObject({
      attentions: [],
      needsUser: false,
      running: false,
      activeProfiles: [],
    });
  });

  it('a group that nobody has asked yet is idle', () => {
    expect(storedGroupView({ ...group, run: null })).toMatchObject({
      running: false,
      runState: null,
      activeProfiles: [],
    });
  });
});
