module.exports = {
  ...require('../../jest.preset.js'),
  displayName: 'bot-runner',
  rootDir: __dirname,
};
