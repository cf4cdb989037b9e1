// Bundles one project into dist/<project>. An app becomes main.js with all it needs but what is compiled for the
// machine; a library index.js without packages, which shows that it stands by itself (the apps bundle its sources).
// With `--faults` a build for tests, into dist/faults/<project>, that dies where it is told to (libs/faults).
import { readFile } from 'node:fs/promises';
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

const [project = '', flag] = process.argv.slice(2);
if (!/^(apps|libs)\/[a-z-]+$/.test(project) || (flag !== undefined && flag !== '--faults')) {
  console.error('Usage: node tools/build.mjs apps/<app> | libs/<library> [--faults]');
  process.exit(2);
}
const withFaults = flag === '--faults';

/** Packages that are not bundled: native ones, and what Nest and others ask for only if it is there. */
const OUTSIDE = [
  'better-sqlite3',
  'sharp',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/platform-socket.io',
  'class-transformer',
  'class-validator',
  '@fastify/static',
  '@fastify/view',
];

const isApp = project.startsWith('apps/');
const entry = isApp ? 'main' : 'index';
const outdir = path.join(ROOT, 'dist', withFaults ? 'faults' : '', project);
const outcome = await build({
  absWorkingDir: ROOT,
  entryPoints: [path.join(project, 'src', `${entry}.ts`)],
  outfile: path.join(outdir, `${entry}.js`),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  supported: { 'dynamic-import': false }, // a native package is required then, whoever has compiled the bundle
  // What node reads at each start, it reads for a process that lives for a second.
  sourcemap: !withFaults,
  minifyWhitespace: withFaults,
  keepNames: true,
  // What is compiled to nothing must not be called either: an empty function goes with its calls.
  define: { FLOWLY_FAULT_POINTS: String(withFaults) },
  minifySyntax: true,
  sourcesContent: false,
  ...(isApp ? { external: OUTSIDE } : { packages: 'external' }),
  tsconfig: 'tsconfig.base.json',
  plugins: [decoratorMetadata],
  logLevel: 'warning',
}).catch(() => undefined); // esbuild has printed its errors
if (!outcome) process.exit(1);
