/**
 * The one registry of error codes (wire.md §4, bots.md §4, groups.md §10). A client acts on the
 * code; whether it may try again is a property of the code, not of the place that raised it.
 */
const retryableByCode = {
  // general
  INVALID_REQUEST: false,
  INVALID_PARAMS: false,
  INVALID: false,
  UNAVAILABLE: true,
  INTERNAL: false,
  NOT_FOUND: false,
  REQUEST_TOO_LARGE: false,
  // bots
  METHOD_NOT_ALLOWED: false,
  REMOTE_SESSION_DENIED: false,
  REMOTE_ATTACHMENT_URL_DENIED: false,
  REMOTE_FILE_PATH_DENIED: false,
  REMOTE_HOST_ACCESS_DENIED: false,
  PROFILE_NOT_FOUND: false,
  PROFILE_ALREADY_EXISTS: false,
  PROFILE_LIMIT: false,
  CREDENTIAL_POLICY_UNSUPPORTED: false,
  DEFAULT_PROFILE: false,
  PROFILE_IDENTITY_CHANGED: false,
  PROFILE_STOPPED: false,
  DELETE_CONFIRMATION_INVALID: false,
  HOST_STOPPED: false,
  PROFILE_BUSY: true,
  PROFILE_RPC_TIMEOUT: true,
  PROFILE_OFFLINE: true,
  PROFILE_START_FAILED: true,
  PROFILE_OPERATION_FAILED: true,
  SECURE_TRANSPORT_REQUIRED: false,
  // chat
  IDEMPOTENCY_CONFLICT: false,
  INVALID_HISTORY_CURSOR: false,
  SESSION_BUSY: true,
  // media
  FORBIDDEN: false,
  UNSUPPORTED_MEDIA_TYPE: false,
  MEDIA_TOO_LARGE: false,
  // groups
  ROOM_ATTACHMENT_TOO_LARGE: false,
  ROOM_BUSY: true,
  ROOM_BUSY_DELETE: false,
  ROOM_BUSY_MEMBERS: false,
  ROOM_CURSOR_INVALID: false,
  ROOM_HISTORY_UNAVAILABLE: true,
  ROOM_INVALID: false,
  ROOM_LIMIT: false,
  ROOM_LIMIT_IMPORT: false,
  ROOM_MEMBERS_INVALID: false,
  ROOM_MEMBERS_TOO_FEW: false,
  ROOM_MEMBER_FAILED: false,
  ROOM_NOT_FOUND: false,
  ROOM_REQUEST_CLOSED: false,
  ROOM_START_FAILED: true,
  ROOM_STOPPED: false,
  ROOM_STORE_CONFLICT: true,
  ROOM_STORE_INVALID: false,
  ROOM_STORE_LIMIT: false,
  // how a run can end
  MODEL_PROVIDER_UNAVAILABLE: true,
  AGENT_INTERNAL_ERROR: true,
  RUN_INTERRUPTED: true,
} as const satisfies Record<string, boolean>;

export type ErrorCode = keyof typeof retryableByCode;

export const errorCodes: readonly ErrorCode[] = Object.keys(retryableByCode).filter(isErrorCode);

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(retryableByCode, value);
}

/** Whether a client may send the same call again (wire.md §4). */
export function isRetryable(code: ErrorCode): boolean {
  return retryableByCode[code];
}

/** `{code, message, retryable}` as it stands in a frame. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  retryable: boolean;
}

/** A refusal or failure the contract has a code for. The message is for a log: no path, stack or secret. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly retryable: boolean;

  /** @param retryable only where the contract makes it depend on the case (`ROOM_STORE_INVALID` of a failed write). */
  constructor(
    readonly code: ErrorCode,
    message: string,
    options: { retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable ?? isRetryable(code);
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, retryable: this.retryable };
  }
}

/** The frame's error for anything thrown; what has no code becomes a bare `INTERNAL`. */
export function toErrorBody(error: unknown): ErrorBody {
  if (error instanceof ContractError) return error.toBody();
  return { code: 'INTERNAL', message: 'The gateway could not finish this call.', retryable: false };
}
