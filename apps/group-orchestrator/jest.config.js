module.exports = {
  ...require('../../jest.preset.js'),
  displayName: 'group-orchestrator',
  rootDir: __dirname,
};
