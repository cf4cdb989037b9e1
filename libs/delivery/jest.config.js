module.exports = {
  ...require('../../jest.preset.js'),
  displayName: 'delivery',
  rootDir: __dirname,
};
