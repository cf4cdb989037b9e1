// Required before a service, because tests start hundreds of them: half of a start is the compiling of the bundle, so
// what was compiled is kept beside it.
const { readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

const main = path.resolve(process.argv[1] ?? '');
const compile = Module.prototype._compile;

Module.prototype._compile = function (content, filename) {
  if (filename !== main) return compile.call(this, content, filename);
  Module.prototype._compile = compile;
  const cache = `${filename}.cache`;
  const script = new vm.Script(Module.wrap(content), {
    filename,
    cachedData: kept(cache, filename),
  });
  const require = Module.createRequire(filename);
  require.main = this;
  script
    .runInThisContext()
    .call(this.exports, this.exports, require, this, filename, path.dirname(filename));
  if (script.cachedDataRejected !== false) keep(cache, script.createCachedData());
};

/** What was compiled of this build; nothing of an earlier one. */
function kept(cache, filename) {
  const written = statSync(cache, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return written > statSync(filename).mtimeMs ? readFileSync(cache) : undefined;
}

/** Several may come to it at once, and another may read it at any time. */
function keep(file, data) {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, data);
  renameSync(part, file);
}
