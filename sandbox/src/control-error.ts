/**
 * An error reply of the control server. The reply has only status, code and message; the cause stays in the process.
 */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409 | 503
  readonly code: string

  constructor(status: 400 | 404 | 409 | 503, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}
