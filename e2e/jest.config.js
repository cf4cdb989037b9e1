module.exports = {
  ...require('../jest.preset.js'),
  displayName: 'e2e',
  rootDir: __dirname,
  testEnvironment: '<rootDir>/support/environment.js',
  testMatch: ['**/*.e2e.ts'],
  testTimeout: 30_000,
  slowTestThreshold: 30,
};
