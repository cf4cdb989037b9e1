module.exports = {
  ...require('../../jest.preset.js'),
  displayName: 'directory',
  rootDir: __dirname,
};
