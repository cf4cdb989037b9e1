const { TestEnvironment } = require('jest-environment-node');

/** Lets files use packages that their worker has loaded; see `jest-outer.js`. */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.outerRequire = require;
    this.global.Reflect = Reflect;
  }
};
