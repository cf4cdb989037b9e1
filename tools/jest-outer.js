// Packages that know nothing of tests are loaded once in a worker, not again for each of its files: half of the time of
// a short file was that. What a file asks for of such a package is what the worker's own `require` gives.
module.exports = {
  process: (_source, file) => ({
    code: `module.exports = outerRequire(${JSON.stringify(file)});`,
  }),
  getCacheKey: (_source, file) => `outer ${file}`,
};
