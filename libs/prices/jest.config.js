module.exports = { ...require('../../jest.preset.js'), displayName: 'prices', rootDir: __dirname };
