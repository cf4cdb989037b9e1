/** Files that take longest, first: several run at a time, and none should run alone at the end. */
const LONG = [
  'crash.e2e',
  'group-requests-failures.e2e',
  'kills.e2e',
  'three-orchestrators.e2e',
  'kills-council.e2e',
  'services-gone.e2e',
  'kills-and-stops.e2e',
  'group-files-life.e2e',
  'command-line.e2e',
  'chat-takeover.e2e',
  'kills-together.e2e',
  'start.int',
  'legacy-copy.int',
  'migrations-killed.int',
];

const rank = ({ path }) => {
  const place = LONG.findIndex((name) => path.endsWith(`/${name}.ts`));
  return place === -1 ? LONG.length : place;
};

module.exports = class {
  sort(tests) {
    return [...tests].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {
    return undefined;
  }
};
