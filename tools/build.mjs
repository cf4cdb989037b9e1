// Bundles one project into dist/<project>: our own libraries inside, npm packages outside. An app becomes
// main.js; a library index.js, which shows that it stands by itself (the apps bundle its sources).
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { transform } from '@swc/core';
import { build } from 'esbuild';
import { ROOT } from './lib/paths.mjs';

/**
 * Nest injects by the types of constructor parameters. esbuild drops them, so files with
 * decorators go through swc, which writes them down as metadata.
 * @type {import('esbuild').Plugin}
 */
const decoratorMetadata = {
  name: 'decorator-metadata',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: filename }) => {
      const source = await readFile(filename, 'utf8');
      if (!/^\s*@\w+/m.test(source)) return undefined;
      const { code } = await transform(source, {
        filename,
        swcrc: false,
        configFile: false,
        sourceMaps: 'inline',
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: {
            legacyDecorator: true,
            decoratorMetadata: true,
            useDefineForClassFields: false,
          },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      });
      return { contents: code, loader: 'js' };
    });
  },
};

const project = process.argv[2] ?? '';
if (!/^(apps|libs)\/[a-z-]+$/.test(project)) {
  console.error('Usage: node tools/build.mjs apps/<app> | libs/<library>');
  process.exit(2);
}

const entry = project.startsWith('apps/') ? 'main' : 'index';
const outdir = path.join(ROOT, 'dist', project);
await rm(outdir, { recursive: true, force: true });
const outcome = await build({
  absWorkingDir: ROOT,
  entryPoints: [path.join(project, 'src', `${entry}.ts`)],
  outfile: path.join(outdir, `${entry}.js`),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: true,
  keepNames: true,
  packages: 'external',
  tsconfig: 'tsconfig.base.json',
  plugins: [decoratorMetadata],
  logLevel: 'warning',
}).catch(() => undefined); // esbuild has printed its errors
if (!outcome) process.exit(1);
