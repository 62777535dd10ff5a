import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, type ErrorKind, errorCodes, type Problem } from '../domain/errors.ts'

/** The status of each kind of failure. No other code knows it. */
const statuses: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method: 405,
  timeout: 408,
  conflict: 409,
  expired: 410,
  too_large: 413,
  uri_too_long: 414,
  media_type: 415,
  headers_too_large: 431,
  refused: 422,
  throttled: 429,
  restricted: 451,
  unavailable: 503,
  bug: 500,
}

/** 64 KiB of content and 1 KiB for the JSON around it. */
export const BODY_LIMIT_BYTES = 65 * 1024
export const URL_LENGTH_MAX = 8 * 1024

/** Our code and message for each failure of the framework. */
const frameworkFailures: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE', 'the body is larger than 64 KiB'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'the body must be sent as application/json'],
  FST_ERR_CTP_EMPTY_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'the body must be sent as application/json'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['VALIDATION_ERROR', 'the body is empty'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['VALIDATION_ERROR', 'the body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['VALIDATION_ERROR', 'the body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['ROUTE_NOT_FOUND', 'there is no such path'],
  FST_ERR_MAX_PARAM_LENGTH: ['ROUTE_NOT_FOUND', 'there is no such path'],
  FST_UNDER_PRESSURE: ['OVERLOADED', 'the server has too much to do'],
}

export function statusOf(code: ErrorCode): number {
  return statuses[errorCodes[code]]
}

export type ErrorShape = Readonly<{
  message: string
  error: string
  statusCode: number
  code: ErrorCode
  requestId: string
  errors: readonly Problem[]
}>

export function errorShape(error: AppError, requestId: string): ErrorShape {
  const statusCode = statusOf(error.code)
  const bug = error.kind === 'bug'
  return {
    message: bug ? `unexpected failure in request ${requestId}` : error.message,
    error: STATUS_CODES[statusCode] ?? 'Error',
    statusCode,
    code: error.code,
    requestId,
    errors: bug ? [{ code: error.code }] : error.problems,
  }
}

/** JSON has no bigint: units are written as text. */
export function errorText(shape: ErrorShape): string {
  return JSON.stringify(shape, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
}

/** Maps anything thrown to one of our codes. The text of an unknown error never reaches the client. */
export function toAppError(error: unknown, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  const known = typeof code === 'string' && Object.hasOwn(frameworkFailures, code) ? frameworkFailures[code] : undefined
  if (known) return new AppError(known[0], known[1], { cause: error })
  if (error instanceof SyntaxError && statusCode === 400) {
    return new AppError('VALIDATION_ERROR', 'the body is not valid JSON', { cause: error })
  }
  if (request.raw.destroyed && !request.raw.complete) {
    return new AppError('VALIDATION_ERROR', 'the connection ended before the body did', { cause: error })
  }
  return new AppError('INTERNAL', 'unexpected failure', { cause: error })
}

export function sendError(error: AppError, request: FastifyRequest, reply: FastifyReply): void {
  const shape = errorShape(error, request.id)
  request.failure = error
  const { kind, retryAfterSeconds } = error
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds))
  // Wrong keys have their own limit, checked before the budget per minute.
  if (kind === 'throttled' && !reply.hasHeader('ratelimit'))
    reply.header('ratelimit', `"keys";r=0;t=${retryAfterSeconds ?? 1}`)
  reply
    .code(shape.statusCode)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(errorText(shape))
}
