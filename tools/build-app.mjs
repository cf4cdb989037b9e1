// Bundles one app into dist/apps/<app>/main.js: our own libraries inside, npm packages outside.
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

const app = process.argv[2];
if (!app || !/^[a-z-]+$/.test(app)) {
  console.error('Usage: node tools/build-app.mjs <app>');
  process.exit(2);
}

const outdir = path.join(ROOT, 'dist', 'apps', app);
await rm(outdir, { recursive: true, force: true });
const outcome = await build({
  absWorkingDir: ROOT,
  entryPoints: [path.join('apps', app, 'src', 'main.ts')],
  outfile: path.join(outdir, 'main.js'),
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
