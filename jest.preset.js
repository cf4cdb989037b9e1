// One Jest setting for every project: swc (four times faster than ts-jest here) and the path
// aliases of tsconfig.base.json, read from it so that they are written once.
const { compilerOptions } = require('./tsconfig.base.json');

const aliases = Object.fromEntries(
  Object.entries(compilerOptions.paths).map(([name, [target]]) => [
    `^${name}$`,
    `${__dirname}/${target}`,
  ]),
);

/** Packages that are loaded once in a worker (tools/jest-outer.js). What has state or mocks of its own is not among them. */
const OUTER = [
  '@ai-sdk',
  '@nestjs',
  '@pydantic',
  'bullmq',
  'fastify',
  'ioredis',
  'nestjs-pino',
  'pino',
  'pino-http',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'ws',
  'zod',
].join('|');

module.exports = {
  testEnvironment: `${__dirname}/tools/jest-environment.js`,
  transformIgnorePatterns: [`/node_modules/(?!(?:${OUTER})/)`],
  testMatch: ['<rootDir>/**/*.spec.ts', '<rootDir>/**/*.int.ts'],
  moduleNameMapper: aliases,
  transform: {
    [`/node_modules/(?:${OUTER})/.*\\.c?js$`]: `${__dirname}/tools/jest-outer.js`,
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
      },
    ],
  },
};
