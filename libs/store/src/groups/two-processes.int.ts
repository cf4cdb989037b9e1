import { once } from 'node:events';
import { join } from 'node:path';
import { ChildPrograms } from './child-programs';
import { type GroupFixture, groupFixture } from './group-fixture';

/** The same library in a process of its own: adds messages `<name>-<n>` to a group, each in one commit. */
const PROGRAM = `
import { randomUUID } from 'node:crypto';
import { openGroupStore } from './open';
const [home, groupId, name, count] = process.argv.slice(2);
void (async () => {
  const store = await openGroupStore({ home, busyMs: 10_000 });
  for (let n = 0; n < Number(count); n++) {
    await store.transaction((groups) => {
      const message = { id: randomUUID(), role: 'user', content: name + '-' + n, createdAt: 'now' };
      groups.updateGroup(groups.appendMessage(groups.findGroup(groupId), message).group);
    });
    console.log(n);
  }
  store.close();
})();
`;

let fixture: GroupFixture;
let programs: ChildPrograms;

beforeEach(async () => {
  fixture = await groupFixture(10_000);
  programs = new ChildPrograms(PROGRAM, join(fixture.home, 'program.cjs'));
});
afterEach(async () => {
  await programs.end();
  fixture.end();
});

const args = (groupId: string, name: string, count: number) =>
  [fixture.home, groupId, name, String(count)] as const;

async function stored(groupId: string): Promise<string[]> {
  const { messages, total } = await fixture.store.read((groups) =>
    groups.historyPage(groupId, null, 10_000),
  );
  expect(messages.map((message) => message.seq)).toEqual(messages.map((_, seq) => seq));
  expect(total).toBe(messages.length);
  return messages.map((message) => message.content);
}

it('processes that write the same group at once lose nothing', async () => {
  const { id } = await fixture.insert();
  const others = ['a', 'b'].map((name) => programs.run(...args(id, name, 100)));
  for (let n = 0; n < 100; n++) await fixture.append(id, { content: `c-${n}` });
  await Promise.all(others);

  const contents = await stored(id);
  expect(contents).toHaveLength(300);
  for (const name of ['a', 'b', 'c']) {
    const own = contents.filter((content) => content.startsWith(name));
    expect(own).toEqual(own.map((_, n) => `${name}-${n}`));
  }
  expect(fixture.store.revision()).toBe(301);
});

it('what a process had committed when it was killed is there, whole', async () => {
  const { id } = await fixture.insert();
  const child = programs.start(...args(id, 'a', 100_000));
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.split('\n').length > 50) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const committed = said.split('\n').filter((line) => line !== '').length;

  await fixture.reopen();
  const contents = await stored(id);
  expect(committed).toBeGreaterThanOrEqual(50);
  expect(contents.length).toBeGreaterThanOrEqual(committed);
  expect(await fixture.find(id)).toMatchObject({
    total: contents.length,
    nextSeq: contents.length,
  });
  await fixture.append(id, { content: 'after' });
  expect((await stored(id)).at(-1)).toBe('after');
});
