import { Periodic } from './periodic';

/** Resolves when it was called so often. */
function counter(times: number) {
  let calls = 0;
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const count = () => {
    if (++calls === times) reach();
  };
  return { count, reached, calls: () => calls };
}

it('goes on after a failure and tells of it', async () => {
  const failures: unknown[] = [];
  const { count, reached } = counter(3);
  const periodic = new Periodic(
    1,
    async () => {
      count();
      throw new Error('no');
    },
    (error) => failures.push(error),
  );
  periodic.start();
  await reached;
  await periodic.stop();
  expect(failures.length).toBeGreaterThanOrEqual(3);
});

it('is never twice at once', async () => {
  let active = 0;
  let most = 0;
  const { count, reached } = counter(3);
  const periodic = new Periodic(
    1,
    async () => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active--;
      count();
    },
    () => undefined,
  );
  periodic.start();
  await reached;
  await periodic.stop();
  expect(most).toBe(1);
});

it('stop waits for work under way, and then nothing comes', async () => {
  let finish: () => void = () => undefined;
  const { count, calls } = counter(1);
  const periodic = new Periodic(
    1,
    () => {
      count();
      return new Promise<void>((resolve) => (finish = resolve));
    },
    () => undefined,
  );
  periodic.start();
  let stopped = false;
  const stopping = periodic.stop().then(() => (stopped = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(stopped).toBe(false);
  finish();
  await stopping;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(calls()).toBe(1);
});
