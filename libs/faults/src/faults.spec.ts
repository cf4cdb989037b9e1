import { faultPoint } from './fault-point';
import { Faults } from './faults';

/** The signals a process would get, by the points it passes. */
function signalsOf(asked: string | undefined, points: Parameters<Faults['pass']>[0][]): string[] {
  const sent: string[] = [];
  const faults = Faults.of({ FLOWLY_FAULTS: asked }, (signal) => sent.push(signal));
  for (const point of points) {
    faults.pass(point);
    sent.push(point);
  }
  return sent;
}

it('nothing happens where nothing is asked for', () => {
  for (const asked of [undefined, '', ' , '])
    expect(signalsOf(asked, ['committed', 'committed'])).toEqual(['committed', 'committed']);
});

it('a process is killed at the first pass of a point, or at the one that is asked for, and only then', () => {
  expect(signalsOf('kill committed', ['send-taken', 'committed', 'committed'])).toEqual([
    'send-taken',
    'SIGKILL',
    'committed',
    'committed',
  ]);
  expect(
    signalsOf('kill committed 3', ['committed', 'committed', 'committed', 'committed']),
  ).toEqual(['committed', 'committed', 'SIGKILL', 'committed', 'committed']);
});

it('several faults each have their own point', () => {
  const asked = 'stop service-starts, kill job-done 2';
  expect(signalsOf(asked, ['service-starts', 'job-done', 'job-done'])).toEqual([
    'SIGSTOP',
    'service-starts',
    'job-done',
    'SIGKILL',
    'job-done',
  ]);
});

it.each(['kill nowhere', 'hug committed', 'kill', 'kill committed 0', 'kill committed x'])(
  'what cannot be done is refused by its name: %s',
  (asked) => {
    expect(() => Faults.of({ FLOWLY_FAULTS: asked })).toThrow(
      `FLOWLY_FAULTS: there is no "${asked}".`,
    );
  },
);

it('the sources as they are have no faults, whatever the environment says', () => {
  process.env['FLOWLY_FAULTS'] = 'kill committed';
  try {
    faultPoint('committed');
  } finally {
    delete process.env['FLOWLY_FAULTS'];
  }
});
