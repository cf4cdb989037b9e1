module.exports = { ...require('../../jest.preset.js'), displayName: 'models', rootDir: __dirname };
