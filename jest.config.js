// Runs every project in one Jest process; `nx test <project>` runs one.
module.exports = {
  projects: [
    '<rootDir>/libs/*/jest.config.js',
    '<rootDir>/apps/*/jest.config.js',
    '<rootDir>/tools/jest.config.js',
    '<rootDir>/e2e/jest.config.js',
  ],
  testSequencer: '<rootDir>/tools/jest-sequencer.js',
  testTimeout: 30_000,
  slowTestThreshold: 30,
};
