const TestEnvironment = require('../../tools/jest-environment.js');

/** Tells the hooks of a file which of its tests failed, so that they can print the services' output. */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.failedTests = [];
  }

  handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.global.failedTests.push(test.name);
  }
};
