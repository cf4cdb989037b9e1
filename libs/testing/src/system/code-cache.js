// Required before a service, because tests start hundreds of them: half of a start is compiling, so what was compiled
// of a bundle is kept beside it, once with what its start needs and once, of a service that has worked, with the rest.
const { readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

/** A service has done some of each of its works by then; many do not live for longer. */
const WORKED_MS = 700;

const main = path.resolve(process.argv[1] ?? '');
const compile = Module.prototype._compile;

Module.prototype._compile = function (content, filename) {
  if (filename !== main) return compile.call(this, content, filename);
  Module.prototype._compile = compile;
  const [started, worked] = [`${filename}.started`, `${filename}.worked`];
  const known = kept(worked, filename) ?? kept(started, filename);
  const script = new vm.Script(Module.wrap(content), { filename, cachedData: known });
  const require = Module.createRequire(filename);
  require.main = this;
  script
    .runInThisContext()
    .call(this.exports, this.exports, require, this, filename, path.dirname(filename));
  if (script.cachedDataRejected !== false) keep(started, script);
  setTimeout(() => kept(worked, filename) ?? keep(worked, script), WORKED_MS).unref();
};

/** What was compiled of this build; nothing of an earlier one. */
function kept(cache, filename) {
  const written = statSync(cache, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return written > statSync(filename).mtimeMs ? readFileSync(cache) : undefined;
}

/** Several may come to it at once, and another may read it at any time. */
function keep(file, script) {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, script.createCachedData());
  renameSync(part, file);
}
