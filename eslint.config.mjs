import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const libs = [
  'contract',
  'faults',
  'groups',
  'store',
  'directory',
  'bus',
  'delivery',
  'agent',
  'models',
  'prices',
  'service',
];
const libsBut = (...left) => libs.filter((lib) => !left.includes(lib));

/** Who may import what, as in docs/architecture.md; everybody `faults`, nobody but tests `testing`. */
const mayImport = {
  contract: [],
  faults: [],
  groups: ['contract'],
  store: ['contract', 'groups'],
  directory: ['contract', 'store'],
  bus: ['contract'],
  delivery: ['contract', 'store', 'bus'],
  agent: ['contract', 'store', 'directory', 'bus', 'delivery', 'models'],
  models: ['contract'],
  prices: ['contract', 'groups'],
  service: ['contract', 'bus'],
  testing: libs,
  gateway: ['contract', 'bus', 'service'],
  'group-orchestrator': libsBut('agent', 'models'),
  'bot-runner': libs,
  cli: ['contract', 'store', 'directory', 'bus', 'delivery', 'tools'],
  tools: ['contract'],
  e2e: ['contract'],
};

// Tests import `testing`, which imports what they test: a cycle of projects, not of files.
const throughTests = Object.keys(mayImport)
  .filter((name) => name !== 'testing')
  .map((name) => ['testing', name]);

/** @param {string[]} everybody what each project may import on top */
function boundaries(everybody) {
  return [
    'error',
    {
      ignoredCircularDependencies: throughTests,
      depConstraints: Object.entries(mayImport).map(([scope, allowed]) => ({
        sourceTag: `scope:${scope}`,
        onlyDependOnLibsWithTags: [...allowed, 'faults', ...everybody].map(
          (name) => `scope:${name}`,
        ),
      })),
    },
  ];
}

export default defineConfig(
  { ignores: ['**/node_modules', 'dist', '.nx', 'coverage', 'tmp'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strict],
    plugins: { '@nx': nx },
    rules: {
      // A Nest module is a class that holds nothing but its decorator.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@nx/enforce-module-boundaries': boundaries([]),
    },
  },
  {
    files: ['**/*.spec.ts', '**/*.int.ts', '**/*.harness.ts', 'e2e/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': boundaries(['testing']) },
  },
  {
    // The benchmark writes its groups in bulk.
    files: ['tools/bench/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': boundaries(['testing', 'groups', 'store']) },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    rules: { 'no-undef': 'off' }, // tsc checks names, in scripts too
  },
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' },
  },
  {
    rules: {
      eqeqeq: 'error',
      'no-empty': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'object-shorthand': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Promise'] > :function[async=true]",
          message: 'An async function inside a promise constructor loses its errors.',
        },
      ],
    },
  },
);
