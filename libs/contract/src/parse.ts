import { z } from 'zod';
import { ContractError, isErrorCode } from './errors';

/**
 * A schema made from a rule of the contract that has codes of its own: the rule gets the raw value
 * and returns the parsed one or throws a {@link ContractError}, whose code {@link parseParams} keeps.
 */
export function byRule<T>(rule: (value: unknown) => T) {
  return z
    .unknown()
    .optional()
    .transform((value, context): T => {
      try {
        return rule(value);
      } catch (error) {
        if (!(error instanceof ContractError)) throw error;
        context.addIssue({ code: 'custom', message: error.message, params: { code: error.code } });
        return z.NEVER;
      }
    });
}

/**
 * Checks params against a schema. Keys are examined in the order the schema names them and the
 * first that fails decides the code, so the schema's order is the contract's order of checks.
 * @throws ContractError with the rule's code, else `INVALID_PARAMS`
 */
export function parseParams<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const code = issue?.code === 'custom' ? issue.params?.['code'] : undefined;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new ContractError(
    isErrorCode(code) ? code : 'INVALID_PARAMS',
    place && !isErrorCode(code)
      ? `${place}: ${issue?.message ?? 'invalid'}`
      : (issue?.message ?? 'invalid'),
  );
}

/** Refuses with `INVALID_PARAMS`; for use inside rules. */
export function invalid(message: string): never {
  throw new ContractError('INVALID_PARAMS', message);
}

/** An optional parameter whose `null` means absent (groups.md, head). */
export function absentable<S extends z.ZodType>(schema: S) {
  return z.union([z.null().transform(() => undefined), schema]).optional();
}

/** A JSON object that is no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
