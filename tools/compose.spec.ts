import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';
import { parse } from 'yaml';

interface Service {
  init?: boolean;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  healthcheck?: { test?: string[] };
  ports?: string[];
  user?: string;
}

const root = path.resolve(__dirname, '..');
const compose: { services: Record<string, Service> } = parse(
  readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'),
  { merge: true },
);

/** dclint carries the schema of the Compose specification. */
function composeSchema(): object {
  const dclint = path.dirname(require.resolve('dclint/package.json'));
  return JSON.parse(readFileSync(path.join(dclint, 'schemas', 'compose.schema.json'), 'utf8'));
}

function validate(document: unknown) {
  // The schema uses formats and keywords that only Compose itself looks at.
  const { $schema: _draft7, ...schema } = { $schema: '', ...composeSchema() };
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const check = ajv.compile(schema);
  check(document);
  return check.errors ?? [];
}

test('docker-compose.yml is valid by the Compose schema', () => {
  expect(validate(compose)).toEqual([]);
});

test('the schema refuses an unknown key, so that the test above means something', () => {
  expect(validate({ services: { redis: { image: 'redis', imagee: 'x' } } })).not.toEqual([]);
});

test.each(Object.entries(compose.services))(
  '%s is hardened and has a health check',
  (_, service) => {
    expect(service).toMatchObject({
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.healthcheck?.test?.length).toBeGreaterThan(1);
  },
);

test('only the gateway has a port, on loopback', () => {
  const ports = Object.entries(compose.services).flatMap(([name, { ports: own = [] }]) =>
    own.map((port) => `${name} ${port}`),
  );
  expect(ports).toEqual(['gateway 127.0.0.1:${FLOWLY_GATEWAY_PORT:-18790}:18790']);
});
