module.exports = { ...require('../../jest.preset.js'), displayName: 'service', rootDir: __dirname };
