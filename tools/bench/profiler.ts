// Loaded into a service (`node --require`): writes a CPU profile of its whole life at SIGTERM.
// Node 20 takes --cpu-prof on its command line only, and the benchmark starts services by environment.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import path from 'node:path';

const folder = process.env['BENCH_PROFILES'] ?? '.';
const service = path.basename(path.dirname(process.argv[1] ?? ''));
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.start');

// Not at the exit: the services end by the signal itself.
process.once('SIGTERM', () => {
  session.post('Profiler.stop', (_error, { profile }) => {
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${service}-${process.pid}.cpuprofile`);
    writeFileSync(file, JSON.stringify(profile));
  });
});
