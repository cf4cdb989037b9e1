module.exports = { ...require('../../jest.preset.js'), displayName: 'groups', rootDir: __dirname };
