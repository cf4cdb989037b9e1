declare global {
  /** Set by environment.js: names of the tests of this file that have failed so far. */
  var failedTests: string[];
}

export {};
