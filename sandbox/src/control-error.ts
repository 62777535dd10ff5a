/** What a control answers when it does not do what was asked. Nothing else of an error leaves the process. */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409 | 503
  readonly code: string

  constructor(status: 400 | 404 | 409 | 503, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}
